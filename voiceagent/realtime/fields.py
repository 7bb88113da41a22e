"""Checks that several client events share."""

from __future__ import annotations

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

RATE = 24_000
"""Samples a second of all audio on the wire."""


def absent(message: str) -> BeforeValidator:
    """A field that may only be missing, null or empty; ``message`` says why."""

    def check(value: object) -> None:
        if value:
            raise PydanticCustomError("unsupported", "{message}", {"message": message})

    return BeforeValidator(check)


def only(*allowed: object, message: str) -> BeforeValidator:
    """A field that may only be missing, null or one of ``allowed``."""

    def check(value: object) -> None:
        if value is not None and value not in allowed:
            raise PydanticCustomError("unsupported", "{message}", {"message": message})

    return BeforeValidator(check)


audio_only = only(["audio"], message="Only the output modality 'audio' is supported")
"""For ``output_modalities``."""

pcm_only = only(
    {},
    {"type": "audio/pcm"},
    {"rate": RATE},
    {"type": "audio/pcm", "rate": RATE},
    {"type": "audio/pcm", "rate": None},
    message='Only audio/pcm at 24000 Hz is supported: {"type": "audio/pcm", "rate": 24000}',
)
"""For ``format``: audio at an undeclared rate must never be taken for another without a word."""

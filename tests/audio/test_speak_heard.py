"""What the voice says is understood: recognised again by the model that hears the caller."""

import asyncio
from collections.abc import Iterator

import pytest
from machine_ear import errors, field_sentences, hear, say
from voice_fixture import shared_voice  # noqa: F401 (the fixture "voice")

from audio.speak import Voice
from audio.transcribe import Recogniser
from audio.weights import weights_dir

pytestmark = pytest.mark.models

MAX_WORD_ERROR_RATE = 0.06
"""Measured 0.02 with Whisper base; without our reading of the text it is 0.15."""


@pytest.fixture(scope="module")
def recogniser() -> Iterator[Recogniser]:
    recogniser = Recogniser(weights_dir() / "whisper-base", beam_size=5)
    yield recogniser
    recogniser.close()


def test_x09_field_service_sentences_are_understood(voice: Voice, recogniser: Recogniser) -> None:
    async def listen() -> list[tuple[int, str, str]]:
        found = []
        for text, expected in field_sentences():
            heard = await hear(recogniser, await say(voice, text))
            found.append((errors(expected, heard), " ".join(expected), " ".join(heard)))
        return found

    found = asyncio.run(listen())
    words = sum(len(expected.split()) for _, expected, _ in found)
    missed = [f"{wrong}: {expected} / {heard}" for wrong, expected, heard in found if wrong]
    assert sum(wrong for wrong, *_ in found) / words <= MAX_WORD_ERROR_RATE, "\n".join(missed)

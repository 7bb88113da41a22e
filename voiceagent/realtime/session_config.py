"""The session object: what a client may set, what is in effect, and what it means to the session.

``session.update`` changes only the fields that are present; ``null`` is a value of its own (for
``turn_detection`` it means manual turns). What we do not support is either refused with a clear
error or, where a stock client always sends it and nothing depends on it, accepted without effect;
``session.updated`` then shows what is in effect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from voiceagent.conversation.rules import Rules
from voiceagent.realtime.fields import RATE, absent, audio_only, only, pcm_only

MODEL = "voiceagent"
VOICE = "hibari"
TRANSCRIPTION_MODEL = "whisper-base"
LONGEST_INSTRUCTIONS = 32_768
MOST_TOKENS = 4_096
_DEFAULT_TOKENS = Rules().max_tokens


Format = Annotated[Any, pcm_only]
Name = Annotated[str, Field(max_length=256)]


class _Patch(BaseModel):
    """Unknown fields are refused, so that no setting is lost without a word."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class TurnDetectionPatch(_Patch):
    """When the server ends a turn. The thresholds are ours: those given here have no effect."""

    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    create_response: bool | None = None
    interrupt_response: bool | None = None
    eagerness: Literal["low", "medium", "high", "auto"] | None = None
    idle_timeout_ms: int | None = None
    prefix_padding_ms: int | None = None
    silence_duration_ms: int | None = None
    threshold: float | None = None


class InputAudioPatch(_Patch):
    """Audio from the client."""

    format: Format = None
    noise_reduction: dict[str, Any] | None = None
    transcription: dict[str, Any] | None = None
    turn_detection: TurnDetectionPatch | None = None


class OutputAudioPatch(_Patch):
    """Audio to the client. There is one voice, at its own speed."""

    format: Format = None
    voice: Name | dict[str, Any] | None = None
    speed: float | None = None


class AudioPatch(_Patch):
    """Both directions."""

    input: InputAudioPatch | None = None
    output: OutputAudioPatch | None = None


class SessionPatch(_Patch):
    """The ``session`` of a ``session.update``."""

    type: Annotated[Any, only("realtime", message="Only 'realtime' sessions are supported")] = None
    audio: AudioPatch | None = None
    instructions: Annotated[str, Field(max_length=LONGEST_INSTRUCTIONS)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | Literal["inf"] | None = None
    output_modalities: Annotated[Any, audio_only] = None
    tools: Annotated[Any, absent("Tools are not supported")] = None
    prompt: Annotated[Any, absent("Stored prompts are not supported")] = None
    # Sent by stock clients as a matter of course; without effect here.
    id: Name | None = None
    object: Name | None = None
    model: Name | None = None
    include: list[Any] | None = None
    parallel_tool_calls: bool | None = None
    reasoning: Any = None
    tool_choice: Any = None
    tracing: Any = None
    truncation: Any = None
    expires_at: Any = None


@dataclass(frozen=True, slots=True)
class TurnDetection:
    """Automatic turns."""

    type: str = "server_vad"
    create_response: bool = True
    interrupt_response: bool = True


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What is in effect. ``instructions`` is empty while the application's own are used."""

    instructions: str = ""
    max_output_tokens: int = _DEFAULT_TOKENS
    turn_detection: TurnDetection | None = TurnDetection()

    @property
    def manual(self) -> bool:
        """The client ends the turns."""
        return self.turn_detection is None

    def merged(self, patch: SessionPatch) -> SessionConfig:
        """This configuration with the fields that ``patch`` has."""
        config = self
        given = patch.model_fields_set
        if "instructions" in given:
            config = replace(config, instructions=patch.instructions or "")
        if "max_output_tokens" in given:
            tokens = patch.max_output_tokens
            limit = tokens if isinstance(tokens, int) else _DEFAULT_TOKENS
            config = replace(config, max_output_tokens=limit)
        audio_in = patch.audio.input if patch.audio else None
        if audio_in and "turn_detection" in audio_in.model_fields_set:
            config = replace(config, turn_detection=self._detection(audio_in.turn_detection))
        return config

    def _detection(self, patch: TurnDetectionPatch | None) -> TurnDetection | None:
        if patch is None:
            return None
        before = self.turn_detection or TurnDetection()
        create, interrupt = patch.create_response, patch.interrupt_response
        return TurnDetection(
            patch.type,
            before.create_response if create is None else create,
            before.interrupt_response if interrupt is None else interrupt,
        )

    def as_object(self, session_id: str) -> dict[str, Any]:
        """The session object of ``session.created`` and ``session.updated``."""
        detection = self.turn_detection
        return {
            "type": "realtime",
            "object": "realtime.session",
            "id": session_id,
            "model": MODEL,
            "output_modalities": ["audio"],
            "instructions": self.instructions,
            "max_output_tokens": self.max_output_tokens,
            "tools": [],
            "tool_choice": "none",
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": RATE},
                    "noise_reduction": None,
                    "transcription": {"model": TRANSCRIPTION_MODEL, "language": "en"},
                    "turn_detection": detection
                    and {
                        "type": detection.type,
                        "create_response": detection.create_response,
                        "interrupt_response": detection.interrupt_response,
                    },
                },
                "output": audio_output(),
            },
        }


def audio_output() -> dict[str, Any]:
    """Format and voice of the audio that we send."""
    return {"format": {"type": "audio/pcm", "rate": RATE}, "voice": VOICE, "speed": 1.0}

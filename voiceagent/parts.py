"""What a session is made of: the shared models behind protocols, so that each can be scripted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.ear import EarConfig
from audio.speak import Spoken
from audio.speakable import Token
from audio.transcribe import Transcript
from audio.vad import VadModel
from routing.router import Router
from voiceagent.conversation.rules import Rules, Script


class Recognises(Protocol):
    """Speech to text; see ``audio.transcribe.Recogniser``."""

    async def transcribe(
        self, pcm: NDArray[np.float32], *, final: bool, prompt: str | None = None
    ) -> Transcript: ...


class ScoresTurns(Protocol):
    """The end-of-turn model; see ``audio.endpoint.TurnModel``."""

    async def score(self, pcm: NDArray[np.float32]) -> float: ...


class Speaks(Protocol):
    """Text to speech; see ``audio.speak.Voice``."""

    async def speak(
        self, tokens: Sequence[Token], *, text: str, speed: float = 1.0, pause: bool = True
    ) -> Spoken: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that sessions share. Nothing in here belongs to one person."""

    vad: VadModel
    recogniser: Recognises
    voice: Speaks
    router: Router
    """Of the interactive lane."""
    turn_model: ScoresTurns | None = None
    script: Script = field(default_factory=Script)
    rules: Rules = field(default_factory=Rules)
    ear: EarConfig = field(default_factory=EarConfig)
    vocabulary: str | None = None
    """A hint of names and terms for the recogniser."""
    speed: float = 1.0

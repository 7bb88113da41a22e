"""The voice: clauses of spoken words into 24 kHz audio with the time of every word."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audio.shaping import SAMPLE_RATE, pause_samples
from audio.speakable import Token, speakable
from audio.synthesis import Piece, Synthesis
from audio.worker import Worker

__all__ = ["SAMPLE_RATE", "Spoken", "Voice", "Word"]

SLOWEST, FASTEST = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class Word:
    """`text[start:end]` is heard from `first_sample` up to, not including, `last_sample`."""

    start: int
    end: int
    first_sample: int
    last_sample: int


@dataclass(frozen=True, slots=True)
class Spoken:
    """One clause as audio."""

    pcm: NDArray[np.int16]
    """24 kHz mono, shape [n]. At most 10 ms of silence before the first sound; after the last the
    pause that its closing mark asks for. Empty if there was nothing to say."""
    words: tuple[Word, ...]
    """In order, one for each token that is heard."""
    voiced_samples: int
    """Samples without the appended pause."""
    took_us: int
    """Synthesis alone, without waiting in the queue."""
    timings_exact: bool = True
    """False if the model's durations were not available and words are spread by their length."""


class Voice:
    """The model, loaded once and shared, in a thread of its own with a short queue before it.

    Deterministic: a clause sounds the same whenever and after whatever it is spoken.
    """

    def __init__(self, *, seed: int = 0, queue_limit: int = 32) -> None:
        """Load the model; blocks for about half a second and takes about 225 MB.

        `seed` fixes the noise in the sound. `queue_limit` is how many clauses may wait, of all
        sessions together: at 10 to 30 ms a clause a full queue is less than a second of delay.
        Raises ModelError when hibari's files will not do.
        """
        self._synthesis = Synthesis(seed)
        self._worker = Worker("voice", queue_limit=queue_limit)

    @property
    def timings_exact(self) -> bool:
        """Whether word times come from the model's own durations."""
        return self._synthesis.exact

    async def speak(
        self, tokens: Sequence[Token], *, text: str, speed: float = 1.0, pause: bool = True
    ) -> Spoken:
        """Say `tokens`, which `SpokenText` made of the clause `text`.

        `speed` 1.0 is the model's own pace, 0.5 slow to 2.0 fast; `pause` appends the pause after
        the clause. Raises Busy when the queue is full, ValueError for a speed out of range.
        Cancelling drops what has not begun; what has begun ends after the piece it is at.
        """
        if not SLOWEST <= speed <= FASTEST:
            raise ValueError(f"speed {speed} is not between {SLOWEST} and {FASTEST}")
        if not tokens:
            return _silence()
        call = _Call(self._synthesis, list(tokens), text, speed, pause)
        try:
            return await self._worker.run(call.run)
        finally:
            call.dropped = True

    def warm(self) -> None:
        """Speak once, blocking, so that the first clause is as fast as the later ones."""
        text = "Okay, the technician comes on Tuesday at ten."
        _Call(self._synthesis, speakable(text), text, 1.0, True).run()

    def close(self) -> None:
        """Stop the thread; a clause in work is waited for, those that wait fail."""
        self._worker.close()


@dataclass(slots=True)
class _Call:
    synthesis: Synthesis
    tokens: list[Token]
    text: str
    speed: float
    pause: bool
    dropped: bool = False
    """Set when nobody waits any more."""

    def is_dropped(self) -> bool:
        """Whether the rest of the work would be for nobody."""
        return self.dropped

    def run(self) -> Spoken:
        """Runs in the voice's thread."""
        began = time.perf_counter_ns()
        pieces = self.synthesis.pieces(self.tokens, self.speed, self.is_dropped)
        pcm, spans = _joined(pieces)
        voiced = len(pcm)
        if self.pause and voiced:
            silence = pause_samples(self.tokens, self.text, self.speed)
            pcm = np.concatenate((pcm, np.zeros(silence, np.int16)))
        words = tuple(
            Word(self.tokens[t].start, self.tokens[t].end, first, last)
            for t, (first, last) in sorted(spans.items())
        )
        took = (time.perf_counter_ns() - began) // 1000
        return Spoken(pcm, words, voiced, took, self.synthesis.exact)


def _joined(pieces: Sequence[Piece]) -> tuple[NDArray[np.int16], dict[int, tuple[int, int]]]:
    """The pieces of a clause in one, with the span of each token that is heard."""
    spans: dict[int, tuple[int, int]] = {}
    offset = 0
    for piece in pieces:
        for token, (first, last) in piece.spans.items():
            begun = spans[token][0] if token in spans else first + offset
            spans[token] = (begun, last + offset)
        offset += len(piece.pcm)
    if not pieces:
        return np.zeros(0, np.int16), spans
    return np.concatenate([piece.pcm for piece in pieces]), spans


def _silence() -> Spoken:
    return Spoken(np.zeros(0, np.int16), (), 0, 0)

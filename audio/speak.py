"""The voice: clauses of spoken words into 24 kHz audio with the time of every word."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from audio.phonemes import Unit
from audio.shaping import SAMPLE_RATE, pause_samples
from audio.speakable import Token, speakable
from audio.synthesis import Synthesis
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
        Cancelling drops what has not begun (of a long clause, its next pieces).
        """
        if not SLOWEST <= speed <= FASTEST:
            raise ValueError(f"speed {speed} is not between {SLOWEST} and {FASTEST}")
        if not tokens:
            return _Clause([], "", speed).spoken(False, True)
        clause = _Clause(list(tokens), text, speed)
        # A long clause is several calls, so that the clauses of other sessions come in between.
        await self._worker.run(partial(clause.begin, self._synthesis))
        while clause.left:
            await self._worker.run(partial(clause.go_on, self._synthesis))
        return clause.spoken(pause, self._synthesis.exact)

    def warm(self) -> None:
        """Speak once, blocking, so that the first clause is as fast as the later ones."""
        text = "Okay, the technician comes on Tuesday at ten."
        _Clause(speakable(text), text, 1.0).begin(self._synthesis)

    def close(self) -> None:
        """Stop the thread; a clause in work is waited for, those that wait fail."""
        self._worker.close()


class _Clause:
    """A clause in work, piece by piece; `begin` and `go_on` run in the voice's thread."""

    def __init__(self, tokens: list[Token], text: str, speed: float) -> None:
        self.left: list[list[Unit]] = []
        self._tokens, self._text, self._speed = tokens, text, speed
        self._pcm: list[NDArray[np.int16]] = []
        self._samples = 0
        self._spans: dict[int, tuple[int, int]] = {}
        self._took_ns = 0

    def begin(self, synthesis: Synthesis) -> None:
        """Find the phonemes, and say the first part."""
        began = time.perf_counter_ns()
        self.left = synthesis.parts(self._tokens)
        self._took_ns += time.perf_counter_ns() - began
        if self.left:
            self.go_on(synthesis)

    def go_on(self, synthesis: Synthesis) -> None:
        """Say the next part."""
        began = time.perf_counter_ns()
        units = self.left.pop(0)
        piece = synthesis.piece(units, self._speed)
        for token, (first, last) in piece.spans.items():
            begun = self._spans[token][0] if token in self._spans else first + self._samples
            self._spans[token] = (begun, last + self._samples)
        self._append(piece.pcm)
        if self.left and units[-1].is_mark:
            self._append(np.zeros(pause_samples(units[-1].symbols, "", self._speed), np.int16))
        self._took_ns += time.perf_counter_ns() - began

    def spoken(self, pause: bool, exact: bool) -> Spoken:
        """The whole clause, with the pause behind it."""
        voiced = self._samples
        if pause and voiced:
            mark = self._tokens[-1].spoken[-1:]
            self._append(np.zeros(pause_samples(mark, self._text, self._speed), np.int16))
        words = tuple(
            Word(self._tokens[t].start, self._tokens[t].end, first, last)
            for t, (first, last) in sorted(self._spans.items())
        )
        pcm = np.concatenate(self._pcm) if self._pcm else np.zeros(0, np.int16)
        return Spoken(pcm, words, voiced, self._took_ns // 1000, exact)

    def _append(self, pcm: NDArray[np.int16]) -> None:
        self._pcm.append(pcm)
        self._samples += len(pcm)

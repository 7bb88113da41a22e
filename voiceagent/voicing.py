"""Runs the voice for a session: clauses in, audio with word timings out, in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audio.silence import silences
from audio.speakable import SpokenText
from voiceagent.conversation import events as ev
from voiceagent.parts import Speaks

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VoicedClause:
    """A clause's audio (24 kHz); ``first`` is its first sample's place in the reply, ``sound`` how
    many of its samples are not the silence around the words."""

    text: str
    pcm: NDArray[np.int16]
    words: tuple[ev.WordSpan, ...]
    first: int
    sound: int


@dataclass(slots=True)
class _Reply:
    clauses: asyncio.Queue[tuple[int, str]] = field(default_factory=asyncio.Queue)
    voiced: dict[int, VoicedClause] = field(default_factory=dict)
    samples: int = 0
    task: asyncio.Task[None] | None = None


class Voicing:
    """One worker for the reply that is being voiced."""

    def __init__(
        self,
        voice: Speaks,
        speed: float,
        post: Callable[[ev.Event], None],
        now: Callable[[], int],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        self._voice, self._speed = voice, speed
        self._post, self._now, self._start = post, now, start
        self._replies: dict[int, _Reply] = {}

    def speak(self, reply: int, clause: int, text: str) -> None:
        """Queue a clause."""
        state = self._replies.get(reply)
        if state is None:
            for done in [known for known in self._replies if known < reply - 1]:
                self.cancel(done)
                del self._replies[done]
            state = self._replies[reply] = _Reply()
            state.task = self._start(self._work(reply, state))
        state.clauses.put_nowait((clause, text))

    def take(self, reply: int, clause: int) -> VoicedClause:
        """Hand over a voiced clause; it is forgotten here."""
        return self._replies[reply].voiced.pop(clause)

    def cancel(self, reply: int) -> None:
        """Voice no further clause of the reply; what is voiced can still be taken."""
        state = self._replies.get(reply)
        if state and state.task:
            state.task.cancel()

    async def _work(self, reply: int, state: _Reply) -> None:
        spoken_text = SpokenText()
        while True:
            clause, text = await state.clauses.get()
            try:
                spoken = await self._voice.speak(
                    spoken_text.feed(text), text=text, speed=self._speed
                )
            except Exception:
                log.exception("the voice failed")
                self._post(ev.VoiceFailed(self._now(), reply, clause))
                return
            words = tuple(
                ev.WordSpan(word.start, word.end, word.first_sample, word.last_sample)
                for word in spoken.words
            )
            silent = silences(spoken.pcm)
            sound = len(spoken.pcm) - sum(
                last - first for first, last in silent if first == 0 or last == len(spoken.pcm)
            )
            state.voiced[clause] = VoicedClause(text, spoken.pcm, words, state.samples, sound)
            state.samples += len(spoken.pcm)
            self._post(ev.ClauseVoiced(self._now(), reply, clause, len(spoken.pcm), words, silent))

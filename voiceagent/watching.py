"""A session's watch and keeper behind a guard: measuring never ends or delays a call."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from routing.decision import Decision
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.keeper import Keeps
from voiceagent.listener_clock import ListenerClock
from voiceagent.turn_record import TurnRecord
from voiceagent.watch import TurnWatch

log = logging.getLogger(__name__)

_Told = TypeVar("_Told")


class Watching:
    """What fails in here is logged once; the rest of the session is then not measured, or not
    kept, but goes on."""

    def __init__(self, keeper: Keeps, began: int, session: str) -> None:
        self._keeper, self._began, self._session = keeper, began, session
        self._watch = TurnWatch(self._turn, began, keep_text=keeper.keep_text)
        self._failed: set[str] = set()

    def observe(self, event: ev.Event, actions: list[act.Action]) -> list[act.Action]:
        """See ``TurnWatch.observe``."""
        return self._guarded("watch", lambda: self._watch.observe(event, actions), [])

    def decided(self, reply: int, decision: Decision) -> None:
        """See ``TurnWatch.decided``."""
        self._guarded("watch", lambda: self._watch.decided(reply, decision), None)

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """See ``Keeps.heard``."""
        self._guarded("sound", lambda: self._keeper.heard(pcm), None)

    def voiced(self, reply: int, text: str, pcm: NDArray[np.int16], sound: int) -> None:
        """See ``Keeps.voiced``."""
        self._guarded("sound", lambda: self._keeper.voiced(reply, text, pcm, sound), None)

    def close(self, now: int, clock: ListenerClock) -> None:
        """The session is over: complete what is open, and tell the keeper."""
        self._guarded("watch", lambda: self._watch.close(now), None)
        self._guarded("end", lambda: self._keeper.ended(clock, self._began), None)

    def _turn(self, record: TurnRecord) -> None:
        self._guarded("keeper", lambda: self._keeper.turn(record), None)

    def _guarded(self, part: str, work: Callable[[], _Told], otherwise: _Told) -> _Told:
        if part in self._failed:
            return otherwise
        try:
            return work()
        except Exception as error:
            self._failed.add(part)
            # Without its text, which may hold what was said.
            kind = type(error).__name__
            log.error("session %s: its %s failed (%s) and is off", self._session, part, kind)
            log.debug("what failed", exc_info=True)
            return otherwise

"""When a backend that fails is left alone, and when it is tried again. Pure: no clock."""

from __future__ import annotations

from typing import Literal

from routing.errors import BackendError, Kind

SECOND = 1_000_000

State = Literal["closed", "resting", "trial"]

_REST_AT_ONCE: frozenset[Kind] = frozenset({"rate_limited", "unavailable", "refused", "auth"})
"""One of these is enough; the others may be an accident of one answer."""
_ACCIDENTS = 2
_BAD_REQUESTS = 3
"""A bad request is first of all the request's fault."""
_FIRST_REST = 2 * SECOND
_LONGEST_REST = 60 * SECOND
_WRONG_KEY_REST = 600 * SECOND


class Breaker:
    """Open after failures, for longer each time, and for as long as the server asks for.

    Times are microseconds. ``resting``: do not ask it. ``trial``: the rest is over, and the next
    request decides; until it has ended no other is sent.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._rests = 0
        self._until: int | None = None
        self._trying = False
        self.reason = ""
        """Why it rests, in a few words."""

    def state(self, now: int) -> State:
        """As it is at ``now``."""
        if self._until is None:
            return "closed"
        return "resting" if now < self._until or self._trying else "trial"

    def rests_for(self, now: int) -> int:
        """How much longer it is left alone; 0 when it may be asked."""
        return max(0, self._until - now) if self._until is not None else 0

    def asked(self, now: int) -> None:
        """A request is being sent to it."""
        self._trying = self._until is not None and now >= self._until

    def began(self) -> None:
        """It began to answer. Whether it also comes to the end is not known yet."""
        self._until, self._trying, self.reason = None, False, ""

    def worked(self) -> None:
        """It answered to the end."""
        self.began()
        self._failures = self._rests = 0

    def given_up(self) -> None:
        """A request was cancelled before it could tell anything."""
        self._trying = False

    def failed(self, now: int, error: BackendError) -> None:
        """It failed. Bad requests in a row are no accident of one: its model may be gone."""
        on_trial, self._trying = self._until is not None, False
        self._failures += 1
        asked_for = error.retry_after_s
        at_once = error.kind in _REST_AT_ONCE or on_trial or asked_for is not None
        accidents = _BAD_REQUESTS if error.kind == "bad_request" else _ACCIDENTS
        if not at_once and self._failures < accidents:
            return
        rest = min(_FIRST_REST << min(self._rests, 10), _LONGEST_REST)
        if error.kind == "auth":
            rest = _WRONG_KEY_REST
        if asked_for is not None:
            rest = max(int(asked_for * SECOND), _FIRST_REST if asked_for == 0 else 0)
        self._rests += 1
        self._failures = 0
        self._until, self.reason = now + rest, error.kind.replace("_", " ")

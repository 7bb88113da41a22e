"""One answer and the backends that compete for it. Pure: events with times in, actions out.

    ask ── first content ──> leading ── its stream ends ──> over
     │ late, failed: another      │ broken or stalled: pause
     └ hedge: two at once         └ resume(text in use) ──> ask another for the rest

Nothing is retried in silence: each attempt is an ``Open``, and ``attempts`` keeps them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from routing.choosing import Considered
from routing.errors import BackendError

Purpose = Literal["answer", "hedge", "failover", "handover"]
MS = 1_000


@dataclass(frozen=True, slots=True)
class RaceRules:
    """Microseconds. The clock that matters is the speech that is left to play."""

    first_speakable: int = 450 * MS
    """The budget for the first speakable text."""
    hedge_margin: int = 50 * MS
    handover_margin: int = 250 * MS
    """Beside the other backend's p95: time to turn its first words into sound."""
    stalled: int = 300 * MS
    """A pause between pieces is no stall before this, nor before twice the usual longest gap."""
    late: int = 1_500 * MS
    """Without content after this, or after twice its usual p95, another is asked beside it."""
    first_content: int = 8_000 * MS
    """Without content after this an attempt is given up."""


@dataclass(slots=True)
class Attempt:
    """One request to one backend."""

    number: int
    backend: Considered
    purpose: Purpose
    at: int
    first_content: int | None = None
    last_content: int | None = None
    ended: int | None = None
    late: bool = False
    """Another was asked because this one did not begin."""
    whole: bool = False
    """The server said that the answer is complete; only its figures are still to come."""
    outcome: str = "running"
    """running, answered, cancelled, or the kind of error."""


@dataclass(frozen=True, slots=True)
class Open:
    """Ask this backend; ``number`` names the attempt in the events that follow."""

    number: int
    backend: str
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class Close:
    """Close the attempt's stream: nothing of it is wanted any more."""

    number: int


@dataclass(frozen=True, slots=True)
class Wake:
    """Call ``woke`` at this time; replaces the wake-up before."""

    at: int


@dataclass(frozen=True, slots=True)
class Lead:
    """What this attempt brought and brings is the answer."""

    number: int


@dataclass(frozen=True, slots=True)
class Pause:
    """The answer stopped: what text of it is in use must be told with ``resume``."""

    why: str


@dataclass(frozen=True, slots=True)
class Over:
    """The answer is complete (None), or nobody can go on with it."""

    error: BackendError | None


Action: TypeAlias = Open | Close | Wake | Lead | Pause | Over


@dataclass(slots=True)
class Race:
    """``candidates`` in the order in which they are asked; ``may_hedge`` for a second at once."""

    candidates: Sequence[Considered]
    rules: RaceRules = field(default_factory=RaceRules)
    may_hedge: bool = False
    attempts: list[Attempt] = field(default_factory=list)
    leader: Attempt | None = None
    speech_until: int | None = None
    """When the speech given so far will have been played; None: there is none."""
    handed_over: bool = False
    hedged: bool = False
    _paused: Attempt | None = None
    _tool: bool = False
    _over: bool = False
    _out: list[Action] = field(default_factory=list)

    # --- what happens --------------------------------------------------------------------------

    def begin(self, now: int) -> list[Action]:
        """Ask the first candidate."""
        self._open(self.candidates[0], "answer", now)
        return self._done(now)

    def content(self, number: int, now: int, *, tool: bool = False) -> list[Action]:
        """A piece of an answer (text or a tool call; a role or a thought is none)."""
        attempt = self._running(number)
        if attempt is None:
            return []
        attempt.last_content = now
        if attempt.first_content is None:
            attempt.first_content = now
        if self.leader is None:
            self.leader = attempt
            for other in self._alive():
                if other is not attempt:
                    self._close(other, now)
            self._out.append(Lead(number))
        self._tool = self._tool or tool
        return self._done(now)

    def finished(self, number: int, now: int) -> list[Action]:
        """The server says that this answer is complete: its silence is no stall from now on."""
        attempt = self._running(number)
        if attempt is None:
            return []
        attempt.whole = True
        return self._done(now)

    def ended(self, number: int, now: int) -> list[Action]:
        """An attempt's stream ended well. One without content is a failure."""
        attempt = self._running(number)
        if attempt is None:
            return []
        if attempt.purpose == "handover" and self.leader is None:
            self.leader = attempt  # what had been said was the whole answer
            self._out.append(Lead(number))
        if attempt is not self.leader:
            error = BackendError("broken_stream", f"{attempt.backend.name}: the answer is empty")
            return self.failed(number, now, error)
        attempt.outcome, attempt.ended = "answered", now
        self._finish(None)
        return self._done(now)

    def failed(self, number: int, now: int, error: BackendError) -> list[Action]:
        """An attempt failed."""
        attempt = self._running(number)
        if attempt is None:
            return []
        if attempt.whole and attempt is self.leader:  # only its figures were lost
            return self.ended(number, now)
        attempt.outcome, attempt.ended = error.kind, now
        if attempt is self.leader:
            self._interrupted(attempt, now, error)
        elif not self._alive():
            self._next(self._instead, now, error)
        return self._done(now)

    def speech(self, until: int | None, now: int) -> list[Action]:
        """The listener has speech to hear until then."""
        self.speech_until = until
        return self._done(now)

    def resume(self, said: bool, now: int) -> list[Action]:
        """After ``Pause``: ask another for the rest (``said``), or for the whole answer."""
        attempt, self._paused = self._paused, None
        if attempt is None or self._over:
            return []
        self.leader = None
        self.handed_over = self.handed_over or said
        self._next("handover" if said else "failover", now, _gone(attempt))
        return self._done(now)

    def woke(self, now: int) -> list[Action]:
        """A time that was waited for has come."""
        if self._over or self._paused:
            return []
        for attempt in self._alive():
            due = self._due(attempt)
            if due is not None and due <= now:
                self._late(attempt, now)
        hedge = self._hedge_at()
        if hedge is not None and hedge <= now:
            self.hedged = True
            self._open(self._unused()[0], "hedge", now)
        return self._done(now)

    def cancel(self, now: int) -> list[Action]:
        """Nobody wants the answer any more."""
        for attempt in self._alive():
            self._close(attempt, now)
        self._over = True
        return self._take()

    # --- deciding ------------------------------------------------------------------------------

    def _late(self, attempt: Attempt, now: int) -> None:
        """It has not begun in time, or it stalls and the speech that is left runs out."""
        alone = len(self._alive()) == 1
        if attempt.first_content is None and not attempt.late and alone and self._unused():
            attempt.late = True  # it may still be the first
            self._open(self._unused()[0], self._instead, now)
            return
        what = "the answer stalled" if attempt is self.leader else "no content in time"
        error = BackendError("timeout", f"{attempt.backend.name}: {what}")
        self._close(attempt, now)
        attempt.outcome = "timeout"
        if attempt is self.leader:
            self._interrupted(attempt, now, error)
        elif not self._alive():
            self._next(self._instead, now, error)

    def _interrupted(self, attempt: Attempt, now: int, error: BackendError) -> None:
        if self._may_change():
            self._paused = attempt
            self._out.append(Pause(error.message))
        else:
            self._finish(error)

    def _may_change(self) -> bool:
        """May another backend go on? Once, and never after a tool call began."""
        return not self.handed_over and not self._tool and bool(self._unused())

    def _next(self, purpose: Purpose, now: int, error: BackendError) -> None:
        unused = self._unused()
        if unused:
            self._open(unused[0], purpose, now)
        else:
            self._finish(error)

    @property
    def _instead(self) -> Purpose:
        """What another is asked for: after a handover never the whole answer again."""
        return "handover" if self.handed_over else "failover"

    def _unused(self) -> list[Considered]:
        """Who may still be asked; those that only lost the start, after all others."""
        latest = {attempt.backend.name: attempt.outcome for attempt in self.attempts}
        fresh = [known for known in self.candidates if known.name not in latest]
        lost = [known for known in self.candidates if latest.get(known.name) == "cancelled"]
        return fresh + lost

    # --- time ----------------------------------------------------------------------------------

    def _due(self, attempt: Attempt) -> int | None:
        """When this attempt counts as late; None: never, since nobody else may go on."""
        if attempt.last_content is None:
            if attempt.late or not self._unused() or len(self._alive()) > 1:
                return attempt.at + self.rules.first_content
            return attempt.at + max(self.rules.late, 2 * attempt.backend.first_p95)
        if attempt.whole or not self._may_change():
            return None  # the reader of a stream bounds what may follow a finish reason
        stalled = max(self.rules.stalled, 2 * attempt.backend.usual_gap)
        due = attempt.last_content + stalled
        if self.speech_until is not None:
            backup = self._unused()[0].first_p95 + self.rules.handover_margin
            due = max(due, self.speech_until - backup)
        return due

    def _hedge_at(self) -> int | None:
        """When a second backend is asked beside the first; None: not at all."""
        unused = self._unused()
        if not self.may_hedge or self.hedged or self.leader or not unused or len(self.attempts) > 1:
            return None
        first = self.attempts[0]
        budget = self.rules.first_speakable - unused[0].first_p50 - self.rules.hedge_margin
        return first.at + max(first.backend.first_p95, budget)

    # --- small things --------------------------------------------------------------------------

    def _running(self, number: int) -> Attempt | None:
        if self._over:
            return None
        found = next((known for known in self.attempts if known.number == number), None)
        return found if found and found.outcome == "running" else None

    def _alive(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.outcome == "running"]

    def _open(self, backend: Considered, purpose: Purpose, now: int) -> None:
        attempt = Attempt(len(self.attempts), backend, purpose, now)
        self.attempts.append(attempt)
        self._out.append(Open(attempt.number, backend.name, purpose))

    def _close(self, attempt: Attempt, now: int) -> None:
        attempt.outcome, attempt.ended = "cancelled", now
        self._out.append(Close(attempt.number))

    def _finish(self, error: BackendError | None) -> None:
        self._over = True
        self._out.append(Over(error))

    def _done(self, now: int) -> list[Action]:
        if not self._over and not self._paused:
            times = [self._due(attempt) for attempt in self._alive()] + [self._hedge_at()]
            waits = [when for when in times if when is not None]
            if waits:
                self._out.append(Wake(max(now, min(waits))))
        return self._take()

    def _take(self) -> list[Action]:
        taken, self._out = self._out, []
        return taken


def _gone(attempt: Attempt) -> BackendError:
    return BackendError("broken_stream", f"{attempt.backend.name}: the answer broke off")

"""Which backend answers, and what happens when it does not.

The decisions are in pure modules (``choosing``, ``race``, ``breaker``, ``health``, ``spending``);
this one holds what they know between answers.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from routing.answer import RoutedAnswer
from routing.candidate import Candidate
from routing.choosing import Considered, consider, rank, reason
from routing.decision import Decision
from routing.errors import BackendError
from routing.health import Health
from routing.hedging import HedgeAllowance
from routing.messages import ChatRequest
from routing.race import Race, RaceRules
from routing.spending import Spending

log = logging.getLogger(__name__)

_KEPT = 200
_CHARS_PER_TOKEN = 4
_USUAL_ANSWER = 40
"""Tokens of a usual spoken answer, to estimate what one will cost."""


def never_starved(_arrivals: Sequence[tuple[int, int]]) -> int:
    """For callers without a voice."""
    return 0


class Router:
    """Routes the answers of one lane. Its clock is the event loop's, in microseconds.

    ``starved`` gives, for the arrivals (microseconds, characters) of an answer, how long its
    listener would have waited for more speech. ``on_decision`` is told of every answer at its end.
    """

    def __init__(
        self,
        lane: str,
        candidates: Sequence[Candidate],
        *,
        spending: Spending | None = None,
        rules: RaceRules | None = None,
        starved: Callable[[Sequence[tuple[int, int]]], int] = never_starved,
        on_decision: Callable[[Decision], None] | None = None,
    ) -> None:
        """Raises ValueError without a candidate, or for two of one name."""
        names = [candidate.name for candidate in candidates]
        if not names or len(set(names)) < len(names):
            raise ValueError("a lane needs backends, each with a name of its own")
        self.lane, self.rules = lane, rules or RaceRules()
        self.spending = spending or Spending()
        self.starved = starved
        self.decisions: deque[Decision] = deque(maxlen=_KEPT)
        """The latest, the newest last."""
        self._candidates = {candidate.name: candidate for candidate in candidates}
        self._health = {c.name: Health(c.assumed_first) for c in candidates}
        self._hedges = HedgeAllowance()
        self._on_decision = on_decision
        self._tasks: set[asyncio.Task[None]] = set()

    def answer(self, request: ChatRequest, *, call: str = "") -> RoutedAnswer:
        """An answer to iterate over; ``call`` names whose budget it counts against."""
        return RoutedAnswer(self, request, call)

    async def prefill(self, messages: Sequence[dict[str, Any]]) -> None:
        """Let the backend that would be asked now read ahead. Raises ``BackendError``."""
        request = ChatRequest(messages=tuple(messages))
        ranked, _, _ = self._ranked(request, "", self.now_us())
        await self.candidate(ranked[0].name).backend.prefill(messages)

    # --- for the answer ------------------------------------------------------------------------

    @staticmethod
    def now_us() -> int:
        """The running loop's clock."""
        return int(asyncio.get_running_loop().time() * 1_000_000)

    def plan(self, request: ChatRequest, call: str, now: int) -> tuple[Race, Decision]:
        """Who is asked, in which order and why. Raises ``BackendError`` when money is out.

        To be followed by ``decided``: the plan may hold one of the few hedges.
        """
        ranked, known, why = self._ranked(request, call, now)
        may_hedge = not self.spending.thrift(call) and self._hedges.reserve()
        race = Race(ranked, self.rules, may_hedge=may_hedge)
        return race, Decision(self.lane, now, tuple(known), why, may_hedge=may_hedge)

    def _ranked(
        self, request: ChatRequest, call: str, now: int
    ) -> tuple[list[Considered], list[Considered], str]:
        """The candidates in order, all that were considered, and why in one sentence."""
        thrift = self.spending.thrift(call)
        asked = sum(len(str(message.get("content") or "")) for message in request.messages)
        known = []
        for name, candidate in self._candidates.items():
            usd = candidate.cost(asked // _CHARS_PER_TOKEN, 0, _USUAL_ANSWER)
            affordable = self.spending.affordable(call, usd)
            health, budget = self._health[name], self.rules.first_speakable
            known.append(consider(candidate, health, now, budget, usd, affordable))
        ranked = rank(known, thrift=thrift)
        if not ranked:
            raise BackendError("rate_limited", "the budget is spent", retryable=False)
        why = reason(ranked, [one for one in known if not one.in_budget], thrift)
        return ranked, known, why

    @property
    def names(self) -> list[str]:
        """Of the backends that may be asked."""
        return list(self._candidates)

    def candidate(self, name: str) -> Candidate:
        """By name."""
        return self._candidates[name]

    def health(self, name: str) -> Health:
        """What is known of a backend."""
        return self._health[name]

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a stream's reader; it is held until it ends, and nobody waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def decided(self, decision: Decision) -> None:
        """An answer is over: count and tell it."""
        for spent in decision.spent:
            self.spending.charge(spent)
        self._hedges.turn(decision.hedged, reserved=decision.may_hedge)
        self.decisions.append(decision)
        if self._on_decision:
            self._on_decision(decision)

    def log_failure(self, name: str, error: Exception) -> None:
        """A backend failed in a way that is a fault of ours."""
        log.error("backend %s failed", name, exc_info=error)

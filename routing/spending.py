"""What answers cost. Every attempt is counted, also those that nobody heard."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

_CALLS = 1_000
_KEPT = 1_000
THRIFT = 0.8
"""From this share of a ceiling on, the cheaper backend is asked first."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one attempt used."""

    call: str
    backend: str
    purpose: str
    outcome: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    estimated: bool
    """The server did not say; the tokens are a fourth of the characters."""
    usd: float | None
    """None: its price is not known."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Ceilings in US dollars; None: none."""

    per_call_usd: float | None = None
    per_day_usd: float | None = None


class Spending:
    """Adds up what attempts used, for each call and for the day (of this process)."""

    def __init__(
        self, budget: Budget | None = None, today: Callable[[], date] = date.today
    ) -> None:
        self.budget, self._today = budget or Budget(), today
        self._calls: OrderedDict[str, float] = OrderedDict()
        self._day, self._day_usd = today(), 0.0
        self.log: deque[Spent] = deque(maxlen=_KEPT)
        """The latest attempts."""
        self.totals: dict[str, dict[str, float]] = {}
        """By backend: requests, prompt and completion tokens, those of no use, US dollars."""

    def charge(self, spent: Spent) -> None:
        """Count one attempt."""
        self.log.append(spent)
        total = self.totals.setdefault(spent.backend, _nothing())
        total["requests"] += 1
        total["prompt_tokens"] += spent.prompt_tokens
        total["completion_tokens"] += spent.completion_tokens
        if spent.outcome != "answered":
            total["unused_tokens"] += spent.completion_tokens
        total["usd"] += spent.usd or 0.0
        self._turn_page()
        self._day_usd += spent.usd or 0.0
        self._calls[spent.call] = self._calls.get(spent.call, 0.0) + (spent.usd or 0.0)
        self._calls.move_to_end(spent.call)
        while len(self._calls) > _CALLS:
            self._calls.popitem(last=False)

    def of_call(self, call: str) -> float:
        """US dollars that a call has cost so far."""
        return self._calls.get(call, 0.0)

    def of_day(self) -> float:
        """US dollars since midnight."""
        self._turn_page()
        return self._day_usd

    def affordable(self, call: str, usd: float | None) -> bool:
        """May ``usd`` more be spent? What costs nothing always may; what has no price counts as 0
        dollars until a ceiling is set, and then is not affordable."""
        if usd == 0 or not self._ceilings(call):
            return True
        return usd is not None and all(spent + usd <= top for spent, top in self._ceilings(call))

    def thrift(self, call: str) -> bool:
        """Is money short?"""
        return any(spent >= THRIFT * top for spent, top in self._ceilings(call))

    def _ceilings(self, call: str) -> list[tuple[float, float]]:
        pairs = (
            (self.of_call(call), self.budget.per_call_usd),
            (self.of_day(), self.budget.per_day_usd),
        )
        return [(spent, top) for spent, top in pairs if top is not None]

    def _turn_page(self) -> None:
        today = self._today()
        if today != self._day:
            self._day, self._day_usd = today, 0.0


def _nothing() -> dict[str, float]:
    names = ("requests", "prompt_tokens", "completion_tokens", "unused_tokens", "usd")
    return dict.fromkeys(names, 0.0)

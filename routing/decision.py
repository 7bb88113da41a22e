"""The record of one routed answer: what was known, what was chosen and why, what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from routing.choosing import Considered
from routing.race import Attempt, Purpose
from routing.spending import Spent

MS = 1_000


@dataclass(slots=True)
class Decision:
    """Filled in while the answer comes. Holds no text of the conversation and no key."""

    lane: str
    at_us: int
    considered: Sequence[Considered]
    reason: str
    """One sentence."""
    attempts: list[Attempt] = field(default_factory=list)
    spent: list[Spent] = field(default_factory=list)
    may_hedge: bool = False
    leader: Attempt | None = None
    first_speakable_us: int | None = None
    """From the request (not the attempt) to the first text that could be spoken."""
    outcome: str = "running"

    @property
    def hedged(self) -> bool:
        """Two backends were asked at once, to have the quicker one."""
        return self._did("hedge")

    @property
    def failed_over(self) -> bool:
        """Another backend was asked since the first failed or was late."""
        return self._did("failover")

    @property
    def handed_over(self) -> bool:
        """Another backend went on with the answer after some of it was spoken."""
        return self._did("handover")

    def _did(self, purpose: Purpose) -> bool:
        return any(attempt.purpose == purpose for attempt in self.attempts)

    @property
    def backend(self) -> str | None:
        """Who answers, or answered last."""
        return self.leader.backend.name if self.leader else None

    @property
    def first_content_ms(self) -> float | None:
        """From the request to the first content of whoever came first."""
        times = [attempt.first_content for attempt in self.attempts if attempt.first_content]
        return (min(times) - self.at_us) / MS if times else None

    def badge(self) -> str:
        """For the turn on the page: "cerebras · 190 ms · hedged"."""
        parts = [self.backend or "nobody"]
        if self.first_content_ms is not None:
            parts.append(f"{self.first_content_ms:.0f} ms")
        marks = {
            "hedged": self.hedged,
            "failed over": self.failed_over,
            "handed over": self.handed_over,
        }
        return " · ".join(parts + [name for name, on in marks.items() if on])

    def to_dict(self) -> dict[str, Any]:
        """As JSON, times in milliseconds."""
        return {
            "lane": self.lane,
            "backend": self.backend,
            "badge": self.badge(),
            "reason": self.reason,
            "first_content_ms": self.first_content_ms,
            "hedged": self.hedged,
            "failed_over": self.failed_over,
            "handed_over": self.handed_over,
            "outcome": self.outcome,
            "considered": [_considered(known) for known in self.considered],
            "attempts": [_attempt(attempt) for attempt in self.attempts],
            "spent": [asdict(spent) for spent in self.spent],
        }


def _considered(known: Considered) -> dict[str, Any]:
    return {
        "name": known.name,
        "state": known.state,
        "dead_air_ms": known.dead_air / MS,
        "first_p50_ms": known.first_p50 / MS,
        "first_p95_ms": known.first_p95 / MS,
        "measured": known.measured,
        "usd": known.usd,
        "in_budget": known.in_budget,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    first = attempt.first_content
    return {
        "backend": attempt.backend.name,
        "purpose": attempt.purpose,
        "first_content_ms": None if first is None else (first - attempt.at) / MS,
        "outcome": attempt.outcome,
    }

"""Which backend an answer is asked of: the least predicted dead air; cost breaks ties. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routing.breaker import State
from routing.candidate import Candidate
from routing.health import Health

TIE = 50_000
"""Microseconds of predicted dead air that no listener tells apart."""


@dataclass(frozen=True, slots=True)
class Considered:
    """What was known of a backend when an answer was routed. Times in microseconds."""

    name: str
    state: State
    dead_air: int
    first_p50: int
    first_p95: int
    usual_gap: int
    measured: int
    """Recent answers that these figures come from; 0: they are assumptions."""
    usd: float | None
    """What the answer will about cost; None: no price is known."""
    rests_for: int = 0
    in_budget: bool = True
    reserve: bool = False

    def in_words(self) -> str:
        """For a sentence."""
        basis = f"{self.measured} answers" if self.measured else "an assumption"
        return f"{self.name} ({self.dead_air // 1000} ms of dead air by {basis})"


def consider(
    candidate: Candidate, health: Health, now: int, budget: int, usd: float | None, affordable: bool
) -> Considered:
    """Everything that the choice depends on, as it is at ``now``."""
    figures = health.figures(now, budget)
    return Considered(
        name=candidate.name,
        state=health.breaker.state(now),
        dead_air=round(figures.dead_air),
        first_p50=figures.first_p50,
        first_p95=figures.first_p95,
        usual_gap=figures.usual_gap,
        measured=figures.measured,
        usd=usd,
        rests_for=health.breaker.rests_for(now),
        in_budget=affordable,
        reserve=candidate.reserve,
    )


def rank(candidates: Sequence[Considered], *, thrift: bool = False) -> list[Considered]:
    """The order in which to ask. ``thrift``: money is short, so the cheaper comes first.

    Those that only stand in come after those that the record decided on, and those over the budget
    are left out. Those that rest come last, the one that rests the shortest first: when all of
    them do, the least bad is asked rather than nobody.
    """

    def cost(known: Considered) -> float:
        return float("inf") if known.usd is None else known.usd

    places = {known.name: place for place, known in enumerate(candidates)}

    def order(known: Considered) -> tuple[float, ...]:
        resting = known.rests_for if known.state == "resting" else -1
        dead_air = known.dead_air // TIE
        middle = (cost(known), dead_air) if thrift else (dead_air, cost(known))
        tier = 0 if thrift else int(known.reserve)
        return (resting, tier, *middle, places[known.name])

    return sorted((known for known in candidates if known.in_budget), key=order)


def reason(ranked: Sequence[Considered], left_out: Sequence[Considered], thrift: bool) -> str:
    """Why the first was chosen, in one sentence."""
    first, *others = ranked
    because = f"{first.in_words()} "
    if first.state == "resting":
        because += "is the least bad, since every backend rests"
    elif not others:
        because += "is the only one that can be asked"
    elif thrift:
        because += "is the cheapest, since the budget runs low"
    elif others[0].state == "resting":
        because += "is asked, since the others rest"
    elif others[0].reserve and not first.reserve:
        because += "is what the record decided on"
    elif others[0].dead_air // TIE == first.dead_air // TIE:
        because += f"is as quick as {others[0].in_words()} and costs no more"
    else:
        because += f"is quicker than {others[0].in_words()}"
    if left_out:
        because += "; over the budget: " + ", ".join(known.name for known in left_out)
    return because

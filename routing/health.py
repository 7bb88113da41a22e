"""What is known of one backend from its own recent answers. Pure: no clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from routing.breaker import SECOND, Breaker

_KEPT = 64
_OLD = 15 * 60 * SECOND
"""What a backend did longer ago than this says little about it now."""
_ASSUMED = 2
"""The assumption weighs as much as so many answers, so that one lucky answer does not decide."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How one answer came: microseconds from the request."""

    at: int
    first_speakable: int
    starved: int
    """How long its listener would have waited for more, all pauses together."""
    longest_gap: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What a backend's recent answers say together. Microseconds."""

    dead_air: float
    """Predicted for an answer: late beginnings and starved pauses."""
    first_p50: int
    first_p95: int
    """To the first speakable text."""
    usual_gap: int
    """The longest pause between two pieces in a usual answer; 0 when nothing is known."""
    measured: int
    """How many recent answers there are."""


class Health:
    """Recent answers of a backend. Failed ones leave no pace; nor do cancelled ones, but for
    those that another outran: at least so late they were."""

    def __init__(self, assumed_first: int) -> None:
        """``assumed_first``: microseconds to the first speakable text until it is measured."""
        self._assumed = assumed_first
        self._paces: deque[Pace] = deque(maxlen=_KEPT)
        self.breaker = Breaker()
        self.answers = 0
        self.failures = 0

    def answered(self, pace: Pace) -> None:
        """An answer came to its end."""
        self.answers += 1
        self._paces.append(pace)

    def outrun(self, now: int, waited: int) -> None:
        """Another began while this one had not for ``waited``: counts only if that is late."""
        firsts = [pace.first_speakable for pace in self.recent(now)] or [self._assumed]
        if waited > percentile(firsts, 95):
            self._paces.append(Pace(now, waited, 0, 0))

    def recent(self, now: int) -> list[Pace]:
        """The answers that still say something."""
        return [pace for pace in self._paces if now - pace.at < _OLD]

    def figures(self, now: int, budget: int) -> Figures:
        """What they say together. ``budget``: later than this, a beginning is dead air.

        The mean of what lies beyond the budget is the probability of being late times by how much.
        """
        paces = self.recent(now)
        firsts = [pace.first_speakable for pace in paces] + [self._assumed] * _ASSUMED
        firsts.sort()
        late = sum([first - budget for first in firsts if first > budget]) / len(firsts)
        starved = sum([pace.starved for pace in paces]) / (len(paces) + _ASSUMED)
        gaps = sorted([pace.longest_gap for pace in paces])
        return Figures(
            dead_air=late + starved,
            first_p50=percentile(firsts, 50),
            first_p95=percentile(firsts, 95),
            usual_gap=gaps[len(gaps) // 2] if gaps else 0,
            measured=len(paces),
        )


def percentile(values: list[int], percent: float) -> int:
    """By linear interpolation, as numpy's default."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (ordered[high] - ordered[low]) * (place - low))


def longest_gap(times: list[int]) -> int:
    """The longest time between two neighbours; 0 for fewer than two."""
    return max((after - before for before, after in pairwise(times)), default=0)

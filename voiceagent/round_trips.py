"""Offset and drift between two clocks, from round trips, as NTP has it (RFC 5905). Pure.

We ask, the other side answers with what its clock reads, and the answer comes back: the reading
lies halfway, give or take half of the round trip. So the shortest trips know best. Of each window
the shortest is kept, and a line through them gives the drift of a sound card against our clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

_WINDOW = 5_000_000
"""Microseconds of which the best trip is kept."""
_KEPT = 24
_LEAST_SPAN = 20_000_000
"""A line through trips closer together than this would be mostly their error."""
MOST_DRIFT = 1e-3
"""No sound card is off by more than a thousandth."""
_JUMP = 20_000
"""Microseconds beyond what a round trip can explain: the other clock has jumped."""
_SLOW = 2
"""Trips so many times longer than the best say nothing."""


@dataclass(frozen=True, slots=True)
class _Trip:
    at: int
    """Halfway, on our clock."""
    took: int
    offset: int


class RoundTrips:
    """``offset`` is our clock less the other, in microseconds, at the last trip."""

    def __init__(self) -> None:
        self._best: deque[_Trip] = deque(maxlen=_KEPT)
        self._now = 0

    def add(self, sent: int, received: int, reading: int) -> None:
        """Asked at ``sent`` and answered at ``received`` (ours) with ``reading`` (the other's)."""
        if received < sent:
            return
        trip = _Trip((sent + received) // 2, received - sent, (sent + received) // 2 - reading)
        self._now = max(self._now, trip.at)
        known, explained = self.offset, trip.took + (self.shortest or 0) + _JUMP
        if known is not None and abs(trip.offset - known) > explained:
            self.forget()  # the other clock stood still or was set anew
        last = self._best[-1] if self._best else None
        if last is None or trip.at // _WINDOW != last.at // _WINDOW:
            self._best.append(trip)
        elif trip.took < last.took:
            self._best[-1] = trip

    def forget(self) -> None:
        """What was known of the other clock holds no longer."""
        self._best.clear()

    @property
    def shortest(self) -> int | None:
        """The shortest round trip: twice the error of the offset, at most."""
        return min((trip.took for trip in self._best), default=None)

    @property
    def drift(self) -> float:
        """Microseconds that the offset grows by in a microsecond."""
        good = self._good()
        if not good or good[-1].at - good[0].at < _LEAST_SPAN:
            return 0.0
        mean_at = sum(trip.at for trip in good) / len(good)
        mean = sum(trip.offset for trip in good) / len(good)
        spread = sum((trip.at - mean_at) ** 2 for trip in good)
        slope = sum((trip.at - mean_at) * (trip.offset - mean) for trip in good) / spread
        return max(-MOST_DRIFT, min(MOST_DRIFT, slope))

    @property
    def offset(self) -> int | None:
        """None before the first answer."""
        good = self._good()
        if not good:
            return None
        best = min(good, key=lambda trip: trip.took)
        return best.offset + round(self.drift * (self._now - best.at))

    def _good(self) -> list[_Trip]:
        shortest = self.shortest
        if shortest is None:
            return []
        return [trip for trip in self._best if trip.took <= max(_SLOW * shortest, 2_000)]

"""How many answers may be asked of two backends at once."""

from __future__ import annotations

from collections import deque

SHARE = 0.05
_WINDOW = 200


class HedgeAllowance:
    """At most one answer in twenty of the latest 200; the first may be the very first."""

    def __init__(self) -> None:
        self._turns: deque[bool] = deque(maxlen=_WINDOW)
        self._reserved = 0

    def reserve(self) -> bool:
        """May the answer that begins now be hedged? If so it counts as hedged until it is over."""
        used = sum(self._turns) + self._reserved
        allowed = used + 1 <= max(1.0, SHARE * len(self._turns))
        self._reserved += allowed
        return allowed

    def turn(self, hedged: bool, *, reserved: bool) -> None:
        """An answer is over; ``reserved`` says whether it might have been hedged."""
        self._reserved -= reserved
        self._turns.append(hedged)

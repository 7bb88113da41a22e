"""How many answers may be asked of two backends at once."""

from __future__ import annotations

from collections import deque

SHARE = 0.05
_WINDOW = 200


class HedgeAllowance:
    """At most one answer in twenty of the latest 200; the first may be the very first."""

    def __init__(self) -> None:
        self._turns: deque[bool] = deque(maxlen=_WINDOW)

    def turn(self, hedged: bool) -> None:
        """An answer is over."""
        self._turns.append(hedged)

    @property
    def allows(self) -> bool:
        """May the next answer be hedged?"""
        return sum(self._turns) + 1 <= max(1.0, SHARE * len(self._turns))

"""How soon a process that died may be started again. No clock: the caller says what time it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

_MINUTE = 60.0


class RestartPolicy:
    """Back-off that grows with each death, and a bound on starts in any minute.

    It never gives up: after the bound, it waits until the minute is over.
    """

    def __init__(
        self, backoff_s: Sequence[float] = (0.0, 0.5, 1.0, 2.0, 5.0), per_minute: int = 6
    ) -> None:
        """``backoff_s``: the wait before the first, second, ... restart; the last one repeats."""
        self._backoff, self._per_minute = tuple(backoff_s), per_minute
        self._starts: deque[float] = deque()

    def delay_s(self, now: float) -> float:
        """How long to wait, at ``now`` (seconds), before the next start; counts that start."""
        while self._starts and self._starts[0] <= now - _MINUTE:
            self._starts.popleft()
        recent = len(self._starts)
        delay = self._backoff[min(recent, len(self._backoff) - 1)]
        if recent >= self._per_minute:
            delay = max(delay, self._starts[-self._per_minute] + _MINUTE - now)
        self._starts.append(now + delay)
        return delay

"""How much a client may send. Pure: the time is given, in seconds of one monotonic clock."""

from __future__ import annotations

from collections import deque

SAMPLES_PER_SECOND = 24_000


class Pace:
    """A token bucket: so much at once, and so much a second. It delays, and drops nothing."""

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst, self._rate = burst, per_second
        self._left, self._at = burst, 0.0

    def wait(self, cost: float, now: float) -> float:
        """Spend ``cost``; the seconds to pause before going on, 0.0 while within the allowance."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - cost
        self._at = now
        return max(0.0, -self._left / self._rate)


class AudioAllowance:
    """Audio in a sliding window: at most ``speed`` times real time. What is over is dropped.

    Speech arrives at real time; a recording may be sent in one go. A client that goes on sending
    faster than anyone can speak would fill every buffer behind it.
    """

    def __init__(self, window_s: float = 10.0, speed: float = 2.0) -> None:
        self._window = window_s
        self._most = int(window_s * speed * SAMPLES_PER_SECOND)
        self._recent: deque[tuple[float, int]] = deque()
        self._in_window = 0
        self.dropped = 0
        """Samples refused so far."""

    def admit(self, samples: int, now: float) -> bool:
        """Count ``samples`` (24 kHz) in; False when they are over the allowance."""
        while self._recent and self._recent[0][0] <= now - self._window:
            self._in_window -= self._recent.popleft()[1]
        if self._in_window + samples > self._most:
            self.dropped += samples
            return False
        self._recent.append((now, samples))
        self._in_window += samples
        return True

"""Where a moment lies on the client's audio timeline. Pure.

The client sends audio without gaps, so the number of samples heard is a clock of its own: the one
that its microphone runs on. Frames reach us late by a varying delay; the least delayed one anchors
that clock to ours, so a moment of speech is known without the jitter of the network.
"""

from __future__ import annotations

_STALL = 1_000_000
"""A frame later than this (microseconds) means that the client sent nothing for a while."""

_WINDOW = 2_000_000
"""How long (microseconds) the least delayed frame anchors the clock."""


class AudioClock:
    """Maps microseconds of the session's clock to positions in the input audio and back."""

    def __init__(self) -> None:
        self._zero: int | None = None
        self._recent: int | None = None
        self._since = 0

    def arrived(self, now: int, position: int) -> None:
        """Audio up to ``position`` (microseconds of audio) is here at ``now``."""
        zero = now - position
        if self._zero is None or zero < self._zero or zero > self._zero + _STALL:
            self._zero = self._recent = zero
            self._since = now
            return
        self._recent = zero if self._recent is None else min(self._recent, zero)
        if now - self._since >= _WINDOW:
            # Only recent frames count: clocks drift, and a short gap in the audio shifts them.
            self._zero, self._recent, self._since = self._recent, None, now

    def at(self, position: int) -> int | None:
        """The session time (microseconds) of a position in the audio; None before any audio."""
        return None if self._zero is None else self._zero + position

    def position(self, at: int) -> int:
        """The position (microseconds of audio) of a session time, at least 0."""
        return 0 if self._zero is None else max(0, at - self._zero)

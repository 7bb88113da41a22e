"""Where a moment lies on the client's audio timeline. Pure.

The client sends audio without gaps, so the number of samples heard is a clock of its own: the one
that its microphone runs on. Frames reach us late by a varying delay; the least delayed one anchors
that clock to ours, so a moment of speech is known without the jitter of the network.
"""

from __future__ import annotations

_STALL = 1_000_000
"""A frame later than this (microseconds) means that the client sent nothing for a while."""


class AudioClock:
    """Maps microseconds of the session's clock to positions in the input audio and back."""

    def __init__(self) -> None:
        self._zero: int | None = None

    def arrived(self, now: int, position: int) -> None:
        """Audio up to ``position`` (microseconds of audio) is here at ``now``."""
        zero = now - position
        if self._zero is None or zero < self._zero or zero > self._zero + _STALL:
            self._zero = zero

    def at(self, position: int) -> int | None:
        """The session time (microseconds) of a position in the audio; None before any audio."""
        return None if self._zero is None else self._zero + position

    def position(self, at: int) -> int:
        """The position (microseconds of audio) of a session time, at least 0."""
        return 0 if self._zero is None else max(0, at - self._zero)

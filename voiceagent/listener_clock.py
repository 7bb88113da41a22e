"""The listener's clock, and what it reads against ours. Pure.

A client's positions are microseconds of its own input audio: microphone and loudspeaker run on one
clock there, and its reports say where on it a sample was heard. Two things tie it to ours:

- Its audio. It comes without gaps, so the number of samples is that clock; the least delayed frame
  of the last seconds says how late a position reaches us at best. What the person said and what
  the person heard are compared through this tie, so the network is in neither.
- Round trips (`RoundTrips`), for a client that sends no audio, and to know how long the audio is
  under way.
"""

from __future__ import annotations

from voiceagent.round_trips import RoundTrips

_STALL = 1_000_000
"""A frame later than this (microseconds) means that the client sent nothing for a while."""

_UNASKED = 500_000
"""Microseconds that a client may be ahead of its audio before a round trip has told."""

_WINDOW = 2_000_000
"""How long (microseconds) the least delayed frame anchors the clock."""


class ListenerClock:
    """Maps microseconds of the session's clock to positions on the listener's and back."""

    def __init__(self) -> None:
        self.round_trips = RoundTrips()
        self._zero: int | None = None
        self._recent: int | None = None
        self._since = 0

    def arrived(self, now: int, position: int) -> None:
        """Audio up to ``position`` (microseconds of audio) is here at ``now``."""
        zero = now - position
        if self._zero is None or zero > self._zero + _STALL:
            self.round_trips.forget()  # the client's clock began here, or stood still meanwhile
            self._zero, self._recent, self._since = zero, zero, now
            return
        if zero < self._zero:
            self._zero, self._recent, self._since = zero, zero, now
            return
        self._recent = zero if self._recent is None else min(self._recent, zero)
        if now - self._since >= _WINDOW:
            # Only recent frames count: clocks drift, and a short gap in the audio shifts them.
            self._zero, self._recent, self._since = self._recent, None, now

    @property
    def offset(self) -> int | None:
        """Our clock less the listener's, as its audio reaches us; None before anything is known."""
        return self._zero if self._zero is not None else self.round_trips.offset

    def at(self, position: int) -> int | None:
        """The session time of a position; None before anything is known."""
        return None if self.offset is None else self.offset + position

    def position(self, at: int) -> int:
        """The position of a session time, at least 0."""
        return 0 if self.offset is None else max(0, at - self.offset)

    def latest(self, now: int) -> int:
        """The position that the listener's clock may have reached at ``now``.

        Further than what has reached us: the audio of this moment is still in the microphone.
        """
        known = [one for one in (self._zero, self.round_trips.offset) if one is not None]
        margin = (self.round_trips.shortest or _UNASKED) if known else 0
        return now - min(known, default=0) + margin

    @property
    def uplink(self) -> int:
        """How long the client's audio takes from the microphone to us; 0 while it is not known."""
        trips = self.round_trips.offset
        return 0 if self._zero is None or trips is None else max(0, self._zero - trips)

"""When each sample of a reply was heard, from what its player reports. Pure.

All times are microseconds on the listener's clock: of the player where it reports, else of the
server that estimates. Between two anchors the samples run on at 24 kHz; there is an anchor where
the sound began, where it went on after an underrun, and where the player had stretched a pause.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from voiceagent.conversation.events import PlayoutKind
from voiceagent.conversation.rules import to_us

_MOST = 1_024
"""Anchors of one reply; a player that stops more often than that is not believed any more."""
_INEXACT = 20_000
"""Microseconds by which a player's report of the moment may be off."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The player ran dry at ``sample`` and had nothing to play for ``duration_us``."""

    sample: int
    at_us: int
    duration_us: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Silence that the player had added when it reported ``sample``."""

    sample: int
    duration_us: int


class PlayoutClock:
    """Feed it every report, in order; what contradicts an earlier report is not believed."""

    def __init__(self) -> None:
        self._samples: list[int] = []
        self._times: list[int] = []
        self.stops: list[Stop] = []
        self.stretches: list[Stretch] = []
        self.ended_us: int | None = None
        """When the last sample of a reply that stopped or was flushed was heard."""
        self._dry: tuple[int, int] | None = None
        self._last, self._last_at = 0, 0
        self._stretched = 0

    @property
    def began(self) -> bool:
        """Something was heard, and it is known when."""
        return bool(self._samples)

    @property
    def anchors(self) -> list[tuple[int, int]]:
        """(sample, time) pairs, ascending in both."""
        return list(zip(self._samples, self._times, strict=True))

    def report(self, kind: PlayoutKind, sample: int, at_us: int, stretched: int = 0) -> None:
        """``sample`` samples had been heard at ``at_us``, beside ``stretched`` added ones."""
        if sample < self._last or self.ended_us is not None:
            return
        if len(self._samples) >= _MOST and kind not in ("stopped", "flushed"):
            return
        if not self.began:
            if kind == "flushed" and not sample:
                return
            self._anchor(0, at_us - to_us(sample + stretched))
        elif self._dry:
            self._go_on(kind, sample, at_us)
        if stretched > self._stretched:
            self._stretch(sample, at_us, stretched)
        self._last, self._last_at = sample, at_us
        if kind == "underrun":
            self._dry = (sample, max(at_us, self._times[-1]))
        elif kind in ("stopped", "flushed"):
            # What was silent before the end is no sound of the agent's.
            self.ended_us = self._dry[1] if self._dry else at_us

    def end(self, sample: int) -> None:
        """Nothing is heard after ``sample``, and nobody reports any more."""
        if self.began and self.ended_us is None:
            self.ended_us = self._dry[1] if self._dry else self.at(sample)

    def at(self, sample: int) -> int:
        """When a sample was heard, or will be if nothing delays it. Needs ``began``.

        Of a sample at which the player stood still: when it should have been heard.
        """
        index = max(0, bisect_left(self._samples, sample) - 1)
        return self._times[index] + to_us(sample - self._samples[index])

    def stopped_us(self, first: int, last: int) -> int:
        """For how long the player stood still in [first, last]."""
        return sum(stop.duration_us for stop in self.stops if first <= stop.sample <= last)

    def stretched_us(self, first: int, until: int) -> int:
        """Silence that the player added to the silence that begins at ``first``; the next one
        begins at ``until``. It reports that at the end of the silence."""
        return sum(s.duration_us for s in self.stretches if first < s.sample <= until)

    def _go_on(self, kind: PlayoutKind, sample: int, at_us: int) -> None:
        """The first report after an underrun."""
        if self._dry is None or kind in ("stopped", "flushed", "underrun"):
            return
        stood, since = self._dry
        resumed = max(since, at_us - to_us(sample - stood))
        self.stops.append(Stop(stood, since, resumed - since))
        self._anchor(stood, resumed)
        self._dry = None

    def _stretch(self, sample: int, at_us: int, stretched: int) -> None:
        # No more than the time that passed without sound, whatever is claimed.
        passed = at_us - self._last_at - to_us(sample - self._last)
        added = min(to_us(stretched - self._stretched), max(0, passed + _INEXACT))
        self.stretches.append(Stretch(sample, added))
        self._stretched = stretched
        self._anchor(sample, at_us)

    def _anchor(self, sample: int, at_us: int) -> None:
        if self._samples and (sample < self._samples[-1] or at_us < self._times[-1]):
            return
        self._samples.append(sample)
        self._times.append(at_us)

"""The speech clock: when a voice that reads a stream aloud would have nothing to say.

A voice eats about 15 characters a second, so a fast stream soon banks seconds of speech. What a
listener notices is a late first clause and a stall longer than that reserve. The clock needs no
token counts, and text that arrives at one instant is one piece however it was cut.

The speaking rate X is that of the voice in use: characters over trimmed audio seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from voiceagent.rhythm.percentiles import percentile
from voiceagent.rhythm.values import Unknown, Value

NOTICED_US = 100_000
"""An underrun from which a stream is no longer good, in microseconds."""

RESERVE_MS = 300
"""Headroom that all but one piece in twenty should have, in milliseconds."""

SLOWEST, FASTEST = 0.1, 1_000.0
"""Characters a second between which a number can be a speaking rate."""


@dataclass(frozen=True, slots=True)
class Underrun:
    """A silence inside the speech because the text had not come."""

    at_us: int
    """When the voice ran dry, on the clock of the arrivals."""
    duration_us: int


@dataclass(frozen=True, slots=True)
class SpeechClock:
    """What a listener would hear, predicted from the arrival of text."""

    first_sound_us: int
    end_us: int
    headroom_us: tuple[int, ...]
    """For each piece after the first: the speech still to be said when it was ready; negative is
    an underrun of that length."""
    underruns: tuple[Underrun, ...]
    speech_us: int
    """Speech alone, without the silences."""
    out_of_order: int
    """Pieces stamped before the one they follow: a fault of the clock; taken as arriving with it.
    """

    @property
    def starved_us(self) -> int:
        """All underruns together."""
        return sum(underrun.duration_us for underrun in self.underruns)

    @property
    def fluency(self) -> Value:
        """`speech_fluency` of this prediction."""
        return speech_fluency(self.speech_us, self.starved_us)

    @property
    def headroom_p05_ms(self) -> Value:
        """Headroom that 95 % of the later pieces had."""
        return percentile([us / 1_000 for us in self.headroom_us], 5)

    @property
    def good(self) -> bool:
        """No underrun that is noticed, and a reserve; one lone piece needs none."""
        p05 = self.headroom_p05_ms
        return all(underrun.duration_us < NOTICED_US for underrun in self.underruns) and (
            isinstance(p05, Unknown) or p05 >= RESERVE_MS
        )


def speech_underrun(
    pieces: Iterable[tuple[int, int]], chars_per_second: float, lead_us: int
) -> SpeechClock | Unknown:
    """Run the speech clock over ``pieces`` of (arrival in microseconds, characters).

    ``lead_us`` is the time from the arrival of a text to its first sound. A piece that is ready
    after the speech before it has ended is an underrun of the difference.
    """
    if not SLOWEST <= chars_per_second <= FASTEST:
        return Unknown("no plausible speaking rate")
    instants, out_of_order = _instants(pieces)
    if not instants:
        return Unknown("no text")
    first = instants[0][0] + lead_us
    position, spoken = first, 0
    characters = 0
    headroom: list[int] = []
    underruns: list[Underrun] = []
    for index, (arrival, count) in enumerate(instants):
        ready = arrival + lead_us
        if index:
            headroom.append(position - ready)
        if ready > position:
            underruns.append(Underrun(position, ready - position))
            position = ready
        characters += count
        # From the total, so that roundings do not add up and cuts do not matter.
        total = round(characters * 1_000_000 / chars_per_second)
        position += total - spoken
        spoken = total
    return SpeechClock(first, position, tuple(headroom), tuple(underruns), spoken, out_of_order)


def starved_us(arrivals: Iterable[tuple[int, int]], chars_per_second: float, lead_us: int) -> int:
    """Total predicted underrun of ``arrivals`` (microseconds, characters), in microseconds.

    0 for no text. Raises ValueError for what cannot be a speaking rate.
    """
    if not SLOWEST <= chars_per_second <= FASTEST:
        raise ValueError(f"no plausible speaking rate: {chars_per_second}")
    clock = speech_underrun(arrivals, chars_per_second, lead_us)
    return 0 if isinstance(clock, Unknown) else clock.starved_us


def speech_fluency(speech_us: int, underrun_us: int) -> Value:
    """Speech over speech and underruns, in (0, 1]; for the predicted and the measured alike."""
    if speech_us <= 0:
        return Unknown("no speech")
    if underrun_us < 0:
        return Unknown("negative duration")
    return speech_us / (speech_us + underrun_us)


def _instants(pieces: Iterable[tuple[int, int]]) -> tuple[Sequence[tuple[int, int]], int]:
    """Text by the instant of its arrival, in order; and how many pieces were out of order."""
    merged: list[tuple[int, int]] = []
    out_of_order = 0
    for arrival, characters in pieces:
        if characters <= 0:
            continue
        if merged and arrival <= merged[-1][0]:
            out_of_order += arrival < merged[-1][0]
            merged[-1] = (merged[-1][0], merged[-1][1] + characters)
        else:
            merged.append((arrival, characters))
    return merged, out_of_order

"""Which silences a listener heard inside one reply: where in the text, for how long, and why. Pure.

A pause is the whole silence between two sounds of the reply: the silence in the audio, what the
player added to it, and the time in which the player had nothing to play. Its cause comes from the
ledger: an underrun where the player stood still, else the voice itself (authored), unless the words
before it had announced a wait (bridging). Silence before the first and after the last sound of a
reply is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from audio.phrases import mark_between
from voiceagent.conversation.events import WordSpan
from voiceagent.conversation.rules import to_us
from voiceagent.playout import PlayoutLedger, Silence
from voiceagent.rhythm.pauses import Cause, Place

SHORTEST_US = 60_000
"""Shorter ones are fine at any place, and in every "t" and "p"."""
STOOD_US = 10_000
"""An underrun from which the player is why it was silent; below this it lies within two of the
player's blocks."""
_EDGE = 720
"""30 ms: the voice times its words in steps of 25 ms, so a silence this near a word's edge lies
between words."""


@dataclass(frozen=True, slots=True)
class HeardPause:
    """One silence inside a reply; times on the listener's clock."""

    sample: int
    at_us: int
    duration_us: int
    place: Place
    cause: Cause
    underrun_us: int
    stretched_us: int


class PauseFinder:
    """Finds the pauses of a reply as they end. Each is found once."""

    def __init__(self, ledger: PlayoutLedger) -> None:
        self._ledger = ledger
        self._silences = 0
        """How many of the ledger's silences are over or too early to be pauses."""
        self._stops = 0

    def finished(self) -> list[HeardPause]:
        """The pauses that have ended since the last call, in order."""
        ledger, clock = self._ledger, self._ledger.clock
        if not clock.began:
            return []
        spans = sorted([*self._over(), *self._alone()], key=lambda span: span.first)
        found = []
        for span in spans:
            stood = clock.stopped_us(span.first, span.last)
            alone = span.first == span.last  # nothing is added where the audio is not silent
            added = 0 if alone else clock.stretched_us(span.first, self._next(span))
            length = to_us(span.last - span.first) + stood + added
            if span.first > ledger.first_audible and (length >= SHORTEST_US or stood >= STOOD_US):
                found.append(self._pause(span, length, stood, added))
        return found

    def _over(self) -> Iterator[Silence]:
        """Silences in the audio after which something was heard."""
        ledger = self._ledger
        while self._silences < len(ledger.silences):
            silence = ledger.silences[self._silences]
            if ledger.played <= silence.last:
                return
            self._silences += 1
            yield silence

    def _alone(self) -> Iterator[Silence]:
        """Underruns where the audio itself is not silent."""
        stops = self._ledger.clock.stops
        while self._stops < len(stops):
            sample = stops[self._stops].sample
            if self._ledger.played <= sample:
                return
            while self._stops < len(stops) and stops[self._stops].sample == sample:
                self._stops += 1
            if not self._silent(sample):
                yield Silence(sample, sample)

    def _next(self, span: Silence) -> int:
        """Where the next silence begins; a player adds nothing but to silences."""
        later = (s.first for s in self._ledger.silences if s.first > span.first)
        return next(later, self._ledger.total)

    def _silent(self, sample: int) -> bool:
        return any(s.first <= sample <= s.last for s in reversed(self._ledger.silences))

    def _pause(self, span: Silence, length: int, stood: int, added: int) -> HeardPause:
        cause = Cause.UNDERRUN if stood >= STOOD_US else Cause.AUTHORED
        if span.bridges:
            cause = Cause.BRIDGING
        place, at = self._place(span), self._ledger.clock.at(span.first)
        return HeardPause(span.first, at, length, place, cause, stood, added)

    def _place(self, span: Silence) -> Place:
        text, words = self._ledger.around((span.first + span.last) // 2)
        between = _between(words, span)
        if between is None:
            return Place.WORD
        mark = mark_between(text, between[0].end, between[1].start)
        return Place.PHRASE if mark is None else Place(mark.value)


def _between(words: list[WordSpan], span: Silence) -> tuple[WordSpan, WordSpan] | None:
    """The two words that the silence lies between; None inside a word."""
    for before, after in pairwise(words):
        if before.last - _EDGE <= span.last and span.first <= after.first + _EDGE:
            return before, after
    return None

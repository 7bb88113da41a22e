"""The ledger of one reply's audio: which sample speaks which word, what was heard, and when. Pure.

Samples are at 24 kHz, counted from the reply's first. The text side is here; when each sample was
heard is kept by ``playout_clock.py``, and what silences the listener heard by
``playout_pauses.py``, from both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from voiceagent.conversation.events import WordSpan
from voiceagent.playout_clock import PlayoutClock

_WORD = re.compile(r"\S*\w\S*")

Span = tuple[int, int]
"""First and last (exclusive) sample."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The audio of one clause: its text, its length in samples (24 kHz) and its word timings."""

    text: str
    samples: int
    words: tuple[WordSpan, ...]
    silences: tuple[Span, ...] = ()
    """Where in it nothing is to be heard."""
    bridges: bool = False
    """It announces a wait: the silence after it is one that the listener was told of."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Samples of the reply without sound, maybe over the edges of clauses."""

    first: int
    last: int
    bridges: bool = False


class PlayoutLedger:
    """What was voiced and what was played of one reply."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._begins: list[int] = []
        """First sample of each piece."""
        self.silences: list[Silence] = []
        """In order, none touching the next."""
        self.clock = PlayoutClock()
        self.total = 0
        self.played = 0

    def add(self, piece: Piece) -> None:
        """Append the next clause's audio."""
        if not piece.words and piece.samples:
            piece = Piece(piece.text, piece.samples, _estimated(piece), piece.silences)
        for first, last in piece.silences:
            self._add_silence(Silence(self.total + first, self.total + last, piece.bridges))
        self._pieces.append(piece)
        self._begins.append(self.total)
        self.total += piece.samples

    def play_to(self, samples: int) -> None:
        """The listener has heard ``samples``; never goes back, never beyond what exists."""
        self.played = max(self.played, min(samples, self.total))

    def truncate(self, samples: int) -> None:
        """The listener heard no more than ``samples``, whatever was believed (clamped)."""
        self.played = max(0, min(samples, self.total))

    @property
    def remaining(self) -> int:
        """Samples still to be played."""
        return self.total - self.played

    @property
    def first_audible(self) -> int:
        """The first sample that is not silence; 0 when nothing is known of silences."""
        head = self.silences[0] if self.silences else None
        return head.last if head and head.first == 0 and head.last < self.total else 0

    def heard_text(self) -> str:
        """The words whose audio ended at or before the last played sample."""
        heard, begin = "", 0
        for piece in self._pieces:
            end = begin + piece.samples
            if self.played < end:
                return (heard + _heard_of(piece, self.played - begin)).rstrip()
            # A clause without sound (markup, say) counts once the playout has passed it.
            if piece.samples or self.played >= end > 0:
                heard += piece.text
            begin = end
        return heard.rstrip()

    def around(self, sample: int) -> tuple[str, list[WordSpan]]:
        """The text near a sample, and the words in it: of the clause that holds the sample and of
        its neighbours. Each word's characters are those of this text, its samples the reply's."""
        here = max(0, bisect_right(self._begins, sample) - 1)
        text, words = "", list[WordSpan]()
        for index in range(max(0, here - 1), min(len(self._pieces), here + 2)):
            piece, begin, head = self._pieces[index], self._begins[index], len(text)
            if text and not text[-1].isspace() and not piece.text[:1].isspace():
                text, head = f"{text} ", head + 1
            words += [
                WordSpan(w.start + head, w.end + head, w.first + begin, w.last + begin)
                for w in piece.words
            ]
            text += piece.text
        return text, words

    def _add_silence(self, silence: Silence) -> None:
        before = self.silences[-1] if self.silences else None
        if before and before.last >= silence.first:
            bridges = before.bridges or silence.bridges
            self.silences[-1] = Silence(before.first, max(before.last, silence.last), bridges)
        else:
            self.silences.append(silence)


def _estimated(piece: Piece) -> tuple[WordSpan, ...]:
    """Words of a voice that tells no timings: characters in proportion to the sound."""
    tail = piece.silences[-1] if piece.silences else None
    sound = tail[0] if tail and tail[1] == piece.samples else piece.samples
    each = sound / max(1, len(piece.text.rstrip()))
    return tuple(
        WordSpan(*word.span(), round(word.start() * each), min(sound, round(word.end() * each)))
        for word in _WORD.finditer(piece.text)
    )


def _heard_of(piece: Piece, samples: int) -> str:
    ends = [word.end for word in piece.words if word.last <= samples]
    return piece.text[: max(ends, default=0)]

"""The ledger of one reply's audio: which sample speaks which word, and what was heard. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from voiceagent.conversation.events import WordSpan


@dataclass(frozen=True, slots=True)
class Piece:
    """The audio of one clause: its text, its length in samples (24 kHz) and its word timings."""

    text: str
    samples: int
    words: tuple[WordSpan, ...]


class PlayoutLedger:
    """What was voiced and what was played of one reply, in samples at 24 kHz."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self.total = 0
        self.played = 0

    def add(self, piece: Piece) -> None:
        """Append the next clause's audio."""
        self._pieces.append(piece)
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


def _heard_of(piece: Piece, samples: int) -> str:
    if samples <= 0:
        return ""
    if not piece.words:  # no timings: characters in proportion to time, whole words only
        head = piece.text[: len(piece.text) * samples // piece.samples]
        return head.rpartition(" ")[0]
    ends = [word.end for word in piece.words if word.last <= samples]
    return piece.text[: max(ends, default=0)]

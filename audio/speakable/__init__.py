"""What is read aloud: text as a model writes it, into words as a person says them.

`speakable` reads one clause. `SpokenText` reads the clauses of one reply, remembering what is open
across them: a code fence, a `<think>` block, the JSON of a tool call. Both are pure.

The result covers the visible text: tokens in order, not overlapping, each with the stretch of the
clause that it speaks. Markup, URL schemes, emoji, code and reasoning have no token.
"""

from __future__ import annotations

from audio.speakable.blocks import HiddenBlocks
from audio.speakable.markdown import GONE, plain, strip_markup
from audio.speakable.pronunciations import (
    PronunciationError,
    Pronunciations,
    default_pronunciations,
    load_pronunciations,
)
from audio.speakable.reader import Reader
from audio.speakable.token import Token

__all__ = [
    "PronunciationError",
    "Pronunciations",
    "SpokenText",
    "Token",
    "load_pronunciations",
    "speakable",
    "spoken",
]


class SpokenText:
    """The clauses of one reply, in order. Use a new object for each reply."""

    def __init__(self, pronunciations: Pronunciations | None = None) -> None:
        self._reader = Reader(pronunciations or default_pronunciations())
        self._hidden = HiddenBlocks()
        self._line_start = True

    def feed(self, clause: str) -> list[Token]:
        """What to say for the next clause; no tokens if nothing of it is for the ear."""
        text = plain(clause)
        for start, end in self._hidden.hide(text):
            text = text[:start] + " " + GONE * (end - start - 1) + text[end:]
        text = strip_markup(text, self._line_start)
        if clause:
            self._line_start = clause.endswith("\n") or (self._line_start and not clause.strip())
        origin = [i for i, c in enumerate(text) if c != GONE]
        tokens = self._reader.read("".join(text[i] for i in origin))
        return [Token(origin[t.start], origin[t.end - 1] + 1, t.spoken, t.phonemes) for t in tokens]


def speakable(clause: str) -> list[Token]:
    """What to say for a clause that stands alone."""
    return SpokenText().feed(clause)


def spoken(tokens: list[Token]) -> str:
    """The words of `tokens` as one text."""
    return " ".join(t.spoken for t in tokens)

"""Parts thinking from answering where a model writes both into its text, between ``<think>`` tags.

The tags arrive in any number of pieces. Text that may still become a tag is held back until that is
clear. A tag that is never closed makes the rest of the answer thinking.
"""

from __future__ import annotations

from dataclasses import dataclass

_OPEN = ("<think>", "<thinking>")
_CLOSE = ("</think>", "</thinking>")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of either text or thinking, never empty."""

    text: str
    thinking: bool


class ThinkSplitter:
    """Feed it the text of an answer; get the pieces that are certain."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False

    @property
    def holds(self) -> bool:
        """Is some text held back?"""
        return bool(self._held)

    def feed(self, text: str) -> list[Piece]:
        """The pieces that ``text`` makes certain, in order."""
        if not self._held and "<" not in text:
            return [Piece(text, self._thinking)] if text else []
        text, self._held = self._held + text, ""
        pieces: list[Piece] = []
        while True:
            start, tag = self._next_tag(text)
            if tag is None:
                self._held = text[start:]
                self._append(pieces, text[:start])
                return pieces
            self._append(pieces, text[:start])
            # A closing tag without an opening one is dropped: some templates open it in the prompt.
            self._thinking = tag in _OPEN
            text = text[start + len(tag) :]

    def close(self) -> list[Piece]:
        """What was held back: no tag came of it."""
        held, self._held = self._held, ""
        return [Piece(held, self._thinking)] if held else []

    def _append(self, pieces: list[Piece], text: str) -> None:
        if not text:
            return
        if pieces and pieces[-1].thinking == self._thinking:
            text = pieces.pop().text + text
        pieces.append(Piece(text, self._thinking))

    @staticmethod
    def _next_tag(text: str) -> tuple[int, str | None]:
        """Where the next tag starts, and which; or where text begins that may become one."""
        start = text.find("<")
        while start >= 0:
            rest = text[start : start + len("</thinking>")]
            for tag in _OPEN + _CLOSE:
                if rest.startswith(tag):
                    return start, tag
            if start + len(rest) == len(text) and any(t.startswith(rest) for t in _OPEN + _CLOSE):
                return start, None
            start = text.find("<", start + 1)
        return len(text), None

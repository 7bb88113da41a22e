"""An answer that another backend goes on with: what it is asked, and no word twice. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from routing.messages import ChatRequest

_LOOK = 400
"""Characters of the text said so far that are looked for at the beginning of what follows."""
_WORD = re.compile(r"\w+(?:['\u2019.,]\w+)*")

GO_ON = (
    "Your answer was cut off after the words above. Go on from exactly there with what is still "
    "missing. Do not repeat anything and do not begin anew."
)


def continued(request: ChatRequest, said: str, *, prefixes: bool) -> ChatRequest:
    """The request for the rest of an answer of which ``said`` was given to the voice.

    ``prefixes``: the backend goes on with a last message of the assistant. Others are told to.
    """
    if not said.strip():
        return request
    messages = (*request.messages, {"role": "assistant", "content": said.rstrip()})
    if not prefixes:
        messages = (*messages, {"role": "user", "content": GO_ON})
    return replace(request, messages=messages)


class Seam:
    """Joins the rest to what was said: drops what the rest repeats, and keeps words apart.

    A model may go on, begin anew, or take up its last words. What it repeats is the longest run of
    words that begins the rest and either is all that was said, or ends it.
    """

    def __init__(self, said: str, *, exact: bool) -> None:
        """``exact``: the backend goes on with a prefix, so one word in common is no repetition."""
        self._said, self._exact = said, exact
        self._words = [word.lower() for word in _WORD.findall(said[-_LOOK:])]
        self._whole = [word.lower() for word in _WORD.findall(said)]
        self._held = ""
        self._open = bool(self._whole)

    def push(self, text: str) -> str:
        """More of the rest; returns what may be spoken of it."""
        if not self._open:
            return text
        self._held += text
        words = [match[0].lower() for match in _WORD.finditer(self._held)]
        if not self._held[-1:].isspace():
            words = words[:-1]  # the last word may still grow
        if not words or self._may_repeat(words):
            return ""
        return self._settle()

    def close(self) -> str:
        """The rest has ended: what was held back of it."""
        return self._settle() if self._open else ""

    def _may_repeat(self, words: list[str]) -> bool:
        """Could more text still turn out to be a repetition of what was said?"""
        if self._whole[: len(words)] == words:
            return True
        ends = range(len(self._words))
        return any(self._words[i : i + len(words)] == words for i in ends)

    def _repeated(self, words: list[str]) -> int:
        """How many of the first words were said already."""
        if self._whole == words[: len(self._whole)]:
            return len(self._whole)
        longest = min(len(words), len(self._words))
        return next((n for n in range(longest, 0, -1) if self._words[-n:] == words[:n]), 0)

    def _settle(self) -> str:
        held, self._held, self._open = self._held, "", False
        matches = list(_WORD.finditer(held))
        repeated = self._repeated([match[0].lower() for match in matches])
        chance = self._exact or self._said.rstrip()[-1:] in ".!?"
        if repeated == 1 and chance and len(self._whole) > 1:
            repeated = 0
        rest = held[matches[repeated - 1].end() :] if repeated else held
        if repeated:
            rest = rest.lstrip(".,;:!?")
        if not rest.strip():
            return ""
        if self._said[-1:].isspace():
            return rest.lstrip()
        glued = self._said[-1:].isalnum() and rest[:1].isalnum()
        ended = self._said[-1:] in ".,;:!?" and not rest[:1].isspace()
        return f" {rest}" if glued or ended else rest

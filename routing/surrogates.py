"""Makes JSON text valid Unicode: a server may escape one character as two halves, in two chunks."""

from __future__ import annotations


class SurrogateJoiner:
    """Joins halves of a character across chunks; a half without its other becomes U+FFFD."""

    def __init__(self) -> None:
        self._half = ""

    @property
    def holds(self) -> bool:
        """Is half a character held back?"""
        return bool(self._half)

    def feed(self, text: str) -> str:
        """``text`` with whole characters only; a half at its end waits for the next call."""
        if not text:
            return ""
        if not self._half and text.isascii():  # the common case, and quick
            return text
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole_characters(text)

    def close(self) -> str:
        """The half that never found its other."""
        half, self._half = self._half, ""
        return whole_characters(half)


def whole_characters(text: str) -> str:
    """``text`` as valid Unicode: halves side by side are joined, lone ones become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

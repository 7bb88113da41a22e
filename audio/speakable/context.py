# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""What stands around a place in the text: the rules read a word by its neighbours."""

from __future__ import annotations

import re

_BEFORE = re.compile(r"(\S+)\s*$")
_AFTER = re.compile(r"\s*([^\W_]+(?:['’-][^\W_]+)*)")
_REACH = 40
_NO_NOUN = frozenset(
    ["a", "an", "per", "for", "of", "to", "and", "or", "in", "on", "at", "is", "was", "each", "off"]
)


def words(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


def word_before(text: str, at: int) -> str:
    """The chunk before `at`, with its punctuation ("" at the beginning)."""
    found = _BEFORE.search(text, max(0, at - _REACH), at)
    return found[1] if found else ""


def bare_before(text: str, at: int) -> str:
    """The word before `at` in lower case, without punctuation."""
    return word_before(text, at).strip("\"'“”‘’()[].,;:#").lower()


def word_after(text: str, at: int) -> str:
    """The word after `at`, across white space ("" if something else stands there)."""
    found = _AFTER.match(text, at)
    return found[1] if found else ""


def describes(text: str, at: int, end: int) -> bool:
    """Whether `text[at:end]` stands before a noun as an adjective: "a $5 part", "a 24V line"."""
    return bare_before(text, at) in ("a", "an") and before_noun(text, end)


def before_noun(text: str, end: int) -> bool:
    """Whether a word follows that may be what is described."""
    after = word_after(text, end)
    return bool(after) and after not in _NO_NOUN


def ends_here(text: str, at: int) -> bool:
    """Whether nothing but punctuation or a line end follows."""
    return re.match(r"[\"'”’)\]]*\s*(?:$|\n)", text[at : at + _REACH]) is not None

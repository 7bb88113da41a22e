# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Reads visible text word by word: the first rule that knows a word says it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from audio.speakable.abbreviations import read_abbreviation, read_roman
from audio.speakable.acronyms import read_acronym
from audio.speakable.context import ends_here
from audio.speakable.dates import read_date, read_year
from audio.speakable.digits import read_code, read_door_or_ticket, read_phone, read_zip
from audio.speakable.markdown import TIMES
from audio.speakable.money import read_money
from audio.speakable.number_words import digits
from audio.speakable.pronunciations import Pronunciations
from audio.speakable.quantities import read_measure, read_quantity
from audio.speakable.times import read_time
from audio.speakable.token import Reading, Token
from audio.speakable.web import read_web

Rule = Callable[[str, int], Reading | None]
RULES: Sequence[Rule] = (
    read_web,
    read_money,
    read_time,
    read_date,
    read_phone,
    read_door_or_ticket,
    read_measure,
    read_zip,
    read_year,
    read_code,
    read_quantity,
    read_abbreviation,
    read_roman,
    read_acronym,
)
"""In this order: the more of the text a rule needs, the earlier it is asked."""

SYMBOLS = {
    "&": "and", "@": "at", "+": "plus", "=": "equals", "×": "times", TIMES: "times",
    "÷": "divided by",
    "%": "percent", "#": "number", "<": "less than", ">": "more than", "≤": "at most",
    "≥": "at least", "≈": "about", "~": "about", "±": "plus or minus", "°": "degrees", "→": "to",
    "$": "dollars", "€": "euros", "£": "pounds", "µ": "micro", "Ω": "ohms", "√": "square root of",
    "≠": "not equal to", "½": "one half", "¼": "one quarter", "¾": "three quarters",
}  # fmt: skip
_MARK_STRENGTH = ",:;….!?"
_CLOSING = re.compile(rf"[^\w\s'/\\{re.escape(''.join(SYMBOLS))}-]+|'(?!\w)")
_MARKS = re.compile(r"\.{2,}|[,:;….!?—–]")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+|[^\W_]")


class Reader:
    """Turns one stretch of visible text into tokens; indexes are those of the visible text."""

    def __init__(self, pronunciations: Pronunciations) -> None:
        self._pronunciations = pronunciations
        self._tokens: list[Token] = []

    def read(self, text: str) -> list[Token]:
        """Tokens in order; each carries the mark that closes it, if there is one."""
        self._tokens = []
        at = 0
        while at < len(text):
            if text[at] == "\n":
                self._line_end()
                at += 1
            elif text[at].isspace():
                at += 1
            else:
                at = self._word(text, at)
        return self._tokens

    def _word(self, text: str, at: int) -> int:
        reading = self._rule(text, at)
        if reading is None:
            reading = _plain_word(text, at)
        if reading is None:
            return self._sign(text, at)
        self._tokens.append(Token(at, reading.end, reading.spoken, reading.phonemes))
        if text[reading.end - 1] == "." and ends_here(text, reading.end):
            self._mark(".")
        return reading.end

    def _rule(self, text: str, at: int) -> Reading | None:
        inside_word = at > 0 and text[at - 1].isalnum() and (text[at].isalnum() or text[at] in "-−")
        if inside_word:
            return None
        found = self._pronunciations.read(text, at)
        if found is not None:
            return found
        for rule in RULES:
            found = rule(text, at)
            if found is not None and found.end > at and found.spoken:
                return found
        return None

    def _sign(self, text: str, at: int) -> int:
        """Punctuation closes the word before it; other signs are read or passed over."""
        found = _CLOSING.match(text, at)
        if found is not None:
            attached = at > 0 and not text[at - 1].isspace()
            self._punctuation(found.group(), attached)
            if attached and self._tokens:
                last = self._tokens[-1]
                closers = re.match(r"[^\w\s([{“]*", found.group())
                end = at + (closers.end() if closers else 0)
                if last.end == at:
                    self._tokens[-1] = Token(last.start, end, last.spoken, last.phonemes)
            return found.end()
        if text[at] in ">→" and _between_names(text, at):
            self._mark(",")  # "Settings > Network"
            return at + 1
        word = SYMBOLS.get(text[at])
        if word is not None and not _decoration(text, at):
            self._tokens.append(Token(at, at + 1, word))
        elif text[at] == "-" and not text[at - 1 : at].strip() and text[at + 1 : at + 2].isspace():
            if text[:at].rstrip()[-1:].isdigit() and text[at + 1 :].lstrip()[:1].isdigit():
                self._tokens.append(Token(at, at + 1, "minus"))
            else:
                self._mark(",")
        return at + 1

    def _punctuation(self, signs: str, attached: bool) -> None:
        signs = re.sub(r"(?<!\.)\.(?=[,;:])", "", signs)  # "Tom R., who": an abbreviation's own
        for sign in _MARKS.findall(signs):
            if sign.startswith(".."):
                sign = "…"
            self._mark("," if sign in "—–" else sign)
        aside = "(" in signs or (")" in signs and attached)
        if aside and not _MARKS.search(signs):
            self._mark(",")

    def _line_end(self) -> None:
        """A line is a sentence of its own, unless its last word says already how it ends."""
        if self._tokens and self._tokens[-1].spoken[-1] not in ":;…!?":
            self._mark(".")

    def _mark(self, mark: str) -> None:
        """Close the last token with a mark, unless a stronger one does already."""
        if not self._tokens:
            return
        last = self._tokens[-1]
        standing = last.spoken[-1:] if last.spoken[-1:] in _MARK_STRENGTH else ""
        if standing and _MARK_STRENGTH.index(standing) >= _MARK_STRENGTH.index(mark):
            return
        words = last.spoken[: len(last.spoken) - len(standing)]
        if words:
            self._tokens[-1] = Token(last.start, last.end, words + mark, last.phonemes)


def _plain_word(text: str, at: int) -> Reading | None:
    """A word as it is written, or the part of it up to the next sign."""
    found = _WORD.match(text, at)
    if found is None:
        return None
    word = found.group()
    end = found.end()
    if word[0].isdigit():  # superscripts too: "¹" is one
        said = digits("".join(str(unicodedata.digit(c)) for c in word if c.isdigit()))
        return Reading(end, said)
    if end < len(text) and text[end].isdigit() and "-" in word:
        word = word[: word.rindex("-")]  # "mid-1990s": the number is read on its own
        end = at + len(word)
    spoken = unicodedata.normalize("NFKC", word)
    kept = "".join(c for c in spoken if c.isalpha() or c in "'-")
    return Reading(end, kept) if kept.strip("'-") else None


def _between_names(text: str, at: int) -> bool:
    before, after = text[:at].rstrip()[-1:], text[at + 1 :].lstrip()[:1]
    return before.isalpha() and after.isalpha()


def _decoration(text: str, at: int) -> bool:
    """A sign repeated, or with nothing to its right, says nothing: "====", "5 >"."""
    char = text[at]
    if char in "%°$€£½¼¾Ω":
        return False
    if text[at - 1 : at] == char:
        return True
    return not any(c.isalnum() for c in text[at + 1 : at + 12])

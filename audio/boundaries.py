# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Where a clause may end: punctuation, line ends, and the places a person would take a breath.

Pure functions over a string. A decision needs some of the text that follows (the period of "3." may
be the point of "3.14"), so every one of them answers yes, no, or not yet known. At most `LOOKAHEAD`
characters are looked at, and that bound is part of the definition: it makes the answers depend on
the text alone and never on how the text was cut into tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from audio.boundary_words import (
    BEFORE_NUMBER,
    BREATH_BEFORE,
    CAPITAL_MAY_END,
    LEANS_ON_NEXT,
    MAY_END,
    NEVER,
    STARTERS,
)

LOOKAHEAD = 48

_CLOSERS = "\"'”’)\\]*_~`"
_CANDIDATE = re.compile(
    rf"(?P<stop>[.!?…]{{1,24}})[{_CLOSERS}]{{0,24}}"
    rf"|(?P<comma>[,;:]{{1,24}})[{_CLOSERS}]{{0,24}}"
    r"|(?P<dash>—{1,24}|(?<=\s)--(?=[\s\w])|(?<=\w)--(?=\w)|(?<=\s)[-–](?=\s))"
    r"|(?P<line>\n)"
    r"|(?P<aside>(?<=\w)[*_](?=\s))"
)
_MARKED_LINE = re.compile(r"[ \t]*(?:[#>|]|[-*+•]\s|\d{1,3}[.)]\s)")
_LIST_NUMBER = re.compile(r"[ \t]*(?:\d{1,2}|[a-zA-Z])")
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")


class Kind(Enum):
    """What ends at a boundary."""

    SENTENCE = "sentence"
    CLAUSE = "clause"


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place where text can be cut: `cut` characters belong to what ended."""

    cut: int
    kind: Kind


class Undecided(Exception):
    """The text so far does not say yet whether a boundary is there."""


def boundaries(text: str, *, final: bool, line_start: bool) -> Iterator[Boundary]:
    """Yield the boundaries of `text` in order; raise `Undecided` where more text is needed.

    `final` says that nothing follows `text`; `line_start` that it begins a line.
    """
    for match in _CANDIDATE.finditer(text):
        if match.end() == len(text) and not final and match["line"] is None:
            raise Undecided  # the mark may go on, or be the point of a number
        found = _decide(text, match, final, line_start)
        if found is not None:
            yield found


def _decide(text: str, match: re.Match[str], final: bool, line_start: bool) -> Boundary | None:
    start, end = match.span()
    if match["line"] is not None:
        return _line_end(text, start, final, line_start)
    if match["dash"] is not None:
        return _dash(text, start, end, final, line_start)
    if end == len(text):
        return Boundary(end, Kind.SENTENCE if match["stop"] or match["aside"] else Kind.CLAUSE)
    if not text[end].isspace():
        return None
    if match["comma"] is not None:
        return _comma(text, start, end, final)
    cut = _skip_space(text, end, final)
    if cut is None:
        return None
    if match["aside"] is not None:
        return _aside(text, start, cut)
    return _stop(text, match, cut, final, line_start)


def _stop(
    text: str, match: re.Match[str], cut: int, final: bool, line_start: bool
) -> Boundary | None:
    start, end = match.span()
    if text[cut : cut + 1].islower():
        quoted = any(mark in match.group() for mark in "\"”’'")  # '"Stop!" he said'
        if match["stop"] == "." or quoted or "\n" in text[end:cut]:
            return None
        return Boundary(cut, Kind.CLAUSE)
    if match["stop"] == "." and not _period_ends(text, start, cut, final, line_start):
        return None
    return Boundary(cut, Kind.SENTENCE)


def _period_ends(text: str, dot: int, cut: int, final: bool, line_start: bool) -> bool:
    word = _word_before(text, dot)
    if _begins_line(text, dot - len(word), line_start) and _LIST_NUMBER.fullmatch(word):
        return False
    low = word.lower()
    if low in NEVER:
        return False
    nxt = text[cut : cut + 1]
    if low in BEFORE_NUMBER and (nxt.isdigit() or nxt == "#"):
        return False
    if low == "no":
        return True
    initial = len(word) == 1 and word.isalpha()
    abbreviation = low in MAY_END or low in BEFORE_NUMBER or word in CAPITAL_MAY_END
    if not (initial or abbreviation or _DOTTED.fullmatch(word)):
        return True
    street = _word_before(text, dot - len(word) - 1)[:1]
    if low == "st" and not (street.isupper() or street.isdigit()):
        return nxt == ""  # "in St. Louis", not "12 Main St."
    return nxt == "" or _starts_sentence(text, cut, final)


def _starts_sentence(text: str, at: int, final: bool) -> bool:
    word = _WORD.match(text, at, at + LOOKAHEAD)
    if word is None:
        return False
    if word.end() == len(text) and not final:
        raise Undecided
    return word.group().lower().replace("’", "'") in STARTERS


def _comma(text: str, start: int, end: int, final: bool) -> Boundary | None:
    if _inside_link(text, start):
        return None
    if start and text[start - 1].isdigit() and text[start] == ",":
        cut = _skip_space(text, end, final)  # "Jan 1, 1980" is one date
        if cut is None or text[cut : cut + 1].isdigit():
            return None
    return Boundary(end + 1, Kind.CLAUSE)


def _dash(text: str, start: int, end: int, final: bool, line_start: bool) -> Boundary | None:
    if _begins_line(text, start, line_start) or _inside_link(text, start):
        return None
    before = text[:start].rstrip()
    if before[-1:].isdigit():
        cut = _skip_space(text, end, final)
        if cut is None or text[cut : cut + 1].isdigit():
            return None
    return Boundary(end, Kind.CLAUSE)


def _line_end(text: str, at: int, final: bool, line_start: bool) -> Boundary | None:
    line = text.rfind("\n", 0, at) + 1
    marked = (line > 0 or line_start) and _MARKED_LINE.match(text, line, at)
    if not marked and text[at + 1 : at + 2] != "\n":
        cut = _skip_space(text, at + 1, final)
        if cut is not None and text[cut : cut + 1].islower():
            return None  # a line wrapped in mid-sentence
    return Boundary(at + 1, Kind.SENTENCE)


def _aside(text: str, start: int, cut: int) -> Boundary | None:
    """`*Holds out hand* Nice to meet you.`: a whole sentence set in italics."""
    opened = text[:start].lstrip()
    mark = text[start]
    alone = opened.startswith(mark) and opened.count(mark) == 1
    a_sentence = opened[1:2].isupper() and " " in opened
    if alone and a_sentence and text[cut : cut + 1].isupper():
        return Boundary(cut, Kind.SENTENCE)
    return None


def _skip_space(text: str, at: int, final: bool) -> int | None:
    """Index of the next visible character, None if too far away."""
    window = text[at : at + LOOKAHEAD]
    space = len(window) - len(window.lstrip())
    if space < len(window):
        return at + space
    if at + space == len(text) and final:
        return len(text)
    if len(window) == LOOKAHEAD:
        return None
    raise Undecided


def _word_before(text: str, at: int) -> str:
    chunk = text[max(0, at - LOOKAHEAD) : max(0, at)].rsplit(None, 1)
    if not chunk or text[at - 1 : at].isspace():
        return ""
    return chunk[-1].lstrip("\"'“‘([*_")


def _begins_line(text: str, at: int, line_start: bool) -> bool:
    line = text.rfind("\n", 0, at) + 1
    return (line > 0 or line_start) and not text[line:at].strip()


def _inside_link(text: str, at: int) -> bool:
    opened = text.rfind("[", 0, at)
    return opened >= 0 and "]" not in text[opened:at]


def word_edges(text: str) -> list[int]:
    """Indexes after which a word has certainly ended: behind each run of white space, at the end
    behind a mark that cannot be part of a word."""
    edges = [m.end() for m in re.finditer(r"(?<=\S)\s+", text)]
    if re.search(r"(?:^|\s)[^\W\d_]+(?:['’-][^\W\d_]+)*[,;:!?]$", text):
        edges.append(len(text))
    return edges


def can_cut(text: str, edge: int) -> bool:
    """Whether a cut at a word edge leaves numbers, names and links whole."""
    before = text[:edge].split()
    after = text[edge:].lstrip()
    if not before or _inside_link(text, edge):
        return False
    last = before[-1]
    number_goes_on = last[-1].isdigit() or last[-1] in "#$€£" or last.rstrip(",").isdigit()
    abbreviated = last.endswith(".") and last[:-1].lower() in NEVER | BEFORE_NUMBER | {"st"}
    named = after[:1].isdigit() and (last[0].isupper() or last[-1] in ",(+-")  # "Jan | 1"
    return not (number_goes_on or abbreviated or named)


def breath_at(text: str, edge: int) -> bool:
    """Whether a speaker could pause at this word edge without sounding broken."""
    before = text[:edge].split()
    if before and before[-1][-1] in ",;:.!?…—":
        return True
    if before and before[-1].lower().strip("\"'“”") in LEANS_ON_NEXT:
        return False
    following = _WORD.match(text, edge)
    return following is not None and following.group().lower() in BREATH_BEFORE


def leans_on_next(text: str, edge: int) -> bool:
    """Whether the word before the edge belongs to the word after it ("the | house")."""
    before = text[:edge].split()
    return bool(before) and before[-1].lower().strip("\"'“”*_") in LEANS_ON_NEXT

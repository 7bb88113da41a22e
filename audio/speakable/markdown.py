# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Marks for the eye taken out of a text, without moving a character.

Every step returns a string of the same length, in which what is not read is `GONE`; so an index in
the result is an index in the source. Marks that only separate become spaces, commas or line ends.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable

from audio.speakable.context import words

GONE = "\0"
TIMES = "∗"
"""A star that multiplies (a cross would also be the sign between two sides: "2 by 4")."""

_PLAIN = (
    dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u201b"), "'")
    | dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"')
    | dict.fromkeys(map(ord, "\t\r\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"), " ")
    | dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2043"), "-")
    | dict.fromkeys(map(ord, "\u2028\u2029\u000b\u000c"), "\n")
    | {
        0x2015: "\u2014",
        0xFF0C: ",",
        0x3002: ".",
        0xFF01: "!",
        0xFF1F: "?",
        0xFF1A: ":",
        0xFF1B: ";",
    }
)
_LINK = re.compile(
    r"!?\[(?P<label>[^\[\]\n]*)\](?P<target>\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])"
)
_DANGLING_LINK = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)?")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?|\[\d{1,3}(?:, ?\d{1,3})*\](?!\()|【[^】]*】")
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,6}|#x[0-9A-Fa-f]{1,5});")
_BREAK_TAG = re.compile(r"<(?:br|/p|/li|/h[1-6]|/div|hr)\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z](?:[^<>:@]|:(?!//))*>")
_AUTOLINK = re.compile(r"<(?=(?:https?://|mailto:|[\w.+-]+@)[^<>\s]+>)|(?<=\S)>(?=[\s.,;:!?)]|$)")
_RULER = re.compile(r"^[ ]*(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,}|={3,})$", re.MULTILINE)
_TABLE_RULER = re.compile(
    r"^[ ]*\|?[ ]*:?-{2,}:?[ ]*(?:\|[ ]*:?-{2,}:?[ ]*)*\|?[ ]*$", re.MULTILINE
)
_TABLE_ROW = re.compile(r"^[ ]*\|.*$", re.MULTILINE)
_LINE_MARK = re.compile(
    r"(?P<heading>#{1,6})(?=\s)|(?P<quote>>+[ ]?)|(?P<bullet>[-*+•·◦▪‣](?=[ ]))"
    r"(?:[ ]+\[[ xX]\](?=[ ]))?"
    r"|(?P<number>\d{1,2}[.)](?=[ ]+\S))"
)
_MARKED = re.compile(r"[ ]*(?:[#>|]|[-*+•·◦▪‣][ ]|\d{1,2}[.)][ ])")
_INNER_HEADING = re.compile(r"(?<=\s)#{1,6}(?=\s+[^\W\d])|(?<=\w)[ ]+#+[ ]*(?=\n|$)")
_TITLED_LINK = re.compile(
    r"^[ ]*(?:[-*+•]|\d{1,2}[.)])[ ]+\w+(?P<gap>[ ])(?=\[[^\[\]\n]*\]\([^()\n]*\)[ ]*(?:\n|$))",
    re.MULTILINE,
)
_NOT_A_TITLE = words(
    "see visit call read check open use click try at the a an our your to on in or"
)
_ASIDE = re.compile(
    r"(?:^|(?<=[.!?\n][ ])|(?<=\n))(?P<m>[*_])[A-Z][^*_\n]*[ ][^*_\n]*\w"
    r"(?P<end>(?P=m))(?=[ ]+[A-Z]|\s*$)"
)
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_BOLD = re.compile(r"\*{2,}|_{2,}(?!\w)|(?<!\w)_{2,}|~{2,}|={2,}(?=\w)|(?<=\w)={2,}(?!\w)|\|\|")
_STAR = re.compile(r"\*")
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_KEYCAP = re.compile(r"[0-9#*]\ufe0f?\u20e3")


def blank(text: str, pattern: re.Pattern[str], put: str = "") -> str:
    """Replace each match by `put` and fill up with `GONE` to the same length."""
    return pattern.sub(lambda m: put + GONE * (len(m.group()) - len(put)), text)


def _keep(text: str, pattern: re.Pattern[str], group: str) -> str:
    def only(found: re.Match[str]) -> str:
        start, end = found.start(group) - found.start(), found.end(group) - found.start()
        whole = found.group()
        return GONE * start + whole[start:end] + GONE * (len(whole) - end)

    return pattern.sub(only, text)


def plain(text: str) -> str:
    """One kind of quote, space, hyphen and digit."""
    text = text.replace(GONE, " ").translate(_PLAIN)
    return "".join(
        str(unicodedata.decimal(c)) if not c.isascii() and c.isdecimal() else c for c in text
    )


def strip_markup(text: str, line_start: bool) -> str:
    """`text` with markdown and HTML marks replaced by `GONE`, of the same length."""
    text = _entities(_soft_wraps(text, line_start))
    for step in _LINE_STEPS:
        text = step(text)
    text = _line_marks(text, line_start)
    for step in _INLINE_STEPS:
        text = step(text)
    return text.replace("`", GONE)


def _entities(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        char = html.unescape(found.group())
        if len(char) != 1 or char == GONE:
            return found.group()
        return plain(char) + GONE * (len(found.group()) - 1)

    return _ENTITY.sub(one, text)


def _soft_wraps(text: str, line_start: bool) -> str:
    """A single line end before a small letter is only the width of a page, unless it ends a line
    of its own kind (a heading, an item, a quotation, a row)."""
    lines = text.split("\n")
    joined = lines[0]
    for i, line in enumerate(lines[1:]):
        above = lines[i]
        marked = (i > 0 or line_start) and _MARKED.match(above)
        wraps = line[:1].islower() and above.strip() and not marked
        joined += (" " if wraps else "\n") + line
    return joined


def _titled_links(text: str) -> str:
    """A list of names with a link each: "1. Carrier [web site](...)" is a name, a stop, a link."""

    def one(found: re.Match[str]) -> str:
        line = found.group()
        if line.split()[-1].lower() in _NOT_A_TITLE:
            return line
        return line[:-1] + "\n"

    return _TITLED_LINK.sub(one, text)


def _table_rows(text: str) -> str:
    def row(found: re.Match[str]) -> str:
        cells = found.group()
        inner = cells.strip(" |")
        left = cells.index(inner) if inner else len(cells)
        right = left + len(inner)
        return " " * left + inner.replace("|", ",") + " " * (len(cells) - right)

    return _TABLE_ROW.sub(row, text)


def _line_marks(text: str, line_start: bool) -> str:
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if i or line_start:
            lines[i] = _without_marks(line)
    return "\n".join(lines)


def _without_marks(line: str) -> str:
    at = 0
    for _ in range(4):  # "> - [ ] # x": marks nest, but not for ever
        while at < len(line) and line[at] in (" ", GONE):
            at += 1
        found = _LINE_MARK.match(line, at)
        if found is None:
            break
        line = line[:at] + GONE * (found.end() - at) + line[found.end() :]
        at = found.end()
    return line


def _asides(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        return GONE + found.group()[1:-1] + "."

    return _ASIDE.sub(one, text)


def _stars(text: str) -> str:
    """A star between numbers or spaces multiplies; any other is emphasis."""

    def one(found: re.Match[str]) -> str:
        before, after = text[: found.start()][-1:], text[found.end() : found.end() + 1]
        spaced = (not before or before.isspace()) and (not after or after.isspace())
        product = before.isdigit() and after.isdigit()
        operand = text[: found.start()].rstrip()[-1:], text[found.end() :].lstrip()[:1]
        if product or (spaced and operand[0].isalnum() and operand[1].isalnum()):
            return TIMES
        return GONE

    return _STAR.sub(one, text)


_LINE_STEPS: tuple[Callable[[str], str], ...] = (
    lambda t: blank(t, _KEYCAP),
    lambda t: blank(t, _BREAK_TAG, "\n"),
    lambda t: blank(t, _TAG),
    lambda t: blank(t, _AUTOLINK),
    lambda t: blank(t, _RULER),
    lambda t: blank(t, _TABLE_RULER),
    _table_rows,
    _titled_links,
    _asides,
)
_INLINE_STEPS: tuple[Callable[[str], str], ...] = (
    lambda t: blank(t, _INNER_HEADING),
    lambda t: blank(t, _FOOTNOTE),
    lambda t: _keep(t, _LINK, "label"),
    lambda t: blank(t, _DANGLING_LINK),
    lambda t: blank(t, _ESCAPE),
    lambda t: blank(t, _BOLD),
    _stars,
    lambda t: blank(t, _EDGE_UNDERSCORE),
)

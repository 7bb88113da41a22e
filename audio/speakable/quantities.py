# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Counted and measured things: cardinals, ordinals, percentages, units, fractions, ranges."""

from __future__ import annotations

import re

from audio.speakable.context import bare_before, before_noun, describes, words
from audio.speakable.dates import MONTHS
from audio.speakable.number_words import cardinal, house_number, is_one, number, ordinal
from audio.speakable.token import Reading
from audio.speakable.units import UNIT_PATTERN, UNITS

NUM = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
_FRACTION_CHARS = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅜": (3, 8),
    "⅝": (5, 8), "⅞": (7, 8), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6),
}  # fmt: skip
_FRACTION = rf"(?:(?<!\d)\d{{1,2}}[/⁄]\d{{1,2}}|[{''.join(_FRACTION_CHARS)}])"
_SIGN = r"(?P<sign>[-−+]|\+/-|±)?"
_MIXED = rf"(?:(?P<whole>\d+)[ -]?(?P<part>{_FRACTION})|(?P<alone>{_FRACTION}))"
_END = r"(?![\w%°]|[.,:/]\d)"
_MEASURE = re.compile(
    rf"{_SIGN}(?:{_MIXED}|(?P<low>{NUM})(?:[ ]?(?:[-–—]|to)[ ]?(?P<high>{NUM}))?)"
    rf"(?:(?P<link>[ -]?)(?P<unit>{UNIT_PATTERN}))"
)
_FEET_INCHES = re.compile(
    rf"(?P<feet>\d+)['′][ -]?(?:(?P<inches>\d+)(?![/⁄])"
    rf"(?:[ -]?(?P<p1>{_FRACTION}))?|(?P<p2>{_FRACTION}))[\"″]"
)
_PERIOD_GOES_ON = re.compile(r"\.(?=\s+[a-z(])")
_EITHER = re.compile(rf"(?P<a>\d{{3}})/(?P<b>\d{{3}})(?P<link>[ -]?)(?P<unit>{UNIT_PATTERN})")
_OPEN_QUOTE = re.compile(r"(?:^|[\s(])([\"'])(?:(?!\1).)*$")
_FRACTION_ONLY = re.compile(rf"{_MIXED}{_END}")
_PERCENT = re.compile(rf"{_SIGN}(?P<low>{NUM})(?:[ ]?%?[ ]?(?:[-–—]|to)[ ]?(?P<high>{NUM}))?[ ]?%")
_RANGE = re.compile(rf"(?P<low>{NUM})(?:[-–—]|[ ][–—][ ])(?P<high>{NUM}){_END}")
_ORDINAL = re.compile(r"(?P<n>\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th)(?!\w)")
_DIMENSION = re.compile(rf"(?P<a>{NUM})[ ]?[x×][ ]?(?P<b>{NUM})(?:[ ]?[x×][ ]?(?P<c>{NUM}))?{_END}")
_TIMES = re.compile(rf"(?P<n>{NUM})x(?!\w)")
_RATIO = re.compile(r"(?P<a>\d{1,4}):(?P<b>\d{1,4})(?![\w:])")
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){2,}(?!\w)")
_PLAIN = re.compile(rf"{_SIGN}(?P<n>{NUM})(?![\w])")
_SIGNS = {
    "-": "minus ",
    "−": "minus ",
    "+": "plus ",
    "±": "plus or minus ",
    "+/-": "plus or minus ",
}
_DATED = words("on by until till since before after from dated")
_SAID_AS_FRACTION = frozenset({2, 3, 4, 5, 6, 8, 10, 16, 32, 64})
_DENOMINATORS = {2: ("half", "halves"), 4: ("quarter", "quarters")}


def read_measure(text: str, at: int) -> Reading | None:
    """A number with its unit, percent sign or ending, or a range of them."""
    if found := _PERCENT.match(text, at):
        return Reading(found.end(), f"{_sign(found)}{_span(found)} percent")
    if found := _ORDINAL.match(text, at):
        return Reading(found.end(), ordinal(int(found["n"].replace(",", ""))))
    if found := _DIMENSION.match(text, at):
        sides = [found["a"], found["b"], found["c"]]
        return Reading(found.end(), " by ".join(number(s) for s in sides if s))
    if found := _TIMES.match(text, at):
        return Reading(found.end(), f"{number(found['n'])} times")
    if found := _EITHER.match(text, at):  # "208/230V"
        return Reading(found.end(), _either(found))
    if found := _FEET_INCHES.match(text, at):
        return Reading(found.end(), _feet_inches(found))
    if found := _MEASURE.match(text, at):
        quoted = found["unit"] in "\"'" and _OPEN_QUOTE.search(text, 0, at)
        if not quoted:  # in `press "5"` the sign closes a quotation
            short = _PERIOD_GOES_ON.match(text, found.end())  # "3 sec. until it blinks"
            end = short.end() if short and found["unit"].isalpha() else found.end()
            adjective = found["link"] == "-" or describes(text, at, found.end())
            if found["alone"]:  # "a 1/2\" fitting", but "1/2\" off"
                adjective = adjective or before_noun(text, found.end())
            return Reading(end, _measure(found, adjective))
    return None


def read_quantity(text: str, at: int) -> Reading | None:
    """Any other number."""
    if found := _FRACTION_ONLY.match(text, at):
        return Reading(found.end(), _mixed(found, dated=bare_before(text, at) in _DATED))
    if found := _RANGE.match(text, at):
        return Reading(found.end(), _span(found))
    if found := _RATIO.match(text, at):
        return Reading(found.end(), f"{number(found['a'])} to {number(found['b'])}")
    if found := _DOTTED.match(text, at):
        groups = found.group().split(".")
        return Reading(
            found.end(), (" dot " if len(groups) > 3 else " point ").join(map(number, groups))
        )
    if found := _PLAIN.match(text, at):
        return Reading(found.end(), _sign(found) + number(found["n"]))
    return None


def _sign(found: re.Match[str]) -> str:
    return _SIGNS.get(found["sign"] or "", "")


def _span(found: re.Match[str]) -> str:
    low = number(found["low"])
    return f"{low} to {number(found['high'])}" if found["high"] else low


def _feet_inches(found: re.Match[str]) -> str:
    feet = f"{cardinal(int(found['feet']))} {'foot' if found['feet'] == '1' else 'feet'}"
    part = found["p1"] or found["p2"]
    inches = _with_fraction(found["inches"], part) if part else cardinal(int(found["inches"]))
    return f"{feet} {inches} {'inch' if found['inches'] == '1' and not part else 'inches'}"


def _either(found: re.Match[str]) -> str:
    one, many = UNITS[found["unit"]]
    pair = f"{house_number(found['a'])}, {house_number(found['b'])}"
    return f"{pair} {one if found['link'] == '-' else many}"


def _measure(found: re.Match[str], adjective: bool) -> str:
    one, many = UNITS[found["unit"]]
    if found["low"]:
        singular = is_one(found["low"]) and not found["high"]
        return f"{_sign(found)}{_span(found)} {one if singular or adjective else many}"
    amount = _with_fraction(found["whole"], found["part"] or found["alone"])
    if adjective:
        amount = amount.removesuffix("s")  # "a three quarter inch valve"
    if found["whole"] or adjective:
        return f"{_sign(found)}{amount} {one if adjective else many}"
    if " over " in amount:  # "a 45/5 µF capacitor"
        return f"{_sign(found)}{amount} {many}"
    return f"{_sign(found)}{amount} of {'an' if one[0] in 'aeio' else 'a'} {one}"


def _mixed(found: re.Match[str], *, dated: bool) -> str:
    """A fraction, unless nobody would say it as one: then "12/1" is a day."""
    part = found["part"] or found["alone"]
    top, bottom = _parts(part)
    fraction = 0 < top < bottom and bottom in _SAID_AS_FRACTION
    if found["whole"] is None and (dated or not fraction) and 1 <= top <= 12 and 1 <= bottom <= 31:
        return f"{MONTHS[top - 1]} {ordinal(bottom)}"
    return _with_fraction(found["whole"], part)


def _with_fraction(whole: str | None, part: str) -> str:
    top, bottom = _parts(part)
    if top == bottom and not whole:
        return f"{cardinal(top)} {cardinal(bottom)}"  # "50/50"
    if not 0 < top < bottom:
        words = f"{cardinal(top)} over {cardinal(bottom)}"
        return f"{number(whole)} {words}" if whole else words
    one, many = _DENOMINATORS.get(bottom, (ordinal(bottom), ordinal(bottom) + "s"))
    if not whole:
        return f"{cardinal(top)} {one if top == 1 else many}"
    few = "a" if top == 1 and bottom in (2, 3, 4) else cardinal(top)
    return f"{number(whole)} and {few} {one if top == 1 else many}"


def _parts(part: str) -> tuple[int, int]:
    if part in _FRACTION_CHARS:
        return _FRACTION_CHARS[part]
    top, bottom = re.split("[/⁄]", part)
    return int(top), int(bottom)

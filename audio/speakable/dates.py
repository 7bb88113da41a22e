# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Dates, years, decades and the short names of months and days."""

from __future__ import annotations

import re

from audio.speakable.number_words import cardinal, ordinal, year
from audio.speakable.token import Reading

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH_OF = {m[:3].lower(): m for m in MONTHS}
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAYS = {day[:3].lower(): day for day in _WEEK}
_MONTH = (
    r"(?P<month>" + "|".join(MONTHS) + r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>1[1-9]\d\d|20\d\d)"
_END = r"(?![\w:%/]|[.,]\d)"
_MONTH_DAY = re.compile(
    rf"{_MONTH} {_DAY}(?:[ ]?[-–—][ ]?(?P<to>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)?)?{_END}"
    rf"(?:,? {_YEAR}{_END})?"
)
_MONTH_YEAR = re.compile(rf"{_MONTH},? {_YEAR}(?![\w:%/]|[.,]\d)")
_DAY_MONTH = re.compile(rf"(?P<the>the )?{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?(?![\w:%/]|[.,]\d)")
_ISO = re.compile(r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\w-])")
_SLASHED = re.compile(
    r"(?P<a>\d{1,2})(?P<s>[/.-])(?P<b>\d{1,2})(?P=s)(?P<year>\d{4}|\d{2})(?![\w/-]|\.\d)"
)
_SHORT_MONTH = re.compile(r"(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?!\w)")
_SHORT_DAY = re.compile(
    r"(Mon|Tues?|Wed|Thu|Thurs?|Fri)\b\.?(?![\w'’])|(Sat|Sun)(?:\.(?=\s*\S)|(?=\s?[-–—,]))"
)
_DAY_SPAN = re.compile(
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?[ ]?[-–—][ ]?"
    r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\b\.?"
)
_YEARS = re.compile(rf"{_YEAR}(?:[ ]?[-–—][ ]?(?P<to>1[1-9]\d\d|20\d\d))?(?![\w%/-]|[.,:]\d)")
_DECADE = re.compile(
    r"(?:(?P<century>1\d|20)|['’])?(?P<tens>[1-9])0['’]?s(?!\w)|(?P<thousand>20|1[1-9])00s(?!\w)"
)


def read_date(text: str, at: int) -> Reading | None:
    """A full or partial date, a decade, a short month or day."""
    for pattern, say in _READERS:
        if (found := pattern.match(text, at)) and (spoken := say(found)):
            return Reading(found.end(), spoken)
    return None


def read_year(text: str, at: int) -> Reading | None:
    """Four bare digits from 1100 to 2099, or a span of them."""
    found = _YEARS.match(text, at)
    if found is None:
        return None
    spoken = year(int(found["year"]))
    if found["to"]:
        spoken += f" to {year(int(found['to']))}"
    return Reading(found.end(), spoken)


def _month(name: str) -> str:
    return _MONTH_OF[name[:3].lower()]


def _with_year(words: str, digits: str | None) -> str:
    return f"{words}, {year(int(digits))}" if digits else words


def _month_day(found: re.Match[str]) -> str:
    words = f"{_month(found['month'])} {ordinal(int(found['day']))}"
    if found["to"]:
        words += f" to {ordinal(int(found['to']))}"
    return _with_year(words, found["year"])


def _month_year(found: re.Match[str]) -> str:
    return f"{_month(found['month'])} {year(int(found['year']))}"


def _day_month(found: re.Match[str]) -> str:
    words = f"the {ordinal(int(found['day']))} of {_month(found['month'])}"
    return _with_year(words, found["year"])


def _iso(found: re.Match[str]) -> str:
    words = f"{MONTHS[int(found['month']) - 1]} {ordinal(int(found['day']))}"
    return _with_year(words, found["year"])


def _slashed(found: re.Match[str]) -> str:
    month, day = int(found["a"]), int(found["b"])
    if month > 12:
        month, day = day, month  # written day first
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    digits = found["year"]
    if len(digits) == 2:
        digits = ("19" if int(digits) > 50 else "20") + digits
    return _with_year(f"{MONTHS[month - 1]} {ordinal(day)}", digits)


def _short_month(found: re.Match[str]) -> str:
    return _month(found[1])


def _short_day(found: re.Match[str]) -> str:
    return _DAYS[(found[1] or found[2])[:3].lower()]


def _day_span(found: re.Match[str]) -> str:
    return f"{_DAYS[found[1].lower()]} to {_DAYS[found[2].lower()]}"


def _decade(found: re.Match[str]) -> str:
    if found["thousand"]:
        century = int(found["thousand"])
        return "two thousands" if century == 20 else f"{cardinal(century)} hundreds"
    tens = cardinal(int(found["tens"]) * 10)
    tens = tens[:-1] + "ies" if tens.endswith("y") else tens + "s"
    return f"{cardinal(int(found['century']))} {tens}" if found["century"] else tens


_READERS = (
    (_ISO, _iso),
    (_SLASHED, _slashed),
    (_MONTH_DAY, _month_day),
    (_MONTH_YEAR, _month_year),
    (_DAY_MONTH, _day_month),
    (_DECADE, _decade),
    (_DAY_SPAN, _day_span),
    (_SHORT_MONTH, _short_month),
    (_SHORT_DAY, _short_day),
)

# ruff: noqa: RUF001, RUF002 (typographic quotes, dashes and signs are what this file reads)
"""Times of day and spans of them: "8:00", "3:30 p.m.", "9–11 AM", "24/7"."""

from __future__ import annotations

import re

from audio.speakable.number_words import cardinal
from audio.speakable.token import Reading

_HALF = r"(?:[ ]?(?P<{0}>[AaPp])(?:\.[ ]?[Mm]\.|[ ]?[Mm]\b))"
_CLOCK = r"(?P<h{0}>[01]?\d|2[0-4]):(?P<m{0}>[0-5]\d)(?::(?P<s{0}>[0-5]\d))?"
_HOUR = r"(?P<o{0}>1[0-2]|[1-9])"
_ONE = re.compile(
    rf"(?:{_CLOCK.format(1)}{_HALF.format('p')}?|{_HOUR.format(1)}{_HALF.format('q')})(?![\w:])"
)
_SPAN = re.compile(
    rf"(?:{_CLOCK.format(1)}|{_HOUR.format(1)}){_HALF.format('p')}?[ ]?(?:[-–—]|to)[ ]?"
    rf"(?:{_CLOCK.format(2)}|{_HOUR.format(2)}){_HALF.format('q')}?(?![\w:])"
)
_ALWAYS = re.compile(r"24/7(?![\w/])")


def read_time(text: str, at: int) -> Reading | None:
    """A time of day, or from one to another."""
    if found := _ALWAYS.match(text, at):
        return Reading(found.end(), "twenty four seven")
    if (found := _SPAN.match(text, at)) and _is_span(found):
        return Reading(found.end(), _span(found))
    if found := _ONE.match(text, at):
        half = found["p"] or found["q"]
        spoken = _time(found["h1"] or found["o1"], found["m1"], found["s1"], half)
        return Reading(found.end(), spoken)
    return None


def _is_span(found: re.Match[str]) -> bool:
    """ "9-11" alone is a range of anything; a colon or a half of the day makes it a time."""
    return bool(found["p"] or found["q"] or (found["m1"] and found["m2"]))


def _span(found: re.Match[str]) -> str:
    first, second = found["p"], found["q"]
    start = _time(found["h1"] or found["o1"], found["m1"], found["s1"], first, bare=bool(second))
    return f"{start} to {_time(found['h2'] or found['o2'], found['m2'], found['s2'], second)}"


def _time(
    hour: str, minute: str | None, second: str | None, half: str | None, *, bare: bool = False
) -> str:
    words = cardinal(int(hour))
    minutes = int(minute or 0)
    if minutes:
        words += f" {'oh ' if minutes < 10 else ''}{cardinal(minutes)}"
    elif minute and not half and not bare:
        words += " o clock" if 1 <= int(hour) <= 12 else " hundred"
    if second and int(second):
        words += f" and {cardinal(int(second))} second{'' if int(second) == 1 else 's'}"
    return f"{words} {half.upper()} M" if half else words

# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Numbers that are names: telephone numbers, ZIP codes, serials and models, doors and tickets.

Letters are spelled. Digits are read one by one, because that is what a listener can write down;
only a lone run of one or two digits is a number ("R-22", "MERV 13", "Unit 4B"). A hyphen is a short
pause.
"""

from __future__ import annotations

import re

from audio.speakable.context import bare_before, word_after, words
from audio.speakable.number_words import cardinal, digits, house_number
from audio.speakable.token import Reading

_PHONE = re.compile(
    r"(?:\+?1[-. ])?(?:\(\d{3}\)[ ]?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w-])|\d{3}-\d{4}(?![\w-])"
    r"|\+\d{1,3}(?:[-. ]?\(?\d{2,4}\)?){2,5}(?![\w-])|\d{10}(?!\w)"
)
_GROUPED = re.compile(r"\d+(?:-\d+){2,}(?![\w-])")
_ZIP = re.compile(r"\d{5}(?:-\d{4})?(?![\w-]|[.,:/]\d)")
_CODE = re.compile(r"[A-Za-z0-9]+(?:[-/.][A-Za-z0-9]+)*(?![\w@]|[-/]\w)")
_RUN = re.compile(r"[A-Za-z]+|\d+")
_ADDRESS = re.compile(
    r"\d{1,5}(?= (?:[NSEW]{1,2}\.? )?(?:\d{1,3}(?:st|nd|rd|th) )?(?:[A-Z][\w'’]+ ){0,3}"
    r"(?:St|Ave|Blvd|Rd|Dr|Ln|Ct|Pl|Hwy|Pkwy|Street|Avenue|Boulevard|Road|Drive|Lane|Court|Place|"
    r"Way|Circle|Terrace|Highway|Parkway|Square|Trail)\b)"
)
_BARE = re.compile(r"\d{1,12}(?![\w%°$]|[.,:/-]\d)")
_DOORS = words("apt apartment suite ste room rm unit floor box building bldg gate bay")
_NAMED = words(
    "code pin passcode extension ext ticket order case model serial account confirmation error zip "
    "id reference ref invoice job customer part sku lot badge permit policy claim number no fault"
)
_COUNTED = words(
    "dollars people hours minutes miles feet units gallons pounds customers watts euros cycles"
)
_SHORT_CALL = re.compile(r"[2-9]11")
_CALLED = words("call dial text phone ring")
_DOOR_LETTER = re.compile(r"(\d{1,5})-?([A-Z])(?![\w-])")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


def read_phone(text: str, at: int) -> Reading | None:
    """Telephone numbers and other groups of digits joined by hyphens."""
    found = _PHONE.match(text, at) or _GROUPED.match(text, at)
    if found is None:
        return None
    groups = re.findall(r"\d+", found.group())
    if len(groups) == 1 and len(groups[0]) == 10:
        number = groups[0]
        groups = [number[:3], number[3:6], number[6:]]
    return Reading(found.end(), ", ".join(digits(g) for g in groups))


def read_zip(text: str, at: int) -> Reading | None:
    """Five bare digits."""
    found = _ZIP.match(text, at)
    if found is None or word_after(text, found.end()) in _COUNTED:
        return None
    return Reading(found.end(), ", ".join(digits(g) for g in found.group().split("-")))


def read_door_or_ticket(text: str, at: int) -> Reading | None:
    """A bare number that the words around it make a name."""
    if found := _ADDRESS.match(text, at):
        return Reading(found.end(), house_number(found.group()))
    before = bare_before(text, at)
    if (before in _DOORS or before in _NAMED) and (found := _DOOR_LETTER.match(text, at)):
        return Reading(found.end(), f"{house_number(found[1])} {found[2]}")
    found = _BARE.match(text, at)
    if found is None:
        return None
    number = found.group()
    if number == "911" or (_SHORT_CALL.fullmatch(number) and before in _CALLED):
        return Reading(found.end(), digits(number))
    if before in _DOORS:
        return Reading(found.end(), house_number(number))
    counted = word_after(text, found.end()) in _COUNTED
    named = before in _NAMED and len(number) > 2
    if named or (len(number) > 5 and not counted) or (len(number) > 1 and number[0] == "0"):
        return Reading(found.end(), digits(number))
    return None


def read_code(text: str, at: int) -> Reading | None:
    """Letters and digits in one: "HX-2040B", "24-hour", "COVID-19", "v2.3"."""
    found = _CODE.match(text, at)
    if found is None:
        return None
    code = found.group()
    runs = _RUN.findall(code)
    letters = [r for r in runs if r.isalpha()]
    numbers = [r for r in runs if r.isdigit()]
    if not letters or not numbers or re.search(r"\d0s$", code):
        return None
    if all(_is_word(r) for r in letters):
        if "." in code or re.search(r"\d[A-Za-z]", code):
            return None
        return Reading(found.end(), " ".join(cardinal(int(r)) if r.isdigit() else r for r in runs))
    short = len(numbers) == 1 and len(numbers[0]) < 3 and not numbers[0].startswith("0")
    parts = [
        " ".join(_say_run(run, short) for run in _RUN.findall(part))
        + (" dot" if mark == "." else "")
        for part, mark in re.findall(r"([A-Za-z0-9]+)([-/.]?)", code)
    ]
    spoken = ", ".join(parts) if not short else " ".join(parts)
    return Reading(found.end(), spoken.replace("dot,", "dot"))


def _say_run(run: str, short: bool) -> str:
    if run.isdigit():
        return cardinal(int(run)) if short else digits(run)
    return run if _is_word(run) else " ".join(run.upper())


def _is_word(letters: str) -> bool:
    """ "hour" or "COVID" are read, "HX" and "kx" are spelled."""
    if len(letters) < 3 or not _VOWEL.search(letters):
        return False
    return not letters.isupper() or len(letters) > 4

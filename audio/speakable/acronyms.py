"""Words in capitals: spelled ("BTU"), read ("OSHA"), or shouted ("DO NOT")."""

from __future__ import annotations

import re

from audio.speakable.context import words
from audio.speakable.token import Reading

_CAPITALS = re.compile(r"[A-Z][A-Z]+(?:&[A-Z]+)?(?P<tail>'?s)?(?![\w&])")
_SLASHED = re.compile(r"[A-Z](?:/[A-Z])+(?!\w)")
_INITIALS = re.compile(r"(?:[A-Za-z]\.){2,}|[A-Z]\.(?= [A-Z][a-z])")
_VOWEL = re.compile(r"[AEIOUY]")
_READ_AS_WORD = words(
    "NASA OSHA NATO PIN SIM RAM LAN WAN VIN ZIP SEER MERV NEMA ANSI ASCII LASER RADAR COVID OPEC "
    "FEMA SWAT"
)
_COMMON = words(
    "A AN AND ANY ARE AS AT BE BUT BY CALL CAN CUT DANGER DID DO DOES DOWN EVER FIRE FIRST FOR "
    "FROM GAS GET GO GOOD HAD HAS HAVE HE HELP HER HIGH HIS HOT HOW IF IN INTO IS IT ITS JUST KEEP "
    "LET LOW MAKE MAY MORE MUST NEVER NEW NO NOT NOTE NOW OF OFF ON ONE ONLY OPEN OR OUR OUT OVER "
    "PLEASE RED SAFE SHE SHUT SO STAY STOP TAKE TEST THAN THAT THE THEN THEY THIS TO TOO TURN TWO "
    "UNIT UP USE VERY WAIT WARM WAS WATER WE WERE WHAT WHEN WHO WHY WILL WITH YES YET YOU YOUR ALL "
    "ALWAYS BEFORE AFTER HELLO COLD COOL FAN HEAT AUTO EXIT FULL EMPTY LEFT RIGHT OPEN LOCK"
)


def read_acronym(text: str, at: int) -> Reading | None:
    """Capitals of two letters and more."""
    if found := _SLASHED.match(text, at):
        return Reading(found.end(), " ".join(found.group().split("/")))  # "A/C"
    if found := _INITIALS.match(text, at):
        return Reading(found.end(), " ".join(c.upper() for c in found.group() if c.isalpha()))
    found = _CAPITALS.match(text, at)
    if found is None:
        return None
    word, tail = found.group(), found["tail"] or ""
    word = word[: len(word) - len(tail)]
    ending = f"'{tail.lstrip(chr(39))}" if tail else ""
    if word == "OK":
        return Reading(found.end(), "okay" + tail)
    if is_read(word) or _shouted(text):
        return Reading(found.end(), word.lower() + tail)
    spelled = " and ".join(" ".join(part) for part in word.split("&"))
    return Reading(found.end(), spelled + ending)


def is_read(word: str) -> bool:
    """Whether a word in capitals is read as a word."""
    if word in _READ_AS_WORD or word in _COMMON:
        return True
    return len(word) > 5 and _VOWEL.search(word) is not None


def _shouted(text: str) -> bool:
    """A whole clause in capitals carries no acronyms to tell apart."""
    letters = [c for c in text if c.isalpha()]
    return len(letters) > 12 and not any(c.islower() for c in letters)

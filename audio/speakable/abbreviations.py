# ruff: noqa: RUF001 (typographic quotes, dashes and signs are what this file reads)
"""Titles, streets, states and other words written short; Roman numerals."""

from __future__ import annotations

import re

from audio.speakable.context import bare_before, word_after, word_before, words
from audio.speakable.number_words import cardinal, ordinal
from audio.speakable.token import Reading

# With the period only, unless the group below says that it may be missing.
_DOTTED = {
    "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Ct": "Court", "Pl": "Place",
    "Sq": "Square", "Hwy": "Highway", "Pkwy": "Parkway", "Apt": "Apartment", "Ste": "Suite",
    "Bldg": "Building", "Fl": "Floor", "Rm": "Room", "Ext": "Extension", "ext": "extension",
    "Mt": "Mount", "Ft": "Fort", "Prof": "Professor", "Gen": "General", "Gov": "Governor",
    "Sen": "Senator", "Rep": "Representative", "Capt": "Captain", "Lt": "Lieutenant",
    "Col": "Colonel", "Sgt": "Sergeant", "Rev": "Reverend", "Jr": "Junior", "Sr": "Senior",
    "Inc": "Incorporated", "Ltd": "Limited", "Corp": "Corporation", "Co": "Company",
    "Bros": "Brothers", "Dept": "Department", "dept": "department", "appt": "appointment",
    "Appt": "Appointment", "approx": "approximately", "Approx": "Approximately", "est": "estimated",
    "Est": "Established", "vs": "versus", "etc": "et cetera", "vol": "volume", "Vol": "Volume",
    "fig": "figure", "Fig": "Figure", "Sec": "Section", "max": "maximum", "Max": "Maximum",
    "min": "minimum", "Min": "Minimum", "temp": "temperature", "Temp": "Temperature",
    "qty": "quantity", "Qty": "Quantity", "tech": "technician", "Tech": "Technician",
    "mfr": "manufacturer", "Mfr": "Manufacturer", "tel": "telephone", "Tel": "Telephone",
    "hrs": "hours", "hr": "hour", "mins": "minutes", "lbs": "pounds", "lb": "pound", "oz": "ounce",
    "incl": "including", "excl": "excluding", "misc": "miscellaneous", "avg": "average",
    "Mr": "Mister", "Mrs": "missus", "Ms": "Miz", "e.g": "for example", "i.e": "that is",
}  # fmt: skip
_PERIOD_OPTIONAL = words(
    "Ave Blvd Hwy Pkwy Apt Ste Bldg vs etc approx Approx dept Dept appt qty Qty mfr hrs mins lbs "
    "avg incl misc Mr Mrs Ms Jr Sr Ltd e.g i.e"
)
_SHORT = re.compile(
    r"(?P<word>"
    + "|".join(re.escape(w) for w in sorted(_DOTTED, key=len, reverse=True))
    + r")(?P<dot>\.?)(?!\w)"
)
_NUMBER_SIGN = re.compile(r"(?:(?P<many>[Nn]os)|[Nn]o)\.(?=\s?\d)|#(?=\s?\d)")
_NUMBER_WORD = re.compile(r"[Nn]o\.")
_NUMBERED = words("part serial model order ticket account item phone policy unit case tel invoice")
_SAINT_OR_STREET = re.compile(r"St\b\.?(?!\w)")
_DOCTOR_OR_DRIVE = re.compile(r"Dr\b\.?(?!\w)")
_WITH = re.compile(r"w/(?P<out>o\b)?")
_DIRECTION = re.compile(
    r"(?P<d>NE|NW|SE|SW|N|S|E|W)\b\.?(?= (?:\d|[A-Z][a-z]))|(?P<e>NE|NW|SE|SW)\b(?=[,.]|\s*$)"
)
_DIRECTIONS = {
    "N": "North", "S": "South", "E": "East", "W": "West",
    "NE": "Northeast", "NW": "Northwest", "SE": "Southeast", "SW": "Southwest",
}  # fmt: skip
_STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia",
    "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa",
    "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland",
    "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi",
    "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire",
    "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina",
    "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
    "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee",
    "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia", "WA": "Washington",
    "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming", "DC": "D C",
}  # fmt: skip
_STATE = re.compile(r"(?P<code>[A-Z]{2})\b(?P<zip>(?=\s+\d{5}\b))?")
_ROMAN = re.compile(r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![\w'’]|\.\w)")
_NUMERAL_BEFORE = re.compile(r"\b[IVXLC]+ (?:and|or|to) $")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_COUNTED = words(
    "war part chapter phase type class stage section volume vol act level tier mark title article "
    "schedule book figure table step group category bowl series generation gen zone grade appendix "
    "version episode unit"
)
_AFTER_NUMERAL = words("of and or to is was in for with")
_RULERS = words(
    "henry louis elizabeth george charles edward richard william james philip pope john paul "
    "benedict catherine frederick napoleon nicholas peter francis leo pius alexander"
)


def read_abbreviation(text: str, at: int) -> Reading | None:
    """A word written short."""
    if found := _SAINT_OR_STREET.match(text, at):
        return Reading(found.end(), _saint_or_street(text, at, found.end()))
    if found := _DOCTOR_OR_DRIVE.match(text, at):
        return Reading(found.end(), _doctor_or_drive(text, at, found.end()))
    if (found := _NUMBER_WORD.match(text, at)) and bare_before(text, at) in _NUMBERED:
        return Reading(found.end(), "number")
    if found := _NUMBER_SIGN.match(text, at):
        return Reading(found.end(), "numbers" if found["many"] else "number")
    if found := _WITH.match(text, at):
        return Reading(found.end(), "without" if found["out"] else "with")
    if found := _SHORT.match(text, at):
        word = found["word"]
        if found["dot"] or word in _PERIOD_OPTIONAL:
            return Reading(found.end(), _DOTTED[word])
    return _read_place(text, at)


def read_roman(text: str, at: int) -> Reading | None:
    """Roman numerals, where the word before calls for one: "World War II", "Henry VIII"."""
    found = _ROMAN.match(text, at)
    if found is None or not found.group():
        return None
    numeral, before = found.group(), word_before(text, at).strip("\"'“‘([*_")
    if not before[:1].isupper() and len(numeral) == 1:
        return None  # "the part I need"
    if before in ("and", "or", "to") and _NUMERAL_BEFORE.search(text, max(0, at - 20), at):
        return Reading(found.end(), cardinal(_value(numeral)))
    if before.lower() in _COUNTED:
        after = word_after(text, found.end())
        if numeral == "I" and after[:1].islower() and after not in _AFTER_NUMERAL:
            return None
        return Reading(found.end(), cardinal(_value(numeral)))
    if before.lower() in _RULERS and before[:1].isupper() and len(numeral) > 1:
        return Reading(found.end(), f"the {ordinal(_value(numeral))}")
    return None


def _value(numeral: str) -> int:
    values = [_ROMAN_VALUES[c] for c in numeral]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))


def _after_street_name(text: str, at: int) -> bool:
    """ "Main |", "5th |": the word before is a name or number, not "in" or "see"."""
    before = word_before(text, at)
    if not before[-1:].isalnum():
        return False
    return before[:1].isdigit() or (before[:1].isupper() and _house(text, at))


def _house(text: str, at: int) -> bool:
    """A house number stands a few words before, or the name is not the first word."""
    words = text[max(0, at - 60) : at].split()
    return len(words) > 1


def _saint_or_street(text: str, at: int, end: int) -> str:
    if _after_street_name(text, at):
        return "Street"
    return "Saint" if word_after(text, end)[:1].isupper() else "Street"


def _doctor_or_drive(text: str, at: int, end: int) -> str:
    numbered = any(w[:1].isdigit() for w in text[max(0, at - 60) : at].split()[-4:])
    if numbered and _after_street_name(text, at):
        return "Drive"
    return "Doctor"


def _read_place(text: str, at: int) -> Reading | None:
    found = _STATE.match(text, at)
    if found and found["code"] in _STATES:
        before = word_before(text, at)
        after_city = before.endswith(",") and before[:1].isupper()
        if found["zip"] is not None or after_city:
            return Reading(found.end(), _STATES[found["code"]])
    found = _DIRECTION.match(text, at)
    if found and (word_before(text, at)[:1].isdigit() or found["e"] or len(found["d"] or "") == 2):
        return Reading(found.end(), _DIRECTIONS[found["d"] or found["e"]])
    return None

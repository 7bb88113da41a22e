"""Numbers as American English words, without hyphens and without "and"."""

from __future__ import annotations

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ("", "thousand", "million", "billion", "trillion")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
MAX_DIGITS = 15
"""Longer numbers are read digit by digit."""


def _below_thousand(n: int) -> list[str]:
    words = []
    if n >= 100:
        words += [_ONES[n // 100], "hundred"]
        n %= 100
    if n >= 20:
        words.append(_TENS[n // 10])
        n %= 10
        if n:
            words.append(_ONES[n])
    elif n:
        words.append(_ONES[n])
    return words


def cardinal(n: int) -> str:
    """1234 -> "one thousand two hundred thirty four"."""
    if n < 0:
        return "minus " + cardinal(-n)
    if n == 0:
        return "zero"
    if n >= 10**MAX_DIGITS:
        return digits(str(n))
    groups: list[str] = []
    scale = 0
    while n:
        n, group = divmod(n, 1000)
        if group:
            groups.insert(0, " ".join([*_below_thousand(group), _SCALES[scale]]).strip())
        scale += 1
    return " ".join(groups)


def ordinal(n: int) -> str:
    """21 -> "twenty first"."""
    head, _, last = cardinal(n).rpartition(" ")
    if last in _ORDINALS:
        last = _ORDINALS[last]
    elif last.endswith("y"):
        last = last[:-1] + "ieth"
    else:
        last += "th"
    return f"{head} {last}".strip()


def year(n: int) -> str:
    """1908 -> "nineteen oh eight", 2005 -> "two thousand five", 2026 -> "twenty twenty six"."""
    high, low = divmod(n, 100)
    if not 10 < high < 100 or (high % 10 == 0 and low < 10):
        return cardinal(n)
    if low == 0:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def digits(text: str) -> str:
    """The digits of `text` one by one: "90210" -> "nine zero two one zero"."""
    return " ".join(_ONES[int(c)] for c in text if c.isascii() and c.isdigit())


def number(text: str) -> str:
    """A number as written ("1,250", "3.14", ".5", "007") in words."""
    whole, point, fraction = text.replace(",", "").partition(".")
    if len(whole) > MAX_DIGITS or (len(whole) > 1 and whole.startswith("0")):
        words = digits(whole)
    else:
        words = cardinal(int(whole)) if whole else ""
    if point and fraction:
        words = f"{words or 'zero'} point {digits(fraction)}"
    return words


def house_number(text: str) -> str:
    """As in an address or on a door: "221" -> "two twenty one", "305" -> "three oh five"."""
    n = int(text)
    if text.startswith("0") or len(text) > 4:
        return digits(text)
    if len(text) == 4:
        return year(n)
    if len(text) == 3 and n % 100:
        return _pairs(text)
    return cardinal(n)


def _pairs(text: str) -> str:
    high, low = int(text[:-2]), int(text[-2:])
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def is_one(text: str) -> bool:
    """Whether a number as written takes a singular unit."""
    return text in ("1", "1.0", "1.00")

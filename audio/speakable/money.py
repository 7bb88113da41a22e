# ruff: noqa: RUF001, RUF002 (typographic quotes, dashes and signs are what this file reads)
"""Amounts of money: "$49.95", "$3.2 million", "$40–$50/hr", "20 EUR"."""

from __future__ import annotations

import re

from audio.speakable.context import describes
from audio.speakable.number_words import cardinal, is_one, number
from audio.speakable.token import Reading

_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "USD": ("U S dollar", "U S dollars", "cent", "cents"),
    "EUR": ("euro", "euros", "cent", "cents"),
    "GBP": ("pound", "pounds", "penny", "pence"),
    "CAD": ("Canadian dollar", "Canadian dollars", "cent", "cents"),
}
_SCALES = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "b": "billion",
    "bn": "billion",
    "t": "trillion",
}
_PER = {
    "h": "hour",
    "hr": "hour",
    "mo": "month",
    "yr": "year",
    "wk": "week",
    "ea": "each",
    "lb": "pound",
    "ft": "foot",
    "gal": "gallon",
    "mi": "mile",
}
_NUM = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_SCALE = r"(?:[ ]?(thousand|million|billion|trillion)|(k|K|mn|m|M|bn|b|B|T)(?!\w))?"
_AMOUNT = re.compile(
    rf"(?P<minus>[-−])?(?:US|CA|C|A)?(?P<sign>[$€£¥₹])[ ]?(?P<low>{_NUM}){_SCALE}"
    rf"(?:[ ]?(?:[-–—]|to)[ ]?[$€£¥₹]?(?P<high>{_NUM}){_SCALE})?"
    r"(?:[ ]?/[ ]?(?P<per>[A-Za-z]+))?(?![\w%])"
)
_CODED = re.compile(
    rf"(?:(?P<before>USD|EUR|GBP|CAD)[ ]?(?P<a>{_NUM})"
    rf"|(?P<b>{_NUM})[ ]?(?P<after>USD|EUR|GBP|CAD|€|£))"
    r"(?![\w%])"
)
_CENTS = re.compile(rf"(?P<n>{_NUM})[ ]?¢")


def read_money(text: str, at: int) -> Reading | None:
    """An amount with its currency sign or code."""
    if found := _AMOUNT.match(text, at):
        adjective = describes(text, at, found.end())
        return Reading(found.end(), _amount(found, adjective))
    if found := _CODED.match(text, at):
        unit = found["before"] or found["after"]
        return Reading(found.end(), _single(found["a"] or found["b"], "", unit))
    if found := _CENTS.match(text, at):
        amount = found["n"]
        return Reading(found.end(), f"{number(amount)} {'cent' if is_one(amount) else 'cents'}")
    return None


def _amount(found: re.Match[str], adjective: bool) -> str:
    sign = found["sign"]
    low_scale = _scale(found[4], found[5])
    words = "minus " if found["minus"] else ""
    if found["high"] is None:
        words += _single(found["low"], low_scale, sign)
        if adjective and not words.endswith(("cents", "pence")):
            words = words.removesuffix("s")  # "a five dollar part"
    else:
        high_scale = _scale(found[7], found[8])
        high = _single(found["high"], high_scale, sign)
        if "." in found["low"] and not low_scale:
            words += f"{_single(found['low'], '', sign)} to {high}"
        else:
            words += f"{number(found['low'])} {low_scale}".strip() + f" to {high}"
    if found["per"]:
        per = found["per"]
        unit = _PER.get(per.lower(), per)
        words += f" {unit}" if unit == "each" else f" per {unit}"
    return words


def _scale(word: str | None, letter: str | None) -> str:
    if word:
        return word
    return _SCALES[letter.lower()] if letter else ""


def _single(amount: str, scale: str, unit: str) -> str:
    one, many, cent, cents = _CURRENCIES[unit]
    if scale:
        return f"{number(amount)} {scale} {many}"
    whole, _, fraction = amount.replace(",", "").partition(".")
    if len(fraction) != 2 or not cent:
        return f"{number(amount)} {one if is_one(amount) else many}"
    parts = []
    if int(whole or 0):
        parts.append(f"{number(whole)} {one if whole == '1' else many}")
    if int(fraction):
        parts.append(f"{cardinal(int(fraction))} {cent if fraction == '01' else cents}")
    return " and ".join(parts) or f"zero {many}"

"""The report's words: for classes and parts those of the page, and numbers as people read them."""

from __future__ import annotations

import math

from voiceagent.rhythm.percentiles import Summary
from voiceagent.rhythm.values import Unknown, Value

GAP_MEANING = {
    "overlap": "it spoke before you had finished",
    "seamless": "no pause that a listener notices",
    "human": "as people answer each other",
    "comfortable": "an unhurried answer",
    "noticeable": "a pause that one notices",
    "awkward": "a pause that makes one wonder",
    "bad": "too long for a conversation",
    "broken": "as if nobody were there",
}

PARTS = {
    "endpointing": "Being sure that you had finished",
    "transcription": "Understanding your words",
    "first token": "The first word of the answer",
    "clause": "The first phrase of the answer",
    "voice": "Voicing it",
    "hold": "Waiting for its turn",
    "playout": "On its way to your ear",
    "uplink": "Your voice on its way",
    "leading silence": "Silence before its first sound",
}

PLACES = {
    "word": "inside a word",
    "phrase": "inside a phrase",
    "clause": "after a clause",
    "sentence": "after a sentence",
}

CAUSES = {
    "underrun": "underrun: the player had nothing to play",
    "authored": "authored: silence in the voice itself",
    "bridging": "bridging: an announced wait",
}

KINDS = {
    "spoken": "spoken",
    "typed": "typed",
    "unasked": "agent began",
    "dropped": "dropped",
}

FAULTS = {
    "awkward_underrun": "awkward underrun",
    "error": "error",
    "false_takeover": "false takeover",
    "gap_unknown": "gap unknown",
    "slow": "slow or no answer",
}

UNKNOWN = "not known"


def number(value: float, digits: int = 0) -> str:
    """A number with thin spaces between thousands and a true minus sign."""
    if not math.isfinite(value):
        return UNKNOWN
    text = f"{value:,.{digits}f}".replace(",", "\u202f")
    return text.replace("-", "\u2212") if any(c in text for c in "123456789") else text.lstrip("-")


def amount(value: Value, unit: str = "", digits: int = 0) -> str:
    """A value with its unit, or "not known" and why."""
    if isinstance(value, Unknown):
        return f"{UNKNOWN}: {value.reason}"
    return f"{number(value, digits)}{unit}"


def short(value: Value, digits: int = 0) -> str:
    """A value for the cell of a table: a dash where it is not known."""
    return "\u2013" if isinstance(value, Unknown) else number(value, digits)


def of_summary(summary: Summary, name: str) -> str:
    """A percentile in milliseconds, or "n too small"."""
    if name in summary.too_small:
        return "n too small"
    value: Value = getattr(summary, name)
    return UNKNOWN if isinstance(value, Unknown) else f"{number(value)} ms"


def percent(value: Value) -> str:
    """A share as a percentage."""
    return amount(value if isinstance(value, Unknown) else value * 100, " %")


def dollars(value: Value) -> str:
    """US dollars with as many digits as a cheap answer needs."""
    if isinstance(value, Unknown):
        return amount(value)
    if value == 0:
        return "$0"
    return f"${number(value, 5 if abs(value) < 1 else 2)}"


def clock(ms: float) -> str:
    """mm:ss.s since the session began."""
    tenths = round(abs(ms) / 100) if math.isfinite(ms) else 0
    minutes, rest = divmod(tenths, 600)
    sign = "\u2212" if ms < 0 else ""
    return f"{sign}{minutes:02d}:{rest // 10:02d}.{rest % 10}"

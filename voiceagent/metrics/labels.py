"""Label values that cannot grow without bound, and that cannot be a text, a key or an address."""

from __future__ import annotations

import re
from collections.abc import Collection

from voiceagent.rhythm.values import ABSURD, CANCELLED, MISSING, NEGATIVE, NO_SAMPLES

OTHER = "other"
NONE = "none"
"""There is no value."""

MOST = 32
"""Distinct values of one open label, before `OTHER`."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,47}", re.ASCII)

REASON_CLASSES = ("missing", "negative", "absurd", "cancelled", "no_text", "too_few", OTHER)
"""What the reasons of ``rhythm`` come down to."""

_CLASS_OF = {
    MISSING: "missing",
    NEGATIVE: "negative",
    ABSURD: "absurd",
    CANCELLED: "cancelled",
    NO_SAMPLES: "too_few",
    "no token": "no_text",
    "no text": "no_text",
}


class Capped:
    """A label whose values come from outside this code, such as the names of backends.

    The first ``most`` names that look like names are kept for the life of the process.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._seen: set[str] = set()

    def __call__(self, value: str | None) -> str:
        """The value, `NONE` for none, `OTHER` for what is too much or no name."""
        if value is None:
            return NONE
        if not _NAME.fullmatch(value):
            return OTHER
        name = value.replace(" ", "_")
        if name not in self._seen:
            if len(self._seen) >= self._most:
                return OTHER
            self._seen.add(name)
        return name


def one_of(value: str | None, allowed: Collection[str]) -> str:
    """A value of a closed set; `NONE` for none, `OTHER` for what is not in the set."""
    if value is None:
        return NONE
    return str(value) if value in allowed else OTHER


def reason_class(reason: str) -> str:
    """One of `REASON_CLASSES` for a reason in words."""
    if reason.startswith("fewer than"):
        return "too_few"
    return _CLASS_OF.get(reason, OTHER)


def truth(value: bool) -> str:
    """``true`` or ``false``."""
    return "true" if value else "false"

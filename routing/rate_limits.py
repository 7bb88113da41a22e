"""What a provider's headers say of its rate limits: how much is left, and when it comes back."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Literal, TypeAlias

Counted = Literal["requests", "tokens"]
Period = Literal["minute", "hour", "day"]
Names: TypeAlias = Mapping[str, tuple[Counted, Period | None]]
"""The ends of the header names (after ``x-ratelimit-limit-``), and what each of them counts."""

PLAIN_NAMES: Names = MappingProxyType({"requests": ("requests", None), "tokens": ("tokens", None)})
"""OpenAI's names, which tell no period."""

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "µs": 1e-6}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|d|h|m|s)")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_EPOCH = 1e9
"""A plain number from here on is a date: seconds since 1970. No window is 31 years long."""
_EPOCH_MS = 1e12
_LONGEST_S = 31 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One limit; None for what the headers do not say."""

    counted: Counted
    period: Period | None = None
    limit: int | None = None
    remaining: int | None = None
    reset_s: float | None = None
    """Seconds from the answer until it is whole again, 0 to 31 days."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits that one answer told, in the order in which the dialect names them."""

    windows: tuple[Window, ...]

    def find(self, counted: Counted, period: Period | None = None) -> Window | None:
        """The limit of this kind, or None."""
        kinds = ((window.counted, window.period) for window in self.windows)
        return dict(zip(kinds, self.windows, strict=True)).get((counted, period))

    @property
    def exhausted_for_s(self) -> float | None:
        """How long until every limit that has nothing left is whole again; None: none is spent."""
        spent = (w.reset_s for w in self.windows if w.remaining is not None and w.remaining <= 0)
        return max((seconds for seconds in spent if seconds is not None), default=None)


def read_limits(headers: Mapping[str, str], names: Names = PLAIN_NAMES) -> RateLimits | None:
    """The limits in an answer's headers (names in lower case); None where there are none."""
    now = _now(headers)
    windows: list[Window] = []
    for end, (counted, period) in names.items():
        window = Window(
            counted=counted,
            period=period,
            limit=_count(headers.get(f"x-ratelimit-limit-{end}")),
            remaining=_count(headers.get(f"x-ratelimit-remaining-{end}")),
            reset_s=parse_reset(headers.get(f"x-ratelimit-reset-{end}"), now),
        )
        if (window.limit, window.remaining, window.reset_s) != (None, None, None):
            windows.append(window)
    return RateLimits(tuple(windows)) if windows else None


def parse_reset(text: str | None, now: float) -> float | None:
    """Seconds until a reset, 0 to 31 days; None for what is no time.

    ``text`` is a duration (``2m59.56s``, ``120ms``), plain seconds (``33011.38``) or a date as
    seconds or milliseconds since 1970; ``now`` is the server's clock, in seconds since 1970.
    """
    text = (text or "").strip().lower()
    if len(text) > 40:
        return None
    if _DURATION.fullmatch(text):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    else:
        try:
            seconds = float(text)
        except ValueError:
            return None
        if seconds >= _EPOCH_MS:
            seconds /= 1000
        if seconds >= _EPOCH:
            seconds -= now
    return min(max(seconds, 0.0), _LONGEST_S) if math.isfinite(seconds) else None


def _count(text: str | None) -> int | None:
    """A whole number, not below 0."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _now(headers: Mapping[str, str]) -> float:
    """The server's own clock, so that the two need not agree; ours where it does not say."""
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError):
        return time.time()

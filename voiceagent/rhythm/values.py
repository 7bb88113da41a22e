"""What is known and what is not: the convention of all results.

A result is a `Value`: a finite number, or an `Unknown` that says why there is none. `known` turns
an `Unknown` to None where only the number is wanted; `json_safe.plain` writes it as null with its
reason beside it. A duration that comes out negative is a fault of the clock or of the caller, and
is `Unknown` with the reason `NEGATIVE`, which `count_unknown` counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

MISSING = "a time is missing"
NEGATIVE = "negative duration"
ABSURD = "longer than can be real"
CANCELLED = "cancelled"
NO_SAMPLES = "no samples"

LONGEST_US = 3_600_000_000
"""One hour. Nothing here waits that long: it is the difference of two clocks, or an unset time."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A result that cannot be given, and why."""

    reason: str


Value: TypeAlias = float | Unknown
"""A finite number or the reason for its absence."""


def known(value: Value) -> float | None:
    """The number, or None where it is unknown."""
    return None if isinstance(value, Unknown) else value


def reason(value: Value) -> str | None:
    """Why the number is unknown, or None where it is known."""
    return value.reason if isinstance(value, Unknown) else None


def count_unknown(values: Iterable[Value]) -> dict[str, int]:
    """How often each reason occurs."""
    return dict(Counter(value.reason for value in values if isinstance(value, Unknown)))


def duration_ms(start_us: int | None, end_us: int | None) -> Value:
    """Milliseconds from ``start_us`` to ``end_us``, both on one monotonic clock.

    Unknown where a time is missing, where the end lies before the start and where the duration is
    longer than `LONGEST_US`; never the absolute difference.
    """
    if start_us is None or end_us is None:
        return Unknown(MISSING)
    if end_us < start_us:
        return Unknown(NEGATIVE)
    if end_us - start_us > LONGEST_US:
        return Unknown(ABSURD)
    return (end_us - start_us) / 1_000

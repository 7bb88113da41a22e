"""Percentiles by linear interpolation, and the summary of a series.

Linear interpolation between the closest ranks is the default of numpy (type 7 of Hyndman & Fan
1996). A p95 from fewer than 59 samples, or a p99 from fewer than 299, has less than a 95 % chance
that any sample lies above the true percentile (0.95^59 and 0.99^299 are just under 0.05): such a
figure is kept but not printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from voiceagent.rhythm.values import NO_SAMPLES, Unknown, Value, count_unknown

NEEDED = {"p50": 1, "p95": 59, "p99": 299}
"""Samples from which a percentile is printed."""

TOO_SMALL = "n too small"


@dataclass(frozen=True, slots=True)
class Summary:
    """A series in the unit of its samples."""

    n: int
    mean: Value
    cv: Value
    """Coefficient of variation: standard deviation of these samples over their mean, no unit.
    Unknown for fewer than two samples and where the mean is not positive."""
    p50: Value
    p95: Value
    p99: Value
    max: Value
    too_small: tuple[str, ...] = ()
    """The percentiles for which n is too small to print them."""
    unknown: dict[str, int] = field(default_factory=dict)
    """Samples left out as unknown, by reason; negative durations among them."""

    def printed(self, name: Literal["p50", "p95", "p99"], digits: int = 0) -> str:
        """The percentile as text for people: "n too small" where it would mislead."""
        if name in self.too_small:
            return TOO_SMALL
        value: Value = {"p50": self.p50, "p95": self.p95, "p99": self.p99}[name]
        return value.reason if isinstance(value, Unknown) else f"{value:.{digits}f}"


def percentile(samples: Sequence[float], percent: float) -> Value:
    """The ``percent`` percentile (0 to 100) of finite ``samples``, in their unit.

    Raises ValueError for a percentage outside 0 to 100.
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"not a percentage: {percent}")
    if not samples:
        return Unknown(NO_SAMPLES)
    ordered = sorted(samples)
    rank = percent / 100 * (len(ordered) - 1)
    low = int(rank)
    high = min(low + 1, len(ordered) - 1)
    part = rank - low
    between = ordered[low] * (1 - part) + ordered[high] * part
    return min(max(between, ordered[low]), ordered[high])


def summarize(samples: Iterable[Value]) -> Summary:
    """n, mean, variation, percentiles and maximum; unknown samples are counted by reason."""
    everything = [_finite(sample) for sample in samples]
    numbers = [sample for sample in everything if not isinstance(sample, Unknown)]
    n = len(numbers)
    return Summary(
        n=n,
        mean=_mean(numbers),
        cv=coefficient_of_variation(numbers),
        p50=percentile(numbers, 50),
        p95=percentile(numbers, 95),
        p99=percentile(numbers, 99),
        max=max(numbers) if numbers else Unknown(NO_SAMPLES),
        too_small=tuple(name for name, needed in NEEDED.items() if n < needed),
        unknown=count_unknown(everything),
    )


def coefficient_of_variation(samples: Sequence[float]) -> Value:
    """Population standard deviation over the mean, no unit; 0 is perfectly regular."""
    if len(samples) < 2:
        return Unknown("one sample does not vary" if samples else NO_SAMPLES)
    largest = max(abs(sample) for sample in samples)
    scaled = [sample / largest for sample in samples] if largest else []
    mean = math.fsum(scaled) / len(samples)
    if mean <= 0:
        return Unknown("the mean is not positive")
    variance = math.fsum((sample - mean) ** 2 for sample in scaled) / len(samples)
    ratio = math.sqrt(variance) / mean
    return ratio if math.isfinite(ratio) else Unknown("the mean is not positive")


def _mean(samples: Sequence[float]) -> Value:
    if not samples:
        return Unknown(NO_SAMPLES)
    try:
        return math.fsum(samples) / len(samples)
    except OverflowError:
        largest = max(abs(sample) for sample in samples)
        return math.fsum(sample / largest for sample in samples) / len(samples) * largest


def _finite(sample: Value) -> Value:
    if isinstance(sample, Unknown) or math.isfinite(sample):
        return sample
    return Unknown("not a finite number")

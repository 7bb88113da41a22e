"""Percentiles, summaries, durations and plain data."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.rhythm.streams import number
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.percentiles import percentile, summarize
from voiceagent.rhythm.stream import Kind
from voiceagent.rhythm.values import (
    ABSURD,
    CANCELLED,
    MISSING,
    NEGATIVE,
    Unknown,
    Value,
    count_unknown,
    duration_ms,
    known,
    reason,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50), st.floats(0, 100))
def test_a_percentile_is_that_of_numpy(samples: list[float], percent: float) -> None:
    assert number(percentile(samples, percent)) == pytest.approx(
        np.percentile(samples, percent), rel=1e-9, abs=1e-4
    )


@example([sys.float_info.max] * 3)
@given(st.lists(finite, max_size=20))
def test_a_summary_of_anything_finite_is_finite_and_in_order(samples: list[float]) -> None:
    found = summarize(samples)
    json.dumps(plain(found), allow_nan=False)
    assert found.n == len(samples)
    if samples:
        p50, p95, p99 = (number(value) for value in (found.p50, found.p95, found.p99))
        assert min(samples) <= p50 <= p95 <= p99 <= number(found.max) == max(samples)
        slack = 1e-12 * max(map(abs, samples))
        assert min(samples) - slack <= number(found.mean) <= max(samples) + slack


@pytest.mark.parametrize(
    ("n", "too_small"),
    [
        (0, ("p50", "p95", "p99")),
        (1, ("p95", "p99")),
        (58, ("p95", "p99")),
        (59, ("p99",)),
        (298, ("p99",)),
        (299, ()),
    ],
)
def test_few_samples_print_no_high_percentile(n: int, too_small: tuple[str, ...]) -> None:
    found = summarize([7.0] * n)
    assert found.too_small == too_small
    assert (found.printed("p95") == "n too small") == ("p95" in too_small)
    assert (found.printed("p99", 1) == "7.0") == (n >= 299)


def test_no_percentage_is_refused() -> None:
    with pytest.raises(ValueError, match="percentage"):
        percentile([1.0], 101)


def test_m02_a_transcript_stamped_before_the_speech_end_is_unknown_and_counted() -> None:
    latencies = [duration_ms(5_000_000, stamp) for stamp in (4_900_000, 5_120_000, 0)]
    assert [known(latency) for latency in latencies] == [None, 120, None]
    found = summarize(latencies)
    assert (found.n, found.unknown) == (1, {NEGATIVE: 2})


@pytest.mark.parametrize(
    ("start_us", "end_us", "why"),
    [
        (67_923_881_000, 67_720_647_000, NEGATIVE),  # 18:52:03.881 to 18:48:40.647
        (None, 5_000_000, MISSING),
        (5_000_000, None, MISSING),
        (0, 1_790_000_000_000_000, ABSURD),  # the time of day, less a time that was never set
    ],
)
def test_m03_absurd_durations_are_unknown(
    start_us: int | None, end_us: int | None, why: str
) -> None:
    assert duration_ms(start_us, end_us) == Unknown(why)


@given(st.none() | st.integers(), st.none() | st.integers())
def test_m02_a_duration_is_never_negative(start_us: int | None, end_us: int | None) -> None:
    found = duration_ms(start_us, end_us)
    assert isinstance(found, Unknown) or 0 <= found <= 3_600_000


@pytest.mark.parametrize("samples", [[], [3.0], [0.0, 0.0], [-1.0, 1.0]])
def test_m11_what_has_no_variation_is_null(samples: list[float]) -> None:
    written = plain(summarize(samples))
    assert isinstance(written, dict)
    assert written["cv"] is None
    assert written["cv_reason"]
    json.dumps(written, allow_nan=False)


def test_m11_no_nan_gets_into_a_summary_or_into_json() -> None:
    found = summarize([1.0, math.nan, math.inf, 3.0, Unknown(CANCELLED)])
    assert (found.n, found.max) == (2, 3.0)
    assert found.unknown == {"not a finite number": 2, CANCELLED: 1}
    assert plain({"x": math.nan}) == {"x": None, "x_reason": "not a finite number"}


def test_plain_data_keeps_reasons_beside_their_null() -> None:
    @dataclass
    class Result:
        a: Value
        b: Value
        c: tuple[Value, ...]
        d: frozenset[str]

    written = plain({Kind.TOOL: Result(1.5, Unknown("why"), (Unknown("x"), 2), frozenset("ba"))})
    assert written == {
        "tool": {"a": 1.5, "b": None, "b_reason": "why", "c": [None, 2], "d": ["a", "b"]}
    }
    with pytest.raises(TypeError, match="object"):
        plain(object())


def test_unknown_values_say_why() -> None:
    assert (known(1.0), reason(1.0)) == (1.0, None)
    assert (known(Unknown("x")), reason(Unknown("x"))) == (None, "x")
    assert count_unknown([1.0, Unknown("x"), Unknown("x")]) == {"x": 2}


def test_two_samples_vary_and_a_negative_one_is_a_sample() -> None:
    found = summarize([1.0, 3.0])
    assert (found.mean, found.p50) == (2, 2)
    assert number(found.cv) == pytest.approx(0.5)
    assert number(found.p95) == pytest.approx(2.9)
    assert number(found.p99) == pytest.approx(2.98)
    assert summarize([-150.0]).max == -150


def test_the_longest_duration_is_an_hour_and_the_shortest_nothing() -> None:
    assert duration_ms(0, 3_600_000_000) == 3_600_000
    assert duration_ms(0, 3_600_000_001) == Unknown(ABSURD)
    assert duration_ms(7, 7) == 0

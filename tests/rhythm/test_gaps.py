"""The words for a response gap."""

from __future__ import annotations

import math

import pytest

from tests.rhythm.streams import number
from voiceagent.rhythm.gaps import NO_ANSWER, classify_gap, response_gap_ms, summarize_gaps
from voiceagent.rhythm.values import ABSURD, MISSING, NEGATIVE, Unknown

EXAMPLE = [-150, 40, 210, 480, 700, 820, 1300, 2400, 4100, 260]


def test_worked_example() -> None:
    assert [classify_gap(gap) for gap in EXAMPLE] == [
        "overlap",
        "seamless",
        "human",
        "comfortable",
        "noticeable",
        "noticeable",
        "awkward",
        "bad",
        "broken",
        "human",
    ]


@pytest.mark.parametrize(
    ("limit", "below", "at"),
    [
        (-120, "overlap", "seamless"),
        (120, "seamless", "human"),
        (300, "human", "comfortable"),
        (700, "comfortable", "noticeable"),
        (1000, "noticeable", "awkward"),
        (2000, "awkward", "bad"),
        (4000, "bad", "broken"),
    ],
)
def test_a_limit_belongs_to_the_class_above_it(limit: float, below: str, at: str) -> None:
    assert classify_gap(limit - 0.001) == below
    assert classify_gap(limit) == at


def test_unknown_is_no_class_and_no_answer_is_broken() -> None:
    assert classify_gap(None) is None
    assert classify_gap(math.nan) is None
    assert classify_gap(math.inf) == "broken"


def test_worked_example_summarized() -> None:
    found = summarize_gaps(EXAMPLE)
    assert found.gap_ms.p50 == 590
    assert number(found.gap_ms.p95) == pytest.approx(3335, abs=1e-9)
    assert found.share_slow == 0.3
    assert found.classes["noticeable"] == found.classes["human"] == 2


def test_no_answer_is_slow_but_has_no_length() -> None:
    found = summarize_gaps([500, NO_ANSWER, Unknown(MISSING), math.nan])
    assert (found.gap_ms.n, found.gap_ms.max, found.unanswered) == (1, 500, 1)
    assert (found.share_slow, found.classes["broken"]) == (0.5, 1)
    assert found.gap_ms.unknown == {MISSING: 1, "not a finite number": 1}


def test_m11_no_turns_have_no_share() -> None:
    assert isinstance(summarize_gaps([]).share_slow, Unknown)


@pytest.mark.parametrize(
    ("end_us", "audible_us", "gap"),
    [
        (8_000_000, 8_400_000, 400),
        (8_000_000, 7_850_000, -150),
        (67_923_881_000, 67_720_647_000, Unknown(NEGATIVE)),
        (8_000_000, 1_790_000_000_000_000, Unknown(ABSURD)),
        (None, 8_400_000, Unknown(MISSING)),
        (8_000_000, None, Unknown(MISSING)),
    ],
)
def test_m03_a_response_gap_may_overlap_but_not_be_absurd(
    end_us: int | None, audible_us: int | None, gap: float | Unknown
) -> None:
    assert response_gap_ms(end_us, audible_us) == gap


def test_slow_starts_at_one_second() -> None:
    assert summarize_gaps([999.9, 1000]).share_slow == 0.5

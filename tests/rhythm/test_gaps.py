"""The words for a response gap."""

from __future__ import annotations

import math

import pytest

from voiceagent.rhythm.gaps import classify_gap


def test_worked_example() -> None:
    gaps = [-150, 40, 210, 480, 700, 820, 1300, 2400, 4100, 260]
    assert [classify_gap(gap) for gap in gaps] == [
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

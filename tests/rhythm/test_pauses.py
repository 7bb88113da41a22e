"""Pauses inside the agent's turn."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rhythm.streams import number
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.pauses import (
    DEFAULT_CUTS,
    Cause,
    Cuts,
    Pause,
    PauseClass,
    Place,
    awkward_pauses_per_min,
    classify_pause,
)
from voiceagent.rhythm.values import NEGATIVE, Unknown

EXAMPLE = [
    (Place.WORD, 40, "fine"),
    (Place.WORD, 90, "micro"),
    (Place.PHRASE, 240, "micro"),
    (Place.PHRASE, 250, "awkward"),
    (Place.PHRASE, 700, "severe"),
    (Place.CLAUSE, 600, "fine"),
    (Place.CLAUSE, 950, "awkward"),
    (Place.SENTENCE, 1200, "fine"),
    (Place.SENTENCE, 1600, "awkward"),
]


def pauses(cause: Cause = Cause.AUTHORED) -> list[Pause]:
    return [Pause(0, ms * 1_000, place, cause) for place, ms, _ in EXAMPLE]


def test_worked_example() -> None:
    assert [classify_pause(ms, place) for place, ms, _ in EXAMPLE] == [name for *_, name in EXAMPLE]
    for cause in Cause:
        assert awkward_pauses_per_min(pauses(cause), 30_000_000) == 8.0


@pytest.mark.parametrize(
    ("place", "cut", "below", "at"),
    [
        (Place.WORD, 60, "fine", "micro"),
        (Place.WORD, 150, "micro", "awkward"),
        (Place.WORD, 400, "awkward", "severe"),
        (Place.PHRASE, 100, "fine", "micro"),
        (Place.PHRASE, 250, "micro", "awkward"),
        (Place.PHRASE, 600, "awkward", "severe"),
        (Place.CLAUSE, 900, "fine", "awkward"),
        (Place.CLAUSE, 1500, "awkward", "severe"),
        (Place.SENTENCE, 1500, "fine", "awkward"),
        (Place.SENTENCE, 3000, "awkward", "severe"),
    ],
)
def test_a_cut_belongs_to_the_class_above_it(place: Place, cut: float, below: str, at: str) -> None:
    assert (classify_pause(cut - 0.001, place), classify_pause(cut, place)) == (below, at)


def test_a_user_may_set_the_cuts_of_one_place() -> None:
    own = {Place.WORD: Cuts(awkward_ms=35, severe_ms=80)}
    assert classify_pause(40, Place.WORD, own) == "awkward"
    assert classify_pause(90, Place.WORD, own) == "severe"
    assert classify_pause(240, Place.PHRASE, own) == "micro"
    assert awkward_pauses_per_min(pauses(), 30_000_000, own) == 12.0


@pytest.mark.parametrize(
    "cuts", [(200, 100, None), (100, 200, 150), (0, 100, None), (1, math.inf, None), (9, 9, None)]
)
def test_cuts_that_do_not_ascend_are_refused(cuts: tuple[float, float, float | None]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        Cuts(*cuts)


def test_what_is_no_pause_is_unknown() -> None:
    assert classify_pause(-1, Place.WORD) == Unknown(NEGATIVE)
    assert isinstance(classify_pause(math.nan, Place.WORD), Unknown)
    assert isinstance(awkward_pauses_per_min(pauses(), 0), Unknown)
    assert plain(pauses()[1]) == {
        "at_us": 0,
        "duration_us": 90_000,
        "place": "word",
        "cause": "authored",
    }


@given(st.floats(0, 1e12), st.floats(0, 1e12), st.sampled_from(Place))
def test_a_longer_pause_is_no_better(one: float, other: float, place: Place) -> None:
    order = list(PauseClass)
    short, long = (classify_pause(ms, place) for ms in sorted((one, other)))
    assert isinstance(short, PauseClass)
    assert isinstance(long, PauseClass)
    assert order.index(short) <= order.index(long)


@given(st.lists(st.builds(Pause, st.integers(), st.integers(), st.sampled_from(Place),
                          st.sampled_from(Cause)), max_size=9), st.integers(1, 2**53))  # fmt: skip
def test_any_pauses_have_a_rate(found: list[Pause], speech_us: int) -> None:
    assert number(awkward_pauses_per_min(found, speech_us)) >= 0
    assert set(DEFAULT_CUTS) == set(Place)

"""What a voice that reads the stream aloud would have to wait for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rhythm.streams import number, whole
from voiceagent.rhythm.speech_clock import (
    SpeechClock,
    Underrun,
    speech_fluency,
    speech_underrun,
    starved_us,
)
from voiceagent.rhythm.values import Unknown

Pieces = list[tuple[int, int]]

rates = st.floats(5, 40)
leads = st.integers(0, 2_000_000)


@st.composite
def pieces(draw: st.DrawFn, fewest: int = 1) -> Pieces:
    """Text in the order of its arrival, at distinct times."""
    gaps = draw(st.lists(st.integers(1, 4_000_000), min_size=fewest, max_size=20))
    arrivals, time = [], draw(st.integers(0, 10**12))
    for gap in gaps:
        time += gap
        arrivals.append((time, draw(st.integers(1, 60))))
    return arrivals


def clock(arrivals: Pieces, rate: float = 15, lead_us: int = 0) -> SpeechClock:
    found = speech_underrun(arrivals, rate, lead_us)
    assert isinstance(found, SpeechClock), found
    return found


def test_worked_example() -> None:
    found = clock([(300_000, 15), (500_000, 15), (2_900_000, 30), (3_100_000, 15)], 15, 200_000)
    assert found.first_sound_us == 500_000
    assert found.headroom_us == (800_000, -600_000, 1_800_000)
    assert found.underruns == (Underrun(2_500_000, 600_000),)
    assert found.end_us == 6_100_000
    assert round(number(found.fluency), 6) == 0.892857
    assert not found.good


def test_worked_example_buffered_by_clause() -> None:
    arrivals = [(400_000, 30), (2_900_000, 45), (3_200_000, 30)]
    found = clock(arrivals, 15, 150_000)
    assert found.first_sound_us == 550_000
    assert [underrun.duration_us for underrun in found.underruns] == [500_000]
    assert found.end_us == 8_050_000
    assert round(number(found.fluency), 6) == 0.933333
    assert starved_us(arrivals, 15, 150_000) == 500_000


@pytest.mark.parametrize(
    ("second_us", "good"),
    [
        (700_000, True),  # 300 ms in reserve
        (700_001, False),
        (1_050_000, False),  # an underrun, though one that is not noticed: no reserve
    ],
)
def test_a_good_stream_has_a_reserve(second_us: int, good: bool) -> None:
    assert clock([(0, 15), (second_us, 15)]).good is good


def test_one_underrun_of_100_ms_is_not_good_whatever_the_reserve() -> None:
    steady = [(index * 500_000, 15) for index in range(60)]
    late = [(0, 1), (167_000, 14), *steady[1:]]
    assert clock([(0, 2), *late[1:]]).good
    assert not clock(late).good


def test_one_lone_piece_is_good() -> None:
    found = clock([(0, 15)])
    assert (found.good, found.fluency, found.headroom_us) == (True, 1, ())


def test_what_cannot_be_spoken_is_unknown() -> None:
    assert isinstance(speech_underrun([], 15, 0), Unknown)
    assert isinstance(speech_underrun([(0, 0), (9, -3)], 15, 0), Unknown)
    assert isinstance(speech_underrun([(0, 9)], 0, 0), Unknown)
    assert isinstance(speech_underrun([(0, 9)], float("nan"), 0), Unknown)
    assert isinstance(speech_fluency(0, 5), Unknown)
    assert isinstance(speech_fluency(5, -5), Unknown)
    assert starved_us([], 15, 0) == 0
    with pytest.raises(ValueError, match="rate"):
        starved_us([(0, 9)], 0, 0)


@given(st.lists(st.tuples(whole, st.integers(-3, 2**40))), st.floats(allow_nan=False), whole)
def test_any_arrivals_have_a_clock_or_a_reason(arrivals: Pieces, rate: float, lead: int) -> None:
    found = speech_underrun(arrivals, rate, lead)
    if isinstance(found, SpeechClock) and found.speech_us:
        assert 0 < number(found.fluency) <= 1
        assert all(underrun.duration_us > 0 for underrun in found.underruns)


@given(pieces(), rates, leads)
def test_speech_and_underruns_fill_the_time(arrivals: Pieces, rate: float, lead: int) -> None:
    found = clock(arrivals, rate, lead)
    assert found.end_us - found.first_sound_us == found.speech_us + found.starved_us
    assert found.starved_us == sum(-headroom for headroom in found.headroom_us if headroom < 0)
    assert found.starved_us == starved_us(arrivals, rate, lead)
    assert found.out_of_order == 0


@given(pieces(), rates, leads, st.data())
def test_cutting_a_piece_changes_nothing(
    arrivals: Pieces, rate: float, lead: int, data: st.DataObject
) -> None:
    cut: Pieces = []
    for arrival, characters in arrivals:
        first = data.draw(st.integers(0, characters))
        cut += [(arrival, first), (arrival, characters - first)]
    assert speech_underrun(cut, rate, lead) == speech_underrun(arrivals, rate, lead)


@given(pieces(fewest=2), rates, leads, st.data())
def test_merging_chunks_matters_only_by_when_the_merged_text_arrives(
    arrivals: Pieces, rate: float, lead: int, data: st.DataObject
) -> None:
    kept = [data.draw(st.booleans()) for _ in arrivals[:-1]] + [True]
    merged: Pieces = []
    held: Pieces = []
    waiting: list[int] = []
    for (arrival, characters), sent in zip(arrivals, kept, strict=True):
        waiting.append(characters)
        if sent:
            merged.append((arrival, sum(waiting)))
            held += [(arrival, count) for count in waiting]
            waiting = []
    assert speech_underrun(merged, rate, lead) == speech_underrun(held, rate, lead)
    longest = max(late[0] - early[0] for late, early in zip(held, arrivals, strict=True))
    assert 0 <= clock(merged, rate, lead).end_us - clock(arrivals, rate, lead).end_us <= longest


@given(pieces(), rates, leads, whole)
def test_what_time_it_is_does_not_matter(
    arrivals: Pieces, rate: float, lead: int, shift: int
) -> None:
    before = clock(arrivals, rate, lead)
    after = clock([(arrival + shift, n) for arrival, n in arrivals], rate, lead)
    assert after.headroom_us == before.headroom_us
    assert after.speech_us == before.speech_us
    assert after.end_us - before.end_us == after.first_sound_us - before.first_sound_us == shift


@given(pieces(fewest=2), rates)
def test_a_lead_moves_everything_and_starves_nothing(arrivals: Pieces, rate: float) -> None:
    assert starved_us(arrivals, rate, 0) == starved_us(arrivals, rate, 700_000)


def test_a_piece_stamped_too_early_arrives_with_the_one_before_it() -> None:
    found = clock([(500_000, 15), (400_000, 15), (900_000, 15)])
    assert found.out_of_order == 1
    assert replace(found, out_of_order=0) == clock([(500_000, 30), (900_000, 15)])


def test_a_fast_stream_banks_speech() -> None:
    # 50 tokens a second of four characters, for one second, at 15 characters a second.
    headroom = clock([(index * 20_000, 4) for index in range(50)]).headroom_us
    assert all(later > earlier for earlier, later in pairwise(headroom))


def test_an_underrun_is_noticed_from_100_ms() -> None:
    steady = [(index * 500_000, 15) for index in range(60)]
    for late_us, good in ((199_999, True), (200_000, False)):
        # The first piece is 100 ms of speech.
        found = speech_underrun([(0, 2), (late_us, 15), *steady[1:]], 20, 0)
        assert isinstance(found, SpeechClock)
        assert [underrun.duration_us for underrun in found.underruns] == [late_us - 100_000]
        assert found.good is good

"""How evenly tokens arrive: gaps, pace, jitter, stalls and the fluidity index."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rhythm.streams import counted, gaps_us, number, ordered, streams, whole
from voiceagent.rhythm.evenness import (
    chunk_gap_ms,
    chunk_ratio,
    evenness,
    evenness_band,
    media_jitter_ms,
    pace_ms,
    stall_ratio,
    stalls,
    stream_fluidity,
    tpot_ms,
)
from voiceagent.rhythm.fluidity import SPEECH, TEXT, Deadlines, fluidity
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.stream import Arrival, Counted, Stream, count_tokens
from voiceagent.rhythm.values import NEGATIVE, Unknown

GAPS = counted([0, 20, 42, 63, 82, 102, 352, 370, 390, 412, 432])
MIXED = counted([0, 40, 80, 200, 240, 280], [1, 4, 1, 4, 1, 5])


def test_worked_example_of_chunk_gaps_and_stalls() -> None:
    found = chunk_gap_ms(GAPS)
    assert (found.n, found.mean, found.p50, found.max) == (10, 43.2, 20, 250)
    assert number(found.p95) == pytest.approx(147.4, abs=1e-9)
    assert number(found.p99) == pytest.approx(229.48, abs=1e-9)
    assert found.too_small == ("p95", "p99")
    assert stalls(GAPS) == 1
    assert stall_ratio(GAPS) == 50 / 432
    assert round(number(stall_ratio(GAPS)), 6) == 0.115741


def test_worked_example_of_the_pace() -> None:
    assert round(number(tpot_ms(MIXED)), 4) == 18.6667
    assert round(number(evenness(MIXED)), 6) == 0.695035
    assert number(evenness(MIXED)) == pytest.approx(98 / 141, rel=1e-15)
    assert chunk_ratio(MIXED) == 0.375


@pytest.mark.parametrize(
    ("times", "tokens", "expected"),
    [
        ([0, 10, 20, 30, 40, 100], None, 0.5),
        ([0, 80, 160, 240], [4, 4, 4, 4], 1.0),
        ([200, 300, 320, 400], [1, 5, 1, 4], 1.0),
    ],
)
def test_worked_examples_of_evenness(
    times: list[int], tokens: list[int] | None, expected: float
) -> None:
    assert evenness(counted(times, tokens)) == expected


def test_worked_example_of_media_jitter() -> None:
    assert media_jitter_ms(counted([0, 20, 40, 60, 140, 160]), 20_000) == 3.515625


def test_m05_the_pace_of_tokens_is_not_the_gap_of_chunks() -> None:
    stream = counted([200, 300, 320, 400], [1, 5, 1, 4])
    pace = pace_ms(stream)
    assert (pace.mean, pace.cv, pace.n) == (20, 0, 10)
    assert tpot_ms(stream) == 20
    gaps = chunk_gap_ms(stream)
    assert [gap / 1_000 for gap in stream.gaps_us] == [100, 20, 80]
    assert (round(number(gaps.mean), 1), round(number(gaps.cv), 2)) == (66.7, 0.51)


@pytest.mark.parametrize(
    ("value", "band"),
    [(1.0, "even"), (0.8, "even"), (0.7999, "uneven"), (0.5, "uneven"), (0.4999, "bursty")],
)
def test_bands_of_evenness(value: float, band: str) -> None:
    assert evenness_band(value) == band


def test_what_cannot_be_even_or_uneven_is_unknown() -> None:
    assert isinstance(evenness(counted([0, 10])), Unknown)
    assert isinstance(evenness(counted([5, 5, 5])), Unknown)
    assert isinstance(stall_ratio(counted([5, 5])), Unknown)
    assert isinstance(tpot_ms(counted([5])), Unknown)
    assert isinstance(chunk_ratio(counted([])), Unknown)
    assert isinstance(media_jitter_ms(GAPS, 0), Unknown)


def test_m02_a_stream_out_of_order_has_no_pace_and_its_gap_is_counted() -> None:
    stream = counted([0, 30, 20, 60])
    assert evenness(stream) == stall_ratio(stream) == Unknown(NEGATIVE)
    assert media_jitter_ms(stream, 20_000) == Unknown(NEGATIVE)
    found = chunk_gap_ms(stream)
    assert (found.n, found.unknown, found.p50) == (2, {NEGATIVE: 1}, 35)


def test_the_gap_before_a_chunk_without_a_token_is_not_lost() -> None:
    arrivals = tuple(
        Arrival(t * 1_000, None, 4, usage=usage)
        for t, usage in ((0, 1), (20, 2), (30, 2), (40, 3), (60, 4))
    )
    stream = count_tokens(Stream(arrivals))
    assert evenness(stream) == 1
    assert pace_ms(stream).mean == 20


@pytest.mark.parametrize(
    ("gaps", "deadlines", "expected"),
    [
        ([200, 40, 40, 300, 50, 50], TEXT, Fraction(5, 8)),
        ([300, 50, 150, 50], TEXT, Fraction(1, 2)),
        ([300, 400, *[20] * 38], TEXT, Fraction(39, 47)),
        ([300, *[20] * 38, 400], TEXT, Fraction(1)),
        ([500, 20, 20, 20, 1500, 20, 20], SPEECH, Fraction(6, 7)),
    ],
)
def test_worked_examples_of_fluidity(
    gaps: list[int], deadlines: Deadlines, expected: Fraction
) -> None:
    found = fluidity([gap * 1_000 for gap in gaps], deadlines)
    assert number(found) == pytest.approx(float(expected), rel=1e-15)


@given(gaps_us, st.data(), st.integers(1, 3_000_000), st.sampled_from([TEXT, SPEECH]))
def test_a_stall_never_raises_fluidity(
    gaps: list[int], data: st.DataObject, stall: int, deadlines: Deadlines
) -> None:
    before = number(fluidity(gaps, deadlines))
    gaps[data.draw(st.integers(0, len(gaps) - 1))] += stall
    assert 0 <= number(fluidity(gaps, deadlines)) <= before <= 1


def test_what_has_no_fluidity_is_unknown() -> None:
    assert fluidity([5, -1]) == Unknown(NEGATIVE)
    assert isinstance(fluidity([]), Unknown)
    for deadlines in (Deadlines(300_000, 0), Deadlines(0, 50_000)):
        assert isinstance(fluidity([1], deadlines), Unknown)
    assert fluidity([1, 1], Deadlines(1, 1)) == 1
    assert isinstance(stream_fluidity(GAPS, None), Unknown)


def test_the_tokens_of_a_chunk_come_together() -> None:
    # One token at 300 ms, four at 500: 150 ms late, four deadlines missed; then three banked.
    found = stream_fluidity(counted([300, 500], [1, 4]), 0)
    assert number(found) == fluidity([300_000, 200_000, 0, 0, 0]) == 0.5


@given(ordered())
def test_evenness_is_above_0_and_at_most_1(stream: Stream) -> None:
    found = evenness(count_tokens(stream))
    assert isinstance(found, Unknown) or 0 < found <= 1


@given(ordered())
def test_evenness_is_jains_index_of_the_tokens_paces(stream: Stream) -> None:
    chunks = count_tokens(stream).chunks
    paces = [
        (b.t_us - a.t_us) / b.tokens for a, b in pairwise(chunks) for _ in range(int(b.tokens))
    ]
    found = evenness(Counted(chunks, count_tokens(stream).source))
    if len(chunks) >= 3 and any(paces):
        jain = sum(paces) ** 2 / (len(paces) * sum(pace * pace for pace in paces))
        assert number(found) == pytest.approx(jain, rel=1e-9)


@given(ordered(), whole)
def test_what_time_it_is_does_not_matter(stream: Stream, shift: int) -> None:
    moved = replace(
        stream,
        arrivals=tuple(replace(a, t_us=a.t_us + shift) for a in stream.arrivals),
        written_us=(stream.written_us or 0) + shift,
    )
    assert everything(moved) == everything(stream)


@given(streams)
def test_any_stream_has_numbers_that_json_can_carry(stream: Stream) -> None:
    json.dumps(plain(everything(stream)), allow_nan=False)
    assert isinstance(evenness(count_tokens(stream)), Unknown | float)


def everything(stream: Stream) -> tuple[object, ...]:
    found = count_tokens(stream)
    return (
        chunk_gap_ms(found),
        tpot_ms(found),
        pace_ms(found),
        evenness(found),
        chunk_ratio(found),
        media_jitter_ms(found, 20_000),
        stalls(found),
        stall_ratio(found),
        stream_fluidity(found, stream.written_us, SPEECH),
    )


def test_chunks_that_come_at_once_have_gaps_and_a_pace_of_nothing() -> None:
    burst = counted([5, 5])
    assert (chunk_gap_ms(burst).n, chunk_gap_ms(burst).max) == (1, 0)
    assert tpot_ms(burst) == 0
    assert media_jitter_ms(burst, 16_000) == 1


def test_the_variation_of_the_pace_is_that_of_evenness() -> None:
    pace = pace_ms(MIXED)
    assert number(pace.cv) == pytest.approx((43 / 98) ** 0.5, rel=1e-12)
    assert (round(number(pace.mean), 4), pace.n) == (18.6667, 15)
    nothing = pace_ms(counted([5]))
    assert (nothing.mean, nothing.cv, nothing.n) == (Unknown("fewer than 2 chunks"),) * 2 + (0,)


def test_a_missed_deadline_leaves_nothing_in_the_bank() -> None:
    assert fluidity([300_000, 60_000, 50_000]) == 1 - 1 / 3
    assert number(fluidity([300_000, 60_000, 50_001])) == pytest.approx(1 / 3)

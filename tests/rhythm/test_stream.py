"""What counts as a token, where counts come from, and how long the first ones take."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rhythm.streams import number, ordered, streams
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.latency import summarize_latencies, ttfat_ms, ttfc_ms, ttft_any_ms
from voiceagent.rhythm.stream import Arrival, Kind, Stream, TokenSource, count_tokens, pieces
from voiceagent.rhythm.values import CANCELLED, MISSING, NEGATIVE, Unknown

MS = 1_000
NOTHING = Kind.NONE


def test_worked_example_of_the_first_tokens() -> None:
    stream = Stream(
        (
            Arrival(30 * MS, kind=NOTHING),
            Arrival(90 * MS, characters=8, kind=Kind.REASONING),
            Arrival(240 * MS, characters=10),
            Arrival(285 * MS, characters=12),
        ),
        written_us=0,
    )
    assert ttft_any_ms(stream) == 90
    assert ttfat_ms(stream) == 240
    assert ttfc_ms(stream, 20) == 285
    assert ttfc_ms(stream, 10) == 240
    assert isinstance(ttfc_ms(stream, 23), Unknown)
    assert isinstance(ttfc_ms(stream, 0), Unknown)


def test_m01_a_cancelled_request_gives_no_sample() -> None:
    silent = Stream((), written_us=0, cancelled=True)
    begun = Stream((Arrival(103 * MS, 1, 4),), written_us=0, cancelled=True)
    for stream in (silent, begun):
        assert ttfat_ms(stream) == ttft_any_ms(stream) == Unknown(CANCELLED)
    assert ttfc_ms(silent, 4) == ttfc_ms(begun, 4) == Unknown(CANCELLED)
    found = summarize_latencies([(stream, ttfat_ms(stream)) for stream in (silent, begun)])
    assert (found.warm.n, found.warm.unknown) == (0, {CANCELLED: 2})


def test_a_cold_request_is_summarized_apart() -> None:
    cold = Stream((Arrival(900 * MS, 1, 4),), written_us=0, cold=True)
    warm = Stream((Arrival(100 * MS, 1, 4),), written_us=0)
    found = summarize_latencies([(stream, ttfat_ms(stream)) for stream in (cold, warm, warm)])
    assert (found.warm.n, found.warm.max) == (2, 100)
    assert (found.cold.n, found.cold.max) == (1, 900)


@pytest.mark.parametrize(
    "no_token",
    [
        Arrival(100 * MS, kind=NOTHING),
        Arrival(100 * MS, tokens=1, kind=NOTHING),
        Arrival(100 * MS, characters=0),
        Arrival(100 * MS, usage=3, kind=NOTHING),
    ],
)
def test_m06_what_carries_no_text_is_no_token(no_token: Arrival) -> None:
    stream = Stream((no_token, Arrival(300 * MS, 1, 4)), written_us=0)
    assert ttfat_ms(stream) == ttft_any_ms(stream) == 300
    counted = count_tokens(stream)
    assert (counted.tokens, len(counted.chunks)) == (1, 1)


@pytest.mark.parametrize("written_ms", [7_000, 8_050])
def test_m07_the_users_wait_starts_at_the_users_end(written_ms: int) -> None:
    # Eight seconds of speech, the request written before or after its end.
    stream = Stream((Arrival(8_400 * MS, 1, 4),), written_us=written_ms * MS)
    assert ttfat_ms(stream, since_us=8_000 * MS) == 400
    assert ttfat_ms(stream) == 8_400 - written_ms


def test_a_token_before_the_start_is_no_latency() -> None:
    stream = Stream((Arrival(100 * MS, 1, 4),), written_us=200 * MS)
    assert ttfat_ms(stream) == Unknown(NEGATIVE)
    assert ttfat_ms(Stream(stream.arrivals)) == Unknown(MISSING)
    assert isinstance(ttfat_ms(Stream((), written_us=0)), Unknown)


def rows(*rows: tuple[int | None, int, int | None]) -> tuple[Arrival, ...]:
    return tuple(
        Arrival(index, tokens, characters, usage=usage)
        for index, (tokens, characters, usage) in enumerate(rows)
    )


@pytest.mark.parametrize(
    ("arrivals", "final", "tokens", "source"),
    [
        (rows((1, 4, 9), (5, 8, 18)), 30, [1, 5], TokenSource.PER_CHUNK),
        (rows((1, 4, None), (1, 0, None), (1, 8, None)), 30, [1, 2], TokenSource.PER_CHUNK),
        (rows((0, 4, None), (1, 8, None)), 30, [0, 1], TokenSource.PER_CHUNK),
        (rows((-1, 4, None), (9, 8, None)), 30, [10, 20], TokenSource.FINAL_USAGE),
        (rows((None, 4, 1), (None, 8, 1)), 30, [1, 0], TokenSource.RUNNING_USAGE),
        (rows((None, 4, 2), (5, 8, 8)), 30, [2, 6], TokenSource.RUNNING_USAGE),
        (rows((None, 4, 2), (5, 8, None)), 30, [10, 20], TokenSource.FINAL_USAGE),
        (rows((None, 4, 2), (5, 8, 1)), 30, [10, 20], TokenSource.FINAL_USAGE),
        (rows((None, 4, None), (5, 8, None)), None, [1, 2], TokenSource.CHARACTERS),
        (rows((0, 4, 0), (0, 8, 0)), 0, [1, 2], TokenSource.CHARACTERS),
    ],
)
def test_the_best_source_that_is_whole_counts_the_tokens(
    arrivals: tuple[Arrival, ...], final: int | None, tokens: list[int], source: TokenSource
) -> None:
    counted = count_tokens(Stream(arrivals, final_usage=final))
    assert ([chunk.tokens for chunk in counted.chunks], counted.source) == (tokens, source)


def test_reasoning_is_kept_apart() -> None:
    stream = Stream(
        (
            Arrival(1, characters=30, kind=Kind.REASONING),
            Arrival(2, characters=6),
            Arrival(3, characters=4, kind=Kind.TOOL),
        ),
        final_usage=20,
    )
    counted = count_tokens(stream)
    assert [(chunk.t_us, chunk.tokens) for chunk in counted.chunks] == [(2, 3), (3, 2)]
    assert pieces(stream) == [(2, 6)]


@given(streams, st.integers(-3, 100))
def test_latencies_of_any_stream_are_unknown_or_not_negative(stream: Stream, clause: int) -> None:
    for value in (ttft_any_ms(stream), ttfat_ms(stream), ttfc_ms(stream, clause)):
        assert isinstance(value, Unknown) or value >= 0
    counted = count_tokens(stream)
    assert counted.tokens >= 0
    json.dumps(plain(counted), allow_nan=False)


@given(ordered())
def test_the_first_of_anything_is_not_after_the_first_answer(stream: Stream) -> None:
    clause = sum(arrival.characters for arrival in stream.arrivals)
    assert (
        number(ttft_any_ms(stream)) <= number(ttfat_ms(stream)) <= number(ttfc_ms(stream, clause))
    )

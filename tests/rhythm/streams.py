"""Streams for the tests, written in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from voiceagent.rhythm.stream import Arrival, Counted, Kind, Stream, count_tokens
from voiceagent.rhythm.values import Unknown, Value


def counted(times_ms: Sequence[int], tokens: Sequence[int] | None = None) -> Counted:
    """A content stream with four characters a token."""
    each = tokens or [1] * len(times_ms)
    arrivals = [Arrival(t * 1_000, n, 4 * n) for t, n in zip(times_ms, each, strict=True)]
    return count_tokens(Stream(tuple(arrivals)))


def number(value: Value) -> float:
    """A value that must be known."""
    assert not isinstance(value, Unknown), value.reason
    return value


whole = st.integers(-(2**53), 2**53)
"""Any microseconds."""

gaps_us = st.lists(st.integers(0, 5_000_000), min_size=1, max_size=30)

arrivals = st.builds(
    Arrival,
    t_us=whole,
    tokens=st.none() | st.integers(-3, 2**40),
    characters=st.integers(-3, 2**40),
    kind=st.sampled_from(Kind),
    usage=st.none() | st.integers(-3, 2**40),
)

streams = st.builds(
    Stream,
    arrivals=st.lists(arrivals, max_size=12).map(tuple),
    written_us=st.none() | whole,
    final_usage=st.none() | st.integers(-3, 2**40),
    cancelled=st.booleans(),
    cold=st.booleans(),
)
"""Any stream, in any order."""


@st.composite
def ordered(draw: st.DrawFn) -> Stream:
    """A stream as a sound clock stamps it, with token counts and text in every chunk."""
    time = draw(st.integers(0, 10**9))
    found = []
    for gap in draw(gaps_us):
        time += gap
        found.append(Arrival(time, draw(st.integers(1, 20)), draw(st.integers(1, 80))))
    return Stream(tuple(found), written_us=draw(st.integers(0, found[0].t_us)))

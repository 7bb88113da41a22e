"""Records for the tests of the report: one turn of which every number is known, and any at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.turn_record import (
    ArrivalRecord,
    CostRecord,
    PauseRecord,
    SessionRecord,
    TurnRecord,
)

MS = 1_000
STARTED = datetime(2026, 1, 15, 9, 30, tzinfo=UTC)
SESSION = SessionRecord("s", STARTED, STARTED + timedelta(seconds=20), reports_playout=True)

COST = CostRecord("fast", "answer", "answered", 400, 0, 8, estimated=False, usd=0.002)
PARTS = (("endpointing", 200 * MS), ("first token", 300 * MS), ("voice", 150 * MS))
TURN = TurnRecord(
    number=1,
    kind="spoken",
    user_onset_us=1_000 * MS,
    user_end_us=2_000 * MS,
    committed_us=2_200 * MS,
    reply=1,
    requested_us=2_200 * MS,
    sounded_us=2_660 * MS,
    audible_us=2_660 * MS,
    ended_us=8_660 * MS,
    status="completed",
    measured=True,
    gap_us=660 * MS,
    parts=PARTS,
    speech_us=5_400 * MS,
    pauses=(
        PauseRecord(4_000 * MS, 600 * MS, Place.PHRASE, Cause.UNDERRUN, underrun_us=600 * MS),
        PauseRecord(6_000 * MS, 80 * MS, Place.WORD, Cause.AUTHORED),
    ),
    underruns=1,
    characters=80,
    heard_characters=60,
    first_sentence_heard=True,
    written_us=2_200 * MS,
    arrivals=(
        ArrivalRecord(2_500 * MS, characters=15, tokens=1),
        ArrivalRecord(2_600 * MS, characters=15, tokens=1),
        ArrivalRecord(2_700 * MS, characters=15, tokens=1),
        ArrivalRecord(6_100 * MS, characters=15, tokens=1),
    ),
    costs=(COST,),
)
"""The answer's text stalls for 3.4 s: what was banked by then was 3 s of speech."""


def quick(number: int, gap_ms: int = 500, **more: Any) -> TurnRecord:
    """A turn without a fault."""
    return replace(TURN, number=number, gap_us=gap_ms * MS, pauses=(), underruns=0, **more)


_times = st.none() | st.integers(-(2**40), 2**40)
_amounts = st.integers(-1_000, 10**7)
_texts = st.none() | st.text(max_size=20)
_pauses = st.builds(
    PauseRecord,
    at_us=st.integers(-(2**40), 2**40),
    duration_us=st.integers(-(10**6), 10**8),
    place=st.sampled_from(Place),
    cause=st.sampled_from(Cause),
    underrun_us=st.integers(0, 10**8),
)
_arrivals = st.builds(
    ArrivalRecord,
    t_us=st.integers(0, 2**40),
    characters=st.integers(0, 10**4),
    tokens=st.none() | st.integers(0, 10**4),
)
_costs = st.builds(
    CostRecord,
    backend=st.text(max_size=8),
    purpose=st.sampled_from(["answer", "hedge", "failover", "handover"]),
    outcome=st.text(max_size=8),
    prompt_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**6),
    completion_tokens=st.integers(0, 10**6),
    estimated=st.booleans(),
    usd=st.none() | st.floats(0, 100),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
_decisions = st.none() | st.dictionaries(
    st.sampled_from(["badge", "reason", "outcome", "hedged", "attempts", "considered"]), _json
)

_turns = st.builds(
    TurnRecord,
    number=st.just(1),
    kind=st.sampled_from(["spoken", "typed", "unasked", "dropped"]),
    user_onset_us=_times,
    user_end_us=_times,
    committed_us=_times,
    dropped=_texts,
    reply=st.none() | st.integers(0, 10),
    requested_us=_times,
    sounded_us=_times,
    audible_us=_times,
    ended_us=_times,
    status=st.sampled_from([None, "completed", "interrupted", "cancelled", "failed"]),
    trouble=_texts,
    measured=st.booleans(),
    gap_us=_times,
    parts=st.lists(
        st.tuples(st.sampled_from(["endpointing", "voice", "x<y"]), _amounts), max_size=3
    ).map(tuple),
    speech_us=_amounts,
    pauses=st.lists(_pauses, max_size=3).map(tuple),
    underruns=st.integers(0, 5),
    stop_us=_times,
    false_stop=st.booleans(),
    characters=st.integers(0, 500),
    heard_characters=st.integers(0, 500),
    first_sentence_heard=st.booleans(),
    written_us=_times,
    arrivals=st.lists(_arrivals, max_size=5).map(tuple),
    final_usage=st.none() | st.integers(0, 500),
    decision=_decisions,
    costs=st.lists(_costs, max_size=2).map(tuple),
    user_text=_texts,
    reply_text=_texts,
    heard_text=_texts,
)
any_turns = st.lists(_turns, max_size=4).map(
    lambda turns: [replace(turn, number=n) for n, turn in enumerate(turns, 1)]
)
"""Records that hold together or not."""
any_session = st.builds(
    SessionRecord,
    id=st.text(max_size=10),
    started_at=st.just(STARTED),
    ended_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    characters_per_second=st.floats(),
    details=st.dictionaries(st.text(max_size=5), _json, max_size=2),
)

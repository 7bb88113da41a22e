"""Turn records as Prometheus metrics: what is sampled, what is only counted, what stays bounded."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.turn_records import a_session
from tests.metrics.exposed import families, series, told, value
from voiceagent.metrics.labels import MOST, OTHER, REASON_CLASSES, Capped, reason_class
from voiceagent.metrics.prometheus import Metrics
from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.turn_record import ArrivalRecord, CostRecord, PauseRecord, TurnRecord

MS = 1_000
DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"
MOST_SERIES = 4_000


def turn(**fields: Any) -> TurnRecord:
    return replace(TurnRecord(number=1, kind="spoken", status="completed", measured=True), **fields)


def arrivals(*rows: tuple[int, int | None]) -> tuple[ArrivalRecord, ...]:
    """(milliseconds, tokens) of each chunk."""
    return tuple(ArrivalRecord(ms * MS, 20, tokens) for ms, tokens in rows)


def cost(**fields: Any) -> CostRecord:
    return replace(CostRecord("groq", "answer", "answered", 400, 100, 80, False, 0.002), **fields)


def test_m01_a_cancelled_request_gives_no_latency() -> None:
    begun = turn(requested_us=0, written_us=0, arrivals=arrivals((103, 1)))
    metrics = told(
        replace(begun, status="cancelled"),
        replace(begun, status="interrupted", stop_us=1, costs=(cost(outcome="cancelled"),)),
        turn(requested_us=0, written_us=0, status="cancelled"),
    )
    assert value(metrics, "first_token_seconds_count") == 0
    assert value(metrics, "response_gap_seconds_count") == 0
    assert value(metrics, "unknown_total", metric="first_token", reason_class="cancelled") == 3
    # A loser of a race is cancelled as well, and the one that led is a sample.
    raced = replace(begun, costs=(cost(), cost(backend="cerebras", outcome="cancelled")))
    assert value(told(raced), "first_token_seconds_sum", backend="groq") == pytest.approx(0.103)


def test_m02_a_clock_that_steps_back_gives_no_sample() -> None:
    metrics = told(
        turn(
            gap_us=-61_000 * MS,
            stop_us=-1,
            speech_us=-5,
            pauses=(PauseRecord(0, -100 * MS, Place.WORD, Cause.AUTHORED),),
            written_us=500 * MS,
            arrivals=arrivals((300, 1), (200, 1), (400, 1)),
        )
    )
    for name in ("response_gap", "barge_in_stop", "pause", "first_token"):
        assert value(metrics, f"{name}_seconds_count") == 0
        assert value(metrics, "unknown_total", metric=name, reason_class="negative") == 1
    assert value(metrics, "chunk_gap_seconds_count") == 1
    assert value(metrics, "unknown_total", metric="chunk_gap", reason_class="negative") == 1
    assert value(metrics, "unknown_total", metric="agent_speech", reason_class="negative") == 1
    assert value(metrics, "pauses_total") == value(metrics, "response_gaps_total") == 0


def test_m03_what_cannot_be_a_duration_is_counted_and_not_shown() -> None:
    epoch = 1_750_000_000 * 1_000 * MS
    metrics = told(turn(gap_us=epoch, stop_us=epoch, written_us=0, arrivals=arrivals((epoch, 1))))
    for name in ("response_gap", "barge_in_stop", "first_token"):
        assert value(metrics, f"{name}_seconds_count") == 0
        assert value(metrics, "unknown_total", metric=name, reason_class="absurd") == 1


def test_m05_the_gap_of_chunks_and_the_time_of_tokens_are_two_metrics() -> None:
    stream = arrivals((200, 1), (300, 5), (320, 1), (400, 4))
    metrics = told(turn(written_us=0, arrivals=stream))
    assert value(metrics, "chunk_gap_seconds_count") == 3
    assert value(metrics, "chunk_gap_seconds_sum") == pytest.approx(0.2)
    assert value(metrics, "time_per_output_token_seconds_sum", measured="true") == 0.02
    assert value(metrics, "stream_evenness_ratio_sum", measured="true") == 1


def test_estimated_tokens_are_not_measured() -> None:
    metrics = told(turn(written_us=0, arrivals=arrivals((0, None), (50, None), (100, None))))
    assert value(metrics, "time_per_output_token_seconds_count", measured="false") == 1
    assert value(metrics, "time_per_output_token_seconds_count", measured="true") == 0


def test_m06_the_first_token_is_the_first_text() -> None:
    silent = ArrivalRecord(100 * MS, 0, 1)
    metrics = told(turn(written_us=0, arrivals=(silent, *arrivals((300, 1)))))
    assert value(metrics, "first_token_seconds_sum") == 0.3


def test_m10_leading_silence_is_part_of_the_gap() -> None:
    heard = turn(
        user_end_us=1_000 * MS,
        sounded_us=1_500 * MS,
        audible_us=1_650 * MS,
        gap_us=650 * MS,
        parts=(("hold", 500 * MS), ("leading silence", 150 * MS)),
    )
    metrics = told(heard)
    assert value(metrics, "response_gap_seconds_sum", measured="true") == 0.65
    assert value(metrics, "response_gap_part_seconds_sum", part="leading_silence") == 0.15
    assert value(metrics, "response_gaps_unexplained_total") == 0
    short = told(replace(heard, parts=heard.parts[:1]))
    assert value(short, "response_gaps_unexplained_total") == 1


def test_m11_no_number_is_nan_or_infinite() -> None:
    broken = turn(costs=(cost(usd=math.nan), cost(usd=math.inf), cost(usd=-1.0)))
    metrics = told(broken, turn(status="failed"))
    metrics.session_ended(math.nan)
    metrics.loop_lag(math.inf)
    assert all(math.isfinite(number) for number in series(metrics).values())
    assert value(metrics, "cost_usd_total") == value(metrics, "turn_cost_usd_count") == 0
    assert value(metrics, "session_seconds_count") == 0
    assert value(metrics, "event_loop_lag_seconds_count") == 0
    assert value(metrics, "unknown_total", metric="cost") == 3


@pytest.mark.parametrize(
    ("gap_ms", "name"), [(-150, "overlap"), (299, "human"), (700, "noticeable"), (4_000, "broken")]
)
def test_a_gap_has_its_class_and_says_if_it_was_measured(gap_ms: int, name: str) -> None:
    metrics = told(turn(gap_us=gap_ms * MS, measured=False))
    assert value(metrics, "response_gaps_total", class_=name, measured="false") == 1
    assert value(metrics, "response_gap_seconds_count", measured="true") == 0
    assert value(metrics, "response_gap_seconds_sum") == max(0, gap_ms) / 1_000


def test_an_answer_that_never_came_is_broken_and_has_no_length() -> None:
    metrics = told(turn(status="failed", trouble="timeout"))
    assert value(metrics, "response_gaps_total", class_="broken") == 1
    assert value(metrics, "response_gap_seconds_count") == 0
    assert value(metrics, "troubles_total", code="timeout") == 1


def test_what_was_not_spoken_to_has_no_gap() -> None:
    metrics = told(turn(kind="unasked"), turn(kind="typed"), turn(kind="dropped", dropped="empty"))
    assert value(metrics, "unknown_total", metric="response_gap") == 0
    assert value(metrics, "turns_dropped_total", reason="empty") == 1
    assert value(metrics, "turns_total") == 3


def test_pauses_by_place_cause_and_class() -> None:
    pauses = (
        PauseRecord(0, 250 * MS, Place.PHRASE, Cause.UNDERRUN),
        PauseRecord(9, 600 * MS, Place.CLAUSE, Cause.AUTHORED),
    )
    metrics = told(turn(pauses=pauses, underruns=1, speech_us=3_000 * MS))
    where = {"place": "phrase", "cause": "underrun", "measured": "true"}
    assert value(metrics, "pauses_total", class_="awkward", **where) == 1
    assert value(metrics, "pauses_total", class_="fine", place="clause") == 1
    assert value(metrics, "pause_seconds_sum", **where) == 0.25
    assert value(metrics, "underruns_total") == 1
    assert value(metrics, "agent_speech_seconds_total") == 3


def test_stops_for_nothing_are_counted_apart() -> None:
    metrics = told(
        turn(status="interrupted", stop_us=310 * MS),
        turn(status="interrupted", stop_us=200 * MS, false_stop=True),
        turn(status="interrupted"),
    )
    assert value(metrics, "barge_in_stops_total", class_="ok") == 1
    assert value(metrics, "barge_in_stop_seconds_count") == 1
    assert value(metrics, "false_stops_total") == 1
    assert value(metrics, "unknown_total", metric="barge_in_stop", reason_class="missing") == 1


def test_tokens_and_dollars_of_every_attempt() -> None:
    hedge = cost(backend="cerebras", purpose="hedge", outcome="cancelled", estimated=True)
    metrics = told(turn(costs=(cost(), hedge)), turn(costs=(cost(usd=None),)))
    counted = {"backend": "groq", "measured": "true"}
    assert value(metrics, "tokens_total", direction="input", **counted) == 600
    assert value(metrics, "tokens_total", direction="cached_input", **counted) == 200
    assert value(metrics, "tokens_total", direction="output", measured="false") == 80
    assert value(metrics, "cost_usd_total", backend="groq") == 0.002
    assert value(metrics, "turn_cost_usd_sum") == 0.004
    assert value(metrics, "unknown_total", metric="turn_cost", reason_class="missing") == 1
    attempt = {"backend": "cerebras", "purpose": "hedge", "outcome": "cancelled"}
    assert value(metrics, "requests_total", **attempt) == 1


def test_the_speech_clock_says_what_was_in_hand_and_when_it_would_have_run_dry() -> None:
    # 20 characters are 1.333 s at 15 a second.
    metrics = told(turn(written_us=0, arrivals=arrivals((0, 1), (333, 1))))
    assert value(metrics, "headroom_seconds_sum") == pytest.approx(1.0, abs=0.001)
    dry = told(turn(written_us=0, arrivals=arrivals((0, 1), (3_000, 1))))
    assert value(dry, "predicted_underruns_total") == 1
    assert (value(dry, "headroom_seconds_count"), value(dry, "headroom_seconds_sum")) == (1, 0)


def test_times_of_an_answer_that_was_handed_over_belong_to_no_one_backend() -> None:
    decision = {"backend": "groq", "handed_over": True}
    metrics = told(turn(written_us=0, arrivals=arrivals((100, 1)), decision=decision))
    assert value(metrics, "first_token_seconds_count", backend="several") == 1


def test_the_state_of_the_server() -> None:
    metrics, other = Metrics(), Metrics()
    metrics.set_ready(True)
    metrics.session_began()
    metrics.session_began()
    metrics.session_ended(12.5)
    metrics.loop_lag(0.003)
    for total in (3, 3, 5):
        metrics.records_dropped(total)
    assert (value(metrics, "ready"), value(other, "ready")) == (1, 0)
    assert (value(metrics, "sessions_active"), value(metrics, "sessions_total")) == (1, 2)
    assert value(metrics, "session_seconds_sum") == 12.5
    assert value(metrics, "event_loop_lag_seconds_sum") == 0.003
    assert value(metrics, "records_dropped_total") == 5
    other.session_ended(1)
    assert value(other, "sessions_active") == 0


def test_a_whole_session_is_told() -> None:
    _, records = a_session(30)
    metrics = told(*records)
    assert value(metrics, "turns_total") == 30
    spoken = [r for r in records if r.kind == "spoken" and r.gap_us is not None]
    assert value(metrics, "response_gap_seconds_count") == len(spoken)
    assert value(metrics, "first_token_seconds_count") > 5


whole = st.integers(-(2**53), 2**53)
floats = st.floats()
names = st.none() | st.text(max_size=60) | st.sampled_from(["groq", "http://x/y", "a b"])
records = st.builds(
    TurnRecord,
    number=whole,
    kind=st.sampled_from(["spoken", "typed", "unasked", "dropped"]),
    status=names,
    dropped=names,
    trouble=names,
    measured=st.booleans(),
    requested_us=st.none() | whole,
    gap_us=st.none() | whole,
    parts=st.lists(st.tuples(st.text(max_size=9), whole), max_size=4).map(tuple),
    speech_us=whole,
    pauses=st.lists(
        st.builds(
            PauseRecord, whole, whole, st.sampled_from(Place), st.sampled_from(Cause), whole, whole
        ),
        max_size=3,
    ).map(tuple),
    underruns=whole,
    cushion_ms=st.none() | floats,
    stop_us=st.none() | whole,
    false_stop=st.booleans(),
    written_us=st.none() | whole,
    arrivals=st.lists(st.builds(ArrivalRecord, whole, whole, st.none() | whole), max_size=6).map(
        tuple
    ),
    final_usage=st.none() | whole,
    decision=st.none() | st.fixed_dictionaries({"backend": names, "outcome": names}),
    costs=st.lists(
        st.builds(
            CostRecord,
            st.text(max_size=60),
            st.text(max_size=9),
            st.text(max_size=9),
            whole,
            whole,
            whole,
            st.booleans(),
            st.none() | floats,
        ),
        max_size=3,
    ).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(records, max_size=3))
def test_any_records_give_an_exposition_of_finite_numbers(some: list[TurnRecord]) -> None:
    metrics = told(*some)
    for (name, labels), number in series(metrics).items():
        assert math.isfinite(number), name
        assert number >= 0, name
        for label, text in labels:
            assert text.isascii(), label
            assert "/" not in text, label
            assert len(text) <= 48, label


def test_series_stay_bounded_whatever_backends_are_called() -> None:
    random, metrics = Random(0), Metrics()
    _, base = a_session(30)
    for number in range(2_000):
        name = f"backend {random.random()}"
        costs = (cost(backend=name, outcome=name, purpose=name),)
        record = replace(base[number % 30], costs=costs, decision={"backend": name})
        metrics.turn(replace(record, trouble=name, parts=((name, 1),), status=name))
    found = {family.name: family for family in metrics.registry.collect()}
    assert sum(len(family.samples) for family in found.values()) < MOST_SERIES
    backends = {s.labels["backend"] for s in found["voiceagent_tokens"].samples}
    assert len(backends) == MOST + 1
    assert OTHER in backends


def test_names_follow_the_conventions_and_have_help() -> None:
    metrics = told(*a_session(30)[1])
    for family in families(metrics).values():
        assert family.documentation.strip(), family.name
        if family.type == "counter":
            assert all(s.name.endswith("_total") for s in family.samples), family.name
        assert not family.name.endswith(("_ms", "_us")), family.name


def test_the_document_lists_every_metric_and_no_other() -> None:
    written = DOCUMENT.read_text(encoding="utf-8")
    told_of = {line.split("`")[1] for line in written.splitlines() if line.startswith("| `voice")}
    exposed = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in Metrics().registry.collect()
        if family.name.startswith("voiceagent_")
    }
    assert told_of == exposed | {"voiceagent.response_gap", "voiceagent.pause"}


def test_the_format_that_is_asked_for() -> None:
    metrics = Metrics()
    assert metrics.render()[1].startswith("text/plain; version=0.0.4")
    scraper = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5"
    body, kind = metrics.render(scraper)
    assert kind.startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")
    for odd in ("*/*", "", "application/openmetrics-text;version=abc", ";;,,="):
        assert metrics.render(odd)[0]


def test_process_metrics_are_there() -> None:
    text = Metrics().render()[0].decode()
    assert "\npython_info{" in text
    assert "\npython_gc_collections_total{" in text


def test_open_labels_take_names_only_and_not_too_many() -> None:
    capped = Capped(2)
    assert [capped(v) for v in ("a", "first token", "c", "a", None)] == [
        *("a", "first_token", OTHER, "a", "none")
    ]
    for text in ("http://x", "", "x" * 49, "sk:secret", "\n", "é", "a\n"):
        assert Capped()(text) == OTHER
    assert {reason_class(r) for r in ("fewer than 3 chunks", "whatever")} <= set(REASON_CLASSES)

"""The figures of a session against numbers worked out by hand, and against any records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from tests.report.records import COST, MS, SESSION, TURN, any_session, any_turns, quick
from voiceagent.report.figures import report
from voiceagent.rhythm.pauses import DEFAULT_CUTS, Cause, Cuts, Place
from voiceagent.turn_record import PauseRecord, SessionRecord, TurnRecord


def one(turn: TurnRecord) -> dict[str, Any]:
    """The figures of a lone turn."""
    found: dict[str, Any] = report(SESSION, [turn])["turns"][0]
    return found


def test_the_gap_and_its_parts() -> None:
    turn = one(TURN)
    assert (turn["gap_ms"], turn["gap_class"]) == (660, "comfortable")
    split = turn["voice_to_voice"]
    assert [part["ms"] for part in split["parts"]] == [200, 300, 150]
    assert (split["sum_ms"], split["measured_ms"], split["unexplained_ms"]) == (650, 660, 10)
    assert split["adds_up"]


def test_the_stream() -> None:
    stream = one(TURN)["stream"]
    assert (stream["ttfat_ms"], stream["chunks"], stream["tokens"]) == (300, 4, 4)
    assert stream["token_source"] == "per_chunk"
    assert stream["chunk_gap_ms"]["p50"] == 100
    assert stream["tpot_ms"] == pytest.approx(1_200)
    # Gaps of 100, 100 and 3400: 3600² / (3 (100² + 100² + 3400²)).
    assert stream["evenness"] == pytest.approx(3_600**2 / (3 * 11_580_000))
    assert stream["evenness_band"] == "bursty"
    assert (stream["chunk_ratio"], stream["coalesced"]) == (1, False)
    assert (stream["stalls"], stream["stall_ratio"]) == (1, pytest.approx(3_200 / 3_600))
    assert stream["cold"]
    assert "ttfc_ms" not in stream


def test_speech_as_predicted_stands_beside_speech_as_heard() -> None:
    turn = one(TURN)
    # A lead of 150 (its own voice): sound from 2650, a second a chunk, dry at 5650, more at 6250.
    predicted = turn["predicted"]
    assert (predicted["lead_ms"], predicted["lead_assumed"]) == (150, False)
    assert (predicted["underruns"], predicted["underrun_ms"]) == (1, 600)
    assert predicted["headroom_ms"] == [900, 1800, -600]
    assert predicted["fluency"] == pytest.approx(4_000 / 4_600)
    measured = turn["measured"]
    assert (measured["underruns"], measured["underrun_ms"]) == (1, 600)
    assert measured["fluency"] == pytest.approx(0.9)


def test_pauses_barge_in_and_faults() -> None:
    turn = one(replace(TURN, status="interrupted", stop_us=310 * MS))
    assert [pause["pause_class"] for pause in turn["pauses"]] == ["severe", "micro"]
    assert turn["barge_in"] == {"stop_ms": 310, "stop_class": "ok", "false_stop": False}
    assert turn["faults"] == ["awkward_underrun"]
    assert not turn["useful"]


def test_other_cuts_are_used_everywhere() -> None:
    cuts = {**DEFAULT_CUTS, Place.PHRASE: Cuts(awkward_ms=700, severe_ms=900)}
    found = report(SESSION, [TURN], cuts)
    assert found["turns"][0]["pauses"][0]["pause_class"] == "fine"
    assert found["rolled_up"]["awkward_pauses"] == 0
    assert found["rolled_up"]["awkward_pauses_per_min"] == 0
    assert found["rolled_up"]["objective"]["turn_slo"] == 1
    assert found["moments"] == []


def test_rolled_up() -> None:
    cough = replace(quick(4), status="interrupted", stop_us=100 * MS, false_stop=True)
    barge_in = replace(quick(3, 1_300), status="interrupted", stop_us=240 * MS)
    found = report(SESSION, [TURN, quick(2), barge_in, cough])
    rolled = found["rolled_up"]
    assert found["verdict"] == "3 of 4 turns within a second; 1 awkward pause"
    assert rolled["cold_turn"] == 1
    assert rolled["gap"]["cold"]["gap_ms"]["p50"] == 660
    warm = rolled["gap"]["warm"]
    assert (warm["gap_ms"]["n"], warm["gap_ms"]["p50"], warm["gap_ms"]["max"]) == (3, 500, 1_300)
    assert warm["gap_ms"]["too_small"] == ["p95", "p99"]
    assert rolled["gap"]["all"]["share_slow"] == 0.25
    assert rolled["ttfat_ms"]["warm"]["n"] == 3
    assert rolled["awkward_pauses_per_min"] == pytest.approx(1 / (4 * 5.4 / 60))
    assert rolled["objective"]["turn_slo"] == 0.5
    assert rolled["objective"]["faults"] == {"awkward_underrun": 1, "slow": 1}
    assert rolled["barge_ins"]["stop_ms"]["max"] == 240
    assert rolled["barge_ins"]["false_stop_rate"] == 0.5
    costs = rolled["costs"]
    assert (costs["useful_answers"], costs["total"]["usd"]) == (2, pytest.approx(0.008))
    assert costs["cost_per_useful_answer"] == pytest.approx(0.004)
    assert costs["heard_fraction"] == pytest.approx(0.75)
    assert rolled["parts"]["voice"]["p50"] == 150
    assert (rolled["headroom"]["pieces"]["n"], rolled["predicted_underruns"]) == (12, 4)


def test_moments_name_place_cause_and_time() -> None:
    found = report(SESSION, [TURN, quick(2, 1_300, user_end_us=9_000 * MS)])["moments"]
    assert [(m["kind"], m["turn"], m["at_ms"], m["duration_ms"]) for m in found] == [
        ("pause", 1, 4_000, 600),
        ("gap", 2, 9_000, 1_300),
    ]
    assert (found[0]["place"], found[0]["cause"], found[0]["moment_class"]) == (
        "phrase",
        "underrun",
        "severe",
    )
    assert (found[1]["cause"], found[1]["moment_class"]) == ("first token", "awkward")


def test_what_gives_no_sample() -> None:
    silent = {"sounded_us": None, "audible_us": None, "gap_us": None, "arrivals": ()}
    for status in ("cancelled", "interrupted"):
        turn = one(replace(TURN, status=status, **silent))
        assert turn["gap_ms"] is None
        assert turn["gap_ms_reason"] == "cancelled"
        assert turn["faults"] == ["awkward_underrun"]
    late = one(replace(TURN, status="cancelled"))
    assert (late["stream"]["ttfat_ms"], late["stream"]["ttfat_ms_reason"]) == (None, "cancelled")


def test_an_answer_that_never_came_is_broken_and_in_no_percentile() -> None:
    failed = replace(quick(2), sounded_us=None, audible_us=None, gap_us=None, status="failed")
    found = report(SESSION, [quick(1), failed])
    assert found["turns"][1]["gap_class"] == "broken"
    assert found["turns"][1]["faults"] == ["error", "slow"]
    warm = found["rolled_up"]["gap"]["warm"]
    assert (warm["unanswered"], warm["gap_ms"]["n"], warm["classes"]["broken"]) == (1, 0, 1)
    assert found["moments"][0]["duration_ms_reason"] == "no answer came"


def test_an_answer_that_the_session_did_not_wait_for_is_not_broken() -> None:
    cut = replace(TURN, status=None, sounded_us=None, audible_us=None, gap_us=None)
    assert one(cut)["gap_ms_reason"] == "the session ended before the answer"


def test_a_typed_turn_has_a_wait_and_no_gap() -> None:
    typed = replace(quick(1), kind="typed", gap_us=None, committed_us=1_000 * MS)
    found = one(typed)
    assert (found["gap_ms"], found["wait_ms"], found["faults"]) == (None, 1_660, ["slow"])


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    unpriced = replace(COST, backend="other", usd=None)
    costs = report(SESSION, [replace(TURN, costs=(COST, unpriced))])["rolled_up"]["costs"]
    assert costs["total"]["usd"] is None
    assert costs["total"]["unpriced"] == 1
    assert costs["cost_per_useful_answer_reason"] == "the price of an attempt is not known"
    assert [line["usd"] for line in costs["lines"]] == [0.002, None]


def test_nothing_is_known_of_nothing() -> None:
    found = report(SESSION, [])
    assert found["verdict"] == "No response gap is known; no speech of the agent is recorded"
    assert found["rolled_up"]["objective"]["turn_slo"] is None
    assert found["rolled_up"]["awkward_pauses_per_min_reason"] == "no speech"


@settings(max_examples=60, deadline=None)
@given(any_session, any_turns)
def test_any_records_give_json_whose_sums_are_theirs(
    session: SessionRecord, turns: list[TurnRecord]
) -> None:
    found = json.loads(json.dumps(report(session, turns), allow_nan=False))
    rolled = found["rolled_up"]
    assert len(found["turns"]) == sum(rolled["turns"].values()) == len(turns)
    assert sum(line["n"] for line in rolled["pauses"]) == sum(len(t.pauses) for t in turns)
    assert rolled["speech_ms"] == pytest.approx(sum(t.speech_us for t in turns) / MS)
    everything = [cost for turn in turns for cost in turn.costs]
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens", "estimated"):
        total = sum(getattr(cost, name) for cost in everything)
        assert rolled["costs"]["total"][name] == total
        assert sum(line[name] for line in rolled["costs"]["lines"]) == total
    spoken = sum(turn.kind == "spoken" for turn in turns)
    gaps = rolled["gap"]["all"]
    known = sum(gaps["classes"].values())
    assert known + sum(gaps["gap_ms"]["unknown"].values()) == spoken
    for name, classes in gaps["classes"].items():
        parts = rolled["gap"]["warm"]["classes"][name] + rolled["gap"]["cold"]["classes"][name]
        assert parts == classes


def test_a_pause_of_impossible_length_has_no_class() -> None:
    pause = PauseRecord(0, -1, Place.WORD, Cause.AUTHORED)
    found = report(SESSION, [replace(TURN, pauses=(pause,))])
    assert found["turns"][0]["pauses"][0]["pause_class"] is None
    assert found["rolled_up"]["pauses"][0]["pause_class"] == "unknown"

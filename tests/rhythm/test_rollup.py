"""Good turns, what a useful answer costs, what was heard."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rhythm.streams import number
from voiceagent.rhythm.gaps import NO_ANSWER
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.pauses import Cause, Pause, Place
from voiceagent.rhythm.rollup import (
    Price,
    Spend,
    TurnOutcome,
    cost,
    cost_per_useful_answer,
    heard_fraction,
    is_useful_analysis,
    is_useful_turn,
    turn_faults,
    turn_slo,
)
from voiceagent.rhythm.values import CANCELLED, MISSING, Unknown

GOOD = TurnOutcome(650)
UNDERRUN = Pause(0, 900_000, Place.CLAUSE, Cause.UNDERRUN)
PRICE = Price(0.15, 0.075, 0.60, gpu_per_hour=3.60)


def test_worked_example_of_the_turn_slo() -> None:
    turns = [GOOD] * 20
    turns[3] = TurnOutcome(1000)
    turns[7] = TurnOutcome(1400, pauses=(UNDERRUN,))
    turns[12] = TurnOutcome(500, error=True)
    found = turn_slo(turns)
    assert (found.turn_slo, found.turns, found.bad) == (0.85, 20, 3)
    assert found.faults == {"awkward_underrun": 1, "error": 1, "slow": 2}


@pytest.mark.parametrize(
    ("turn", "faults"),
    [
        (GOOD, set()),
        (TurnOutcome(999.9), set()),
        (TurnOutcome(-300), set()),
        (TurnOutcome(1000), {"slow"}),
        (TurnOutcome(NO_ANSWER), {"slow"}),
        (TurnOutcome(math.nan), {"slow"}),
        (TurnOutcome(Unknown(CANCELLED)), set()),
        (TurnOutcome(Unknown(MISSING)), {"gap_unknown"}),
        (replace(GOOD, false_takeover=True, error=True), {"false_takeover", "error"}),
        (replace(GOOD, pauses=(UNDERRUN,)), {"awkward_underrun"}),
        (replace(GOOD, pauses=(replace(UNDERRUN, duration_us=899_999),)), set()),
        (replace(GOOD, pauses=(replace(UNDERRUN, cause=Cause.AUTHORED),)), set()),
    ],
)
def test_what_makes_a_turn_bad(turn: TurnOutcome, faults: set[str]) -> None:
    assert turn_faults(turn) == faults
    assert is_useful_turn(first_sentence_heard=True, faults=turn_faults(turn)) is not bool(faults)
    assert not is_useful_turn(first_sentence_heard=False, faults=turn_faults(turn))


def test_worked_example_of_cost() -> None:
    spends = [Spend(PRICE, 400, 800, 80, gpu_us=3_000_000)] * 10
    assert number(cost(spends)) == pytest.approx(0.03168, abs=1e-12)
    assert number(cost_per_useful_answer(spends, 8)) == pytest.approx(0.00396, abs=1e-12)


def test_an_unheard_request_costs_and_an_unknown_one_hides_the_cost() -> None:
    heard, hedged = Spend(PRICE, 1_000_000, 0, 0), Spend(PRICE, 0, 0, 1_000_000)
    assert number(cost([heard, hedged])) == pytest.approx(0.75)
    assert isinstance(cost_per_useful_answer([heard, Spend(PRICE, 5, None, 5)], 1), Unknown)
    assert number(cost_per_useful_answer([heard, hedged], 1)) == pytest.approx(0.75)
    assert isinstance(cost_per_useful_answer([heard], 0), Unknown)


def test_an_analysis_is_useful_where_it_was_told() -> None:
    told = [
        is_useful_analysis(delivered=d, cancelled=c) for d in (True, False) for c in (False, True)
    ]
    assert told == [True, False, False, False]


def test_worked_example_of_the_heard_fraction() -> None:
    assert heard_fraction(60, 80) == 0.75
    assert (heard_fraction(0, 80), heard_fraction(80, 80)) == (0, 1)
    for impossible in ((0, 0), (5, 4), (-1, 4), (math.nan, 4)):
        assert isinstance(heard_fraction(*impossible), Unknown)


outcomes = st.builds(
    TurnOutcome,
    gap_ms=st.floats(-200, 5_000) | st.sampled_from([NO_ANSWER, Unknown(CANCELLED)]),
    pauses=st.sampled_from([(), (UNDERRUN,)]),
    error=st.booleans(),
    false_takeover=st.booleans(),
)


@given(st.lists(outcomes, max_size=30))
def test_m11_a_session_of_any_turns_has_a_share_that_json_can_carry(
    turns: list[TurnOutcome],
) -> None:
    found = turn_slo(turns)
    json.dumps(plain(found), allow_nan=False)
    if turns:
        assert number(found.turn_slo) == 1 - found.bad / len(turns)
        most = max(found.faults.values(), default=0)
        assert most <= found.bad <= sum(found.faults.values())
    else:
        assert plain(found) == {
            "turn_slo": None,
            "turn_slo_reason": "no turns",
            "turns": 0,
            "bad": 0,
            "faults": {},
        }

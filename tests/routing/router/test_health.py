"""What is known of backends, and who is asked for it."""

from __future__ import annotations

import pytest

from routing.breaker import Breaker
from routing.choosing import Considered, rank, reason
from routing.errors import BackendError, Kind
from routing.health import Health, Pace, longest_gap, percentile
from routing.hedging import HedgeAllowance

MS = 1_000
SECOND = 1_000_000
BUDGET = 450 * MS


def error(kind: Kind, retry_after_s: float | None = None) -> BackendError:
    return BackendError(kind, kind, retry_after_s=retry_after_s)


def test_l02_a_backend_rests_for_as_long_as_it_asks() -> None:
    breaker = Breaker()
    breaker.failed(0, error("rate_limited", 30.0))
    assert breaker.state(29 * SECOND) == "resting"
    assert breaker.rests_for(10 * SECOND) == 20 * SECOND
    assert breaker.state(30 * SECOND) == "trial"


@pytest.mark.parametrize("kind", ["rate_limited", "unavailable", "refused", "auth"])
def test_some_failures_are_enough_alone(kind: Kind) -> None:
    breaker = Breaker()
    breaker.failed(0, error(kind))
    assert breaker.state(SECOND) == "resting"
    assert breaker.reason == kind.replace("_", " ")


@pytest.mark.parametrize("kind", ["timeout", "broken_stream", "in_stream"])
def test_an_accident_is_not_but_two_are(kind: Kind) -> None:
    breaker = Breaker()
    breaker.failed(0, error(kind))
    assert breaker.state(1) == "closed"
    breaker.failed(1, error(kind))
    assert breaker.state(2) == "resting"


def test_a_bad_request_is_the_requests_fault_until_it_is_the_third_in_a_row() -> None:
    breaker = Breaker()
    for _ in range(2):
        breaker.failed(0, error("bad_request"))
        assert breaker.state(1) == "closed"
    breaker.failed(0, error("bad_request"))
    assert breaker.state(1) == "resting"


def test_rests_grow_to_a_minute_and_one_good_answer_ends_them() -> None:
    breaker, now, rests = Breaker(), 0, []
    for _ in range(8):
        breaker.failed(now, error("unavailable"))
        rests.append(breaker.rests_for(now) // SECOND)
        now += breaker.rests_for(now)
    assert rests == [2, 4, 8, 16, 32, 60, 60, 60]
    breaker.worked()
    assert breaker.state(now) == "closed"
    breaker.failed(now, error("unavailable"))
    assert breaker.rests_for(now) == 2 * SECOND


def test_answers_that_begin_well_and_break_off_add_up() -> None:
    breaker = Breaker()
    for _ in range(2):
        breaker.began()
        breaker.failed(0, error("broken_stream"))
    assert breaker.state(1) == "resting"


def test_one_request_at_a_time_tries_a_backend_after_its_rest() -> None:
    breaker = Breaker()
    breaker.failed(0, error("unavailable"))
    breaker.asked(3 * SECOND)
    assert breaker.state(3 * SECOND) == "resting"
    breaker.given_up()
    assert breaker.state(3 * SECOND) == "trial"


def answered(*firsts: int, starved: int = 0, assumed: int = 300) -> Health:
    health = Health(assumed * MS)
    for first in firsts:
        health.answered(Pace(0, first * MS, starved * MS, 80 * MS))
    return health


def test_dead_air_is_how_probable_lateness_is_times_how_much() -> None:
    health = answered(*[250] * 6, 850, 1_050)
    late = (400 + 600) * MS / (8 + 2)
    assert health.figures(0, BUDGET).dead_air == pytest.approx(late)


def test_starved_pauses_count_as_dead_air() -> None:
    even, uneven = answered(*[200] * 8), answered(*[200] * 8, starved=500)
    assert even.figures(0, BUDGET).dead_air == 0
    assert uneven.figures(0, BUDGET).dead_air == pytest.approx(400 * MS)


def test_what_is_old_counts_no_more() -> None:
    health = answered(*[2_000] * 30)
    figures = health.figures(16 * 60 * SECOND, BUDGET)
    assert (figures.dead_air, figures.usual_gap, figures.measured) == (0, 0, 0)
    assert figures.first_p50 == figures.first_p95 == 300 * MS


def test_the_percentiles_of_beginnings_count_the_assumption_as_two_answers() -> None:
    health = Health(300)
    for first, gap in [(700, 40), (100, 10), (500, 90), (200, 20)]:
        health.answered(Pace(0, first, 0, gap))
    figures = health.figures(0, BUDGET)  # 100, 200, 300, 300, 500, 700
    assert (figures.first_p50, figures.first_p95) == (300, 650)
    assert (figures.usual_gap, figures.measured) == (40, 4)


def test_percentiles_are_linear_and_gaps_are_the_longest() -> None:
    assert percentile([10, 20, 30, 40], 50) == 25
    assert percentile([5], 95) == 5
    assert longest_gap([0, 20, 120, 130]) == 100
    assert longest_gap([7]) == 0


def known(name: str, dead_air: int = 0, usd: float | None = 0.0, **changes: object) -> Considered:
    values = {"state": "closed", "rests_for": 0} | changes
    return Considered(name, values["state"], dead_air * MS, 0, 0, 0, 9, usd, values["rests_for"])  # type: ignore[arg-type]


def order(*candidates: Considered, thrift: bool = False) -> list[str]:
    return [one.name for one in rank(candidates, thrift=thrift)]


def test_the_least_dead_air_is_asked_and_cost_breaks_ties() -> None:
    assert order(known("slow", 400), known("quick", 100, 0.01)) == ["quick", "slow"]
    assert order(known("dear", 10, 0.02), known("cheap", 30, 0.01)) == ["cheap", "dear"]
    assert order(known("unpriced", 0, None), known("priced", 0, 0.5)) == ["priced", "unpriced"]
    assert order(known("first"), known("second")) == ["first", "second"]


def test_when_money_is_short_cost_comes_first() -> None:
    assert order(known("quick", 0, 0.02), known("slow", 300, 0.0), thrift=True)[0] == "slow"


def test_those_that_rest_come_last_and_all_resting_means_the_least_bad() -> None:
    resting = known("a", state="resting", rests_for=9 * SECOND)
    shorter = known("b", 500, state="resting", rests_for=2 * SECOND)
    assert order(resting, known("c", 900), shorter) == ["c", "b", "a"]
    assert order(resting, shorter) == ["b", "a"]
    assert "least bad" in reason(rank([resting, shorter]), [], thrift=False)


def test_every_choice_has_its_reason_in_one_sentence() -> None:
    ranked = rank([known("a", 100), known("b", 400)])
    assert reason(ranked, [], thrift=False) == (
        "a (100 ms of dead air by 9 answers) is quicker than b (400 ms of dead air by 9 answers)"
    )
    assert "only one" in reason(ranked[:1], [known("c")], thrift=False)
    assert reason(ranked[:1], [known("c")], thrift=False).endswith("over the budget: c")


def test_hedges_are_one_in_twenty() -> None:
    allowance, hedged = HedgeAllowance(), 0
    for _ in range(1_000):
        hedge = allowance.reserve()
        hedged += hedge
        allowance.turn(hedge, reserved=hedge)
    assert 45 <= hedged <= 50


def test_answers_at_one_time_share_the_hedges() -> None:
    allowance = HedgeAllowance()
    assert [allowance.reserve() for _ in range(10)] == [True] + [False] * 9
    allowance.turn(hedged=False, reserved=True)
    assert allowance.reserve()

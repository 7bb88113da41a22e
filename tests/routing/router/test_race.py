"""The competition for one answer, as a pure machine: each rule, then any order of events."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from routing.choosing import Considered
from routing.errors import BackendError
from routing.race import Action, Close, Lead, Open, Over, Pause, Race, RaceRules, Wake

MS = 1_000
SECOND = 1_000_000
DOWN = BackendError("unavailable", "503")


def known(name: str, first_p50: int = 200, first_p95: int = 400, gap: int = 50) -> Considered:
    """A healthy backend; times in milliseconds."""
    return Considered(name, "closed", 0, first_p50 * MS, first_p95 * MS, gap * MS, 20, 0.0)


def race(*names: str, hedge: bool = False) -> Race:
    return Race([known(name) for name in names], may_hedge=hedge)


def only(actions: Sequence[Action]) -> list[Action]:
    """Without the wake-ups."""
    return [action for action in actions if not isinstance(action, Wake)]


def wake(actions: Sequence[Action]) -> int:
    (found,) = [action.at for action in actions if isinstance(action, Wake)]
    return found


def test_a_quick_answer_asks_nobody_else() -> None:
    one = race("a", "b", hedge=True)
    assert only(one.begin(0)) == [Open(0, "a", "answer")]
    assert only(one.content(0, 300 * MS)) == [Lead(0)]
    assert only(one.content(0, 350 * MS)) == []
    assert only(one.ended(0, 900 * MS)) == [Over(None)]
    assert len(one.attempts) == 1


def test_l02_a_failure_before_the_first_content_asks_the_next_at_once() -> None:
    one = race("a", "b", "c")
    one.begin(0)
    assert only(one.failed(0, 20 * MS, DOWN)) == [Open(1, "b", "failover")]
    assert only(one.failed(1, 40 * MS, DOWN)) == [Open(2, "c", "failover")]
    assert only(one.failed(2, 60 * MS, DOWN)) == [Over(DOWN)]


def test_l09_an_answer_without_content_is_a_failure() -> None:
    one = race("a", "b")
    one.begin(0)
    assert only(one.ended(0, 20 * MS)) == [Open(1, "b", "failover")]


def test_the_hedge_waits_for_the_later_of_p95_and_what_the_budget_leaves() -> None:
    one = race("a", "b", hedge=True)
    assert wake(one.begin(0)) == 400 * MS  # the p95: 450 - 200 - 50 is earlier
    assert only(one.woke(400 * MS)) == [Open(1, "b", "hedge")]
    slow = Race([known("a", first_p95=100), known("b", first_p50=50)], may_hedge=True)
    assert wake(slow.begin(0)) == 350 * MS


def test_the_first_of_two_leads_and_the_other_is_closed() -> None:
    one = race("a", "b", hedge=True)
    one.begin(0)
    one.woke(400 * MS)
    assert only(one.content(1, 500 * MS)) == [Close(0), Lead(1)]
    assert one.content(0, 501 * MS) == []


def test_an_answer_that_may_not_be_hedged_is_not() -> None:
    one = race("a", "b")
    assert wake(one.begin(0)) == RaceRules().late


def test_late_content_asks_another_beside_it_and_either_may_win() -> None:
    one = race("a", "b")
    one.begin(0)
    assert only(one.woke(1_500 * MS)) == [Open(1, "b", "failover")]
    assert only(one.content(0, 1_600 * MS)) == [Close(1), Lead(0)]


def test_at_most_two_are_asked_at_one_time() -> None:
    one = race("a", "b", "c", hedge=True)
    one.begin(0)
    one.woke(400 * MS)
    assert only(one.woke(2 * SECOND)) == []
    assert only(one.failed(0, 2 * SECOND, DOWN)) == []
    assert only(one.woke(2 * SECOND)) == [Open(2, "c", "failover")]


def test_without_content_for_too_long_an_attempt_is_given_up() -> None:
    one = race("a")
    due = wake(one.begin(0))
    assert due == RaceRules().first_content
    closed, over = only(one.woke(due))
    assert closed == Close(0)
    assert isinstance(over, Over)
    assert over.error is not None
    assert over.error.kind == "timeout"


def test_l01_a_stall_is_handed_over_when_the_speech_left_is_short() -> None:
    one = race("a", "b")
    one.begin(0)
    one.content(0, 100 * MS)
    due = wake(one.speech(3 * SECOND, 150 * MS))
    assert due == 3 * SECOND - (400 + 250) * MS
    closed, pause = only(one.woke(due))
    assert closed == Close(0)
    assert isinstance(pause, Pause)
    assert only(one.resume(said=True, now=due)) == [Open(1, "b", "handover")]
    assert only(one.content(1, due + 100 * MS)) == [Lead(1)]
    assert only(one.ended(1, due + 200 * MS)) == [Over(None)]


def test_a_pause_with_much_speech_left_is_nobodys_concern() -> None:
    one = race("a", "b")
    one.begin(0)
    one.content(0, 100 * MS)
    one.speech(9 * SECOND, 150 * MS)
    assert only(one.woke(2 * SECOND)) == []
    assert only(one.content(0, 4 * SECOND)) == []


def broken_off(one: Race) -> None:
    """The first backend breaks off after some text that is spoken, and the next is asked."""
    one.begin(0)
    one.content(0, 100 * MS)
    one.failed(0, 200 * MS, DOWN)
    one.resume(said=True, now=200 * MS)


def test_an_answer_is_handed_over_once() -> None:
    one = race("a", "b", "c")
    broken_off(one)
    one.content(1, 300 * MS)
    assert only(one.failed(1, 400 * MS, DOWN)) == [Over(DOWN)]


def test_when_nothing_was_spoken_yet_it_is_a_failover_and_may_happen_again() -> None:
    one = race("a", "b", "c")
    one.begin(0)
    for number in (0, 1):
        one.content(number, 100 * MS)
        one.failed(number, 200 * MS, DOWN)
        (opened,) = only(one.resume(said=False, now=200 * MS))
        assert isinstance(opened, Open)
        assert opened.purpose == "failover"


def test_nothing_is_handed_over_after_a_tool_call_began() -> None:
    one = race("a", "b")
    one.begin(0)
    one.content(0, 100 * MS, tool=True)
    assert only(one.failed(0, 200 * MS, DOWN)) == [Over(DOWN)]


def test_a_rest_that_is_empty_completes_the_answer() -> None:
    one = race("a", "b")
    broken_off(one)
    assert only(one.ended(1, 300 * MS)) == [Lead(1), Over(None)]


def test_after_a_handover_that_fails_another_is_asked_for_the_rest_only() -> None:
    one = race("a", "b", "c")
    broken_off(one)
    assert only(one.failed(1, 300 * MS, DOWN)) == [Open(2, "c", "handover")]


def test_who_only_lost_the_start_can_still_take_over() -> None:
    one = race("a", "b", hedge=True)
    one.begin(0)
    one.woke(400 * MS)
    one.content(0, 500 * MS)
    assert isinstance(only(one.failed(0, 600 * MS, DOWN))[0], Pause)
    assert only(one.resume(said=True, now=600 * MS)) == [Open(2, "b", "handover")]


def test_an_answer_that_was_called_complete_does_not_stall_and_cannot_break() -> None:
    one = race("a", "b")
    one.begin(0)
    one.content(0, 100 * MS)
    assert only(one.finished(0, 130 * MS)) == []
    assert only(one.woke(9 * SECOND)) == []
    assert only(one.failed(0, 9 * SECOND, DOWN)) == [Over(None)]


def test_a_lone_backend_that_stalls_is_waited_for() -> None:
    one = race("a")
    one.begin(0)
    assert one.content(0, 100 * MS) == [Lead(0)]  # and no wake-up: nobody could go on


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["content", "tool", "finished", "ended", "failed", "woke", "speech", "resume"]
        ),
        st.integers(0, 3),
        st.integers(0, 4_000 * MS),
    ),
    max_size=40,
)


@given(STEPS, st.integers(1, 3), st.booleans())
def test_any_order_of_events_keeps_the_rules(
    steps: list[tuple[str, int, int]], backends: int, hedge: bool
) -> None:
    one = race(*"abc"[:backends], hedge=hedge)
    now, seen = 0, list(one.begin(0))
    paused = over = False
    for what, number, later in steps:
        now += later
        match what:
            case "content" | "tool":
                did = one.content(number, now, tool=what == "tool")
            case "finished":
                did = one.finished(number, now)
            case "ended":
                did = one.ended(number, now)
            case "failed":
                did = one.failed(number, now, DOWN)
            case "woke":
                did = one.woke(now)
            case "speech":
                did = one.speech(now + later, now)
            case _:
                did = one.resume(bool(number), now)
                paused = False
        assert not (over and only(did)), "it went on after its end"
        paused = paused or any(isinstance(action, Pause) for action in did)
        over = over or any(isinstance(action, Over) for action in did)
        running = [attempt for attempt in one.attempts if attempt.outcome == "running"]
        assert over or paused or running, "nobody answers and nobody was told"
        assert len(running) <= 2
        waits = any(isinstance(action, Wake) for action in did) or one.leader is not None
        assert over or paused or waits or not did, "a wait without an end"
        seen += did
    latest: dict[str, str] = {}
    for attempt in one.attempts:
        before = latest.get(attempt.backend.name, "cancelled")
        assert before == "cancelled", "a backend that failed was asked again"
        latest[attempt.backend.name] = attempt.outcome
    assert sum(isinstance(action, Over) for action in seen) <= 1
    handed = [a for a in one.attempts if a.purpose == "handover"]
    assert sum(attempt.first_content is not None for attempt in handed) <= 1
    after = one.attempts[one.attempts.index(handed[0]) :] if handed else []
    assert all(a.purpose == "handover" for a in after), "the whole answer was asked for again"
    assert sum(isinstance(a, Open) and a.purpose == "hedge" for a in seen) <= int(hedge)

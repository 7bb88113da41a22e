"""What must hold whatever happens, in whatever order."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.world import Answer, Speech, World
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.rules import MS, SECOND, Rules
from voiceagent.conversation.states import (
    AGENT_DEADLINES,
    USER_DEADLINES,
    Agent,
    User,
    diagram,
)

ms = st.integers(1, 3_000).map(lambda n: n * MS)
pieces = st.lists(
    st.tuples(ms, st.sampled_from(["Yes, ", "it is ", "fine. ", "On Monday at 9. ", " ", "12"])),
    max_size=5,
)
answers = st.lists(
    st.builds(Answer, pieces, st.sampled_from(["finish", "finish", "fail", "silence"])),
    min_size=1,
    max_size=4,
)
texts = st.lists(
    st.sampled_from(["", "what is my balance", "mm-hmm", "stop", "and also this?"]),
    min_size=1,
    max_size=4,
)
speech = st.lists(st.builds(Speech, ms, ms), max_size=6)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    speech=speech,
    texts=texts,
    answers=answers,
    stt=ms,
    voice=ms,
    probability=st.sampled_from([None, 0.1, 0.4, 0.9]),
    reports=st.booleans(),
)
def test_any_call_ends_quietly_with_one_answer_a_turn_and_a_true_history(
    speech: list[Speech],
    texts: list[str],
    answers: list[Answer],
    stt: int,
    voice: int,
    probability: float | None,
    reports: bool,
) -> None:
    world = World(
        speech=speech,
        texts=lambda utterance, revision: texts[(utterance + revision) % len(texts)],
        answers=lambda n: answers[n % len(answers)],
        stt_delay=stt,
        voice_delay=voice,
        probability=probability,
        reports=reports,
        rules=Rules(idle=5 * SECOND),
        greet=True,
    ).run(600 * SECOND)
    core = world.conversation
    assert (core.user, core.agent) == (User.QUIET, Agent.IDLE)
    assert not core.timers.live
    assert_one_sounding_reply_a_turn(world)
    if reports:
        assert_history_is_what_was_heard(world)


def assert_one_sounding_reply_a_turn(world: World) -> None:
    turns, sounded, reply_of = 0, [], {}
    for _, action in world.told:
        if isinstance(action, act.TurnCommitted):
            turns += 1
        elif isinstance(action, act.ReplyStarted):
            reply_of[action.reply] = turns
        elif isinstance(action, act.ReplySounded) and action.gap is not None:
            sounded.append(reply_of[action.reply])
    assert len(sounded) == len(set(sounded)), "two voices answered one turn"


def assert_history_is_what_was_heard(world: World) -> None:
    items = {a.reply: a.item for a in world.of(act.ReplyStarted) if isinstance(a, act.ReplyStarted)}
    for reply, item in items.items():
        entry = world.conversation.history.find(item)
        if entry is not None:
            assert entry.content() == world.heard(reply)


ids = st.integers(0, 3)
at = st.just(0)
any_event = st.one_of(
    st.builds(ev.SpeechStarted, at, ids, at),
    st.builds(ev.SpeechContinued, at, ids),
    st.builds(ev.SpeechPaused, at, ids, at),
    st.builds(ev.SpeechResumed, at, ids),
    st.builds(ev.InputCommitted, at, ids),
    st.builds(
        ev.Transcribed, at, ids, ids, st.sampled_from(["", "yes", "hello there"]), st.booleans()
    ),
    st.builds(ev.TranscriptionFailed, at, ids, ids, st.booleans()),
    st.builds(ev.TurnScored, at, ids, ids, st.sampled_from([None, 0.1, 0.9])),
    st.builds(ev.ReplyRequested, at),
    st.builds(ev.ReplyCancelled, at),
    st.builds(ev.TextArrived, at, ids, st.sampled_from(["Yes. ", "well ", ""])),
    st.builds(ev.TextInterrupted, at, ids),
    st.builds(ev.TextRouted, at, ids, st.just({"badge": "groq · 90 ms"})),
    st.builds(ev.TextFinished, at, ids),
    st.builds(ev.TextFailed, at, ids, st.just("unavailable"), st.booleans()),
    st.builds(ev.ClauseVoiced, at, ids, ids, st.integers(0, 50_000)),
    st.builds(ev.VoiceFailed, at, ids, ids),
    st.builds(
        ev.Played,
        at,
        ids,
        st.integers(0, 100_000),
        st.sampled_from(["started", "playing", "underrun", "stopped", "flushed"]),
        st.none() | at,
        st.integers(-1_000_000, 1_000_000),
        st.integers(0, 20_000),
        st.integers(0, 500_000),
        measured=st.booleans(),
    ),
    st.builds(ev.ItemTruncated, at, st.sampled_from(["item_1", "item_2"]), st.integers(0, 90_000)),
    st.builds(ev.ItemDeleted, at, st.sampled_from(["item_1", "item_2"])),
    st.builds(ev.SessionConfigured, at, st.none() | st.booleans(), st.none() | st.booleans()),
    st.builds(ev.MessageAdded, at, st.just("mine"), st.just("user"), st.just("hi")),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2_000), any_event | st.just("wake")), max_size=40))
def test_events_in_any_order_never_break_a_rule(script: list[tuple[int, Any]]) -> None:
    """Late, repeated, contradictory: no exception, no unlawful move, always a deadline."""
    world, now = World(speech=[]), 0
    world.run(0)
    for delay, step in script:
        now += delay * MS
        world.now = now
        live = world.conversation.timers.live
        if step == "wake":
            if live:
                wake = min(live, key=lambda wake: wake.when)
                world.feed(ev.Woke(max(now, wake.when), wake.timer, wake.generation))
        else:
            times = {"at", "onset", "last_voiced"} & {field.name for field in fields(step)}
            world.feed(replace(step, **dict.fromkeys(times, now)))
    for _ in range(400):
        live = world.conversation.timers.live
        if not live:
            break
        wake = min(live, key=lambda wake: wake.when)
        now = max(now, wake.when)
        world.now = now
        world.feed(ev.Woke(now, wake.timer, wake.generation))
    assert world.conversation.user is User.QUIET
    assert world.conversation.agent is Agent.IDLE


def test_every_state_names_its_deadline_and_the_document_shows_the_table() -> None:
    assert set(USER_DEADLINES) == set(User)
    assert set(AGENT_DEADLINES) == set(Agent)
    document = Path(__file__).parents[2] / "docs" / "architecture.md"
    assert diagram() in document.read_text(encoding="utf-8"), "run scripts/diagram"

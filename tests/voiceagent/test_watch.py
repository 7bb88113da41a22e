"""Whole sessions with scripted parts: what the watch writes down of each turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from routing.errors import BackendError
from tests.kit.scripted import Call, KeptTurns, ScriptedModel, a_call
from tests.kit.virtual_time import virtual
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.rhythm.values import Unknown
from voiceagent.turn_gap import NOT_ASKED, gap_ms
from voiceagent.turn_record import TurnRecord

MS = 1_000
ANSWER = [(0.2, "Your boiler is covered. "), (0.05, "It is "), (0.05, "two years old.")]


@asynccontextmanager
async def watched(
    *, keep_text: bool = False, reports: bool = True, **options: Any
) -> AsyncIterator[tuple[Call, list[TurnRecord]]]:
    """A call of a client that reports its playout, and the records of its turns."""
    kept = KeptTurns(keep_text=keep_text)
    async with a_call(reports_playout=reports, keeper=kept, **options) as call:
        yield call, kept.turns


def stream(*pieces: tuple[float, str]) -> Sequence[Sequence[tuple[float, str]]]:
    return [pieces]


@virtual
async def test_a_turn_is_written_down_whole() -> None:
    async with watched(answers=[ANSWER], keep_text=True) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(9)
        (turn,) = records
    (sounded,) = call.listener.of(act.ReplySounded)
    assert turn.kind == "spoken"
    assert turn.number == 1
    assert turn.gap_us == sounded.gap
    assert turn.gap_us is not None
    assert sum(us for _, us in turn.parts) == turn.gap_us
    assert turn.measured
    assert turn.status == "completed"
    assert turn.user_onset_us is not None
    assert turn.user_end_us is not None
    assert turn.audible_us == turn.user_end_us + turn.gap_us
    assert turn.user_onset_us < turn.user_end_us < (turn.committed_us or 0)
    assert [chunk.characters for chunk in turn.arrivals] == [24, 6, 14]
    assert turn.written_us is not None
    assert turn.arrivals[0].t_us - turn.written_us == pytest.approx(200 * MS, abs=2 * MS)
    assert turn.characters == turn.heard_characters == 44
    assert turn.first_sentence_heard
    assert turn.speech_us == pytest.approx(44 * 60 * MS, abs=61 * MS)
    assert turn.decision is not None
    assert turn.decision["backend"] == "model 1"
    assert [cost.outcome for cost in turn.costs] == ["answered"]
    assert turn.user_text == "what is my balance"
    assert turn.reply_text == turn.heard_text == "Your boiler is covered. It is two years old."
    assert turn.ended_us is not None
    assert turn.ended_us > turn.audible_us


@virtual
async def test_nothing_that_was_said_is_written_down_unasked() -> None:
    async with watched(answers=[ANSWER]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(9)
    (turn,) = records
    assert (turn.user_text, turn.reply_text, turn.heard_text) == (None, None, None)
    assert "boiler" not in repr(turn)
    assert "balance" not in repr(turn)


@virtual
async def test_a_stall_of_the_model_is_a_pause_with_its_length_place_and_cause() -> None:
    stalled = stream((0.2, "It will cost you "), (3.0, "forty dollars."))
    async with watched(answers=stalled) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(9)
    (turn,) = records
    (pause,) = turn.pauses
    assert (pause.place, pause.cause) == (Place.PHRASE, Cause.UNDERRUN)
    # The words before it last 0.96 s and are voiced in time; what the voice took is in it.
    heard = call.listener.longest_silence_inside(turn.reply or 0)
    assert pause.duration_us == pytest.approx(heard * 1e6, abs=3 * MS)
    assert pause.underrun_us == pause.duration_us
    assert turn.underruns == 1
    (told,) = call.listener.of(act.PauseHeard)
    assert told.duration == pause.duration_us


@virtual
async def test_an_interruption_has_its_stop() -> None:
    long = stream((0.2, "An answer that goes on and on and on, and then on. " * 3))
    async with watched(answers=[*long, ANSWER]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(2.5)
        await call.say("goforward.wav")
        await call.quiet(9)
    cut, second = records
    assert cut.status == "interrupted"
    assert cut.stop_us is not None
    assert 100 * MS <= cut.stop_us <= 600 * MS
    assert cut.ended_us == (second.user_onset_us or 0) + cut.stop_us
    assert not cut.false_stop
    assert 0 < cut.heard_characters < cut.characters
    assert second.status == "completed"


@virtual
async def test_a_stop_for_nothing_is_false() -> None:
    long = stream((0.2, "An answer that goes on and on and on, and then on. " * 3))
    async with watched(answers=long, texts=["what is my balance", ""]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(2.5)
        await call.say("goforward.wav")  # heard as nothing at all
        await call.quiet(9)
    cut = next(turn for turn in records if turn.reply == 1)
    dropped = next(turn for turn in records if turn.kind == "dropped")
    assert cut.false_stop
    assert dropped.dropped == "empty"
    assert dropped.reply is None


@virtual
async def test_m01_an_answer_cut_before_its_first_token_has_no_arrival() -> None:
    async with watched(answers=stream((9.0, "Too late."))) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(1.2)
        await call.say("cards_001.wav")
        await call.quiet(1.0)
    assert all(turn.arrivals == () for turn in records)
    assert all(turn.gap_us is None for turn in records)


@virtual
async def test_a_greeting_is_unasked_and_has_no_gap() -> None:
    async with watched(greet=True) as (call, records):
        await call.quiet(4)
    (turn,) = records
    assert (turn.kind, turn.gap_us, turn.decision) == ("unasked", None, None)
    assert turn.audible_us is not None


@virtual
async def test_a_failed_answer_names_its_trouble_and_costs_nothing_it_did_not_use() -> None:
    dead = ScriptedModel([[(0.0, BackendError("unavailable", "gone", retryable=False))]])
    async with watched(models=[dead]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(9)
    (turn,) = records
    assert turn.status == "failed"
    assert turn.trouble == "unavailable"
    assert {cost.outcome for cost in turn.costs} == {"unavailable"}


@virtual
async def test_a_guess_that_was_thrown_away_is_paid_for_by_its_turn() -> None:
    async with watched(answers=[ANSWER, ANSWER, ANSWER]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(0.25)
        await call.say("goforward.wav")
        await call.quiet(9)
    spoken = [turn for turn in records if turn.kind == "spoken"]
    outcomes = [cost.outcome for turn in spoken for cost in turn.costs]
    assert len(outcomes) == len(call.model.requests)
    assert outcomes.count("answered") >= 1


@virtual
async def test_tokens_are_told_with_their_evenness() -> None:
    even = stream((0.2, "word 0 and "), *[(0.05, f"word {n} and ") for n in range(1, 10)])
    async with watched(answers=even) as (call, _):
        await call.say("goforward.wav")
        await call.quiet(2)
        told = call.listener.of(act.TokensSeen)
    assert sum(len(one.ticks) for one in told) == 10
    assert len(told) <= 4
    assert told[-1].evenness == pytest.approx(1.0, abs=0.02)


@virtual
async def test_a_client_that_reports_nothing_gets_estimates_marked_as_such() -> None:
    stalled = stream((0.2, "It will cost you "), (3.0, "forty dollars."))
    async with watched(answers=stalled, reports=False) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(9)
    (turn,) = records
    assert not turn.measured
    assert turn.gap_us is not None
    assert turn.ended_us is not None
    (pause,) = turn.pauses
    assert (pause.place, pause.cause) == (Place.PHRASE, Cause.UNDERRUN)
    heard = call.listener.longest_silence_inside(1)
    assert pause.duration_us == pytest.approx(heard * 1e6, abs=5 * MS)


@virtual
async def test_a_call_that_ends_in_mid_answer_is_written_down() -> None:
    async with watched(answers=stream((0.2, "An answer that goes on and on. " * 3))) as (
        call,
        records,
    ):
        await call.say("goforward.wav")
        await call.quiet(2)
    (turn,) = records
    assert turn.status == "cancelled"
    assert turn.gap_us is not None
    assert turn.heard_characters > 0
    assert turn.speech_us > 0
    assert turn.ended_us is not None
    assert turn.audible_us is not None
    assert turn.ended_us - turn.audible_us == pytest.approx(turn.speech_us, abs=2)
    assert turn.anchors


@virtual
async def test_what_the_client_says_it_truncated_was_speech_until_there() -> None:
    async with watched(answers=stream((0.2, "An answer that goes on and on. " * 3))) as (
        call,
        records,
    ):
        await call.say("goforward.wav")
        await call.quiet(2.5)
        item = call.listener.of(act.ReplyStarted)[0].item
        call.session.post(ev.ItemTruncated(call.session.now_us(), item, 24_000))
        await call.quiet(4)
    (turn,) = records
    assert turn.speech_us == 1_000 * MS
    assert turn.ended_us is not None


@virtual
async def test_an_end_of_the_model_after_the_sound_is_no_silence() -> None:
    late = stream((0.2, "Forty nine dollars."), (3.0, " "))
    async with watched(answers=late, reports=False) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(9)
    (turn,) = records
    assert turn.status == "completed"
    assert turn.speech_us == pytest.approx(19 * 60 * MS, abs=61 * MS)


@virtual
async def test_a_clients_own_mistake_is_no_trouble_of_ours() -> None:
    async with watched(answers=[ANSWER]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(1.5)
        call.session.post(ev.ItemDeleted(call.session.now_us(), "item_that_never_was"))
        await call.quiet(6)
    (turn,) = records
    assert turn.trouble is None
    assert turn.requested_us is not None
    assert turn.written_us is not None
    assert turn.requested_us <= turn.written_us


@virtual
async def test_a_bursty_backend_never_breaks_a_clause() -> None:
    text = (
        "Your next visit is on Thursday at ten, and Daniel brings the control board with him. " * 3
    )
    bursts = [
        (0.9 if start else 0.1, text[start : start + 48]) for start in range(0, len(text), 48)
    ]
    async with watched(answers=[bursts]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(20)
    (turn,) = records
    assert turn.status == "completed"
    assert len(turn.arrivals) == len(bursts)
    assert [pause for pause in turn.pauses if pause.place in (Place.WORD, Place.PHRASE)] == []


class Broken(KeptTurns):
    """Fails at whatever it is told (a simulation)."""

    def turn(self, record: TurnRecord) -> None:
        raise RuntimeError("no")

    def heard(self, pcm: object) -> None:
        raise RuntimeError("no")

    def voiced(self, *told: object) -> None:
        raise RuntimeError("no")

    def ended(self, *told: object) -> None:
        raise RuntimeError("no")


@virtual
async def test_a_keeper_that_fails_costs_its_records_and_not_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with a_call(answers=[ANSWER, ANSWER], keeper=Broken()) as call:
        await call.say("goforward.wav")
        await call.quiet(9)
        await call.say("goforward.wav")
        await call.quiet(9)
        assert len(call.listener.heard_texts()) == 2
    assert sorted(record.args[1] for record in caplog.records if record.args) == [
        "end",
        "keeper",
        "sound",
    ]


@virtual
async def test_a_session_that_is_not_waited_for_is_written_down_all_the_same() -> None:
    async with watched(answers=[ANSWER]) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(1.5)

        async def stubborn() -> None:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            await asyncio.sleep(5)

        call.session._start(stubborn())
        await asyncio.sleep(0)
        call.session.close()
        await asyncio.sleep(0.5)  # as long as a connection waits for its session
        assert len(records) == 1
        await asyncio.sleep(5)


@virtual
async def test_only_what_was_asked_for_is_waited_for() -> None:
    async with watched(answers=[ANSWER]) as (call, records):
        session = call.session
        session.post(ev.MessageAdded(session.now_us(), "context", "user", "I am at home."))
        await call.quiet(0.1)
        session.post(ev.MessageAdded(session.now_us(), "question", "user", "What do I owe?"))
        session.post(ev.ReplyRequested(session.now_us()))
        await call.quiet(6)
        session.post(ev.MessageAdded(session.now_us(), "more", "user", "Thank you."))
        await call.quiet(0.1)
    by_item = {turn.user_item: turn for turn in records}
    assert by_item["question"].status == "completed"
    assert by_item["context"].status == "cancelled"  # answered with the question
    assert by_item["more"].status == "not_asked"


@virtual
async def test_a_client_that_wants_no_answers_is_not_left_unanswered() -> None:
    async with watched() as (call, records):
        now = call.session.now_us()
        call.session.post(ev.SessionConfigured(now, create_response=False))
        await call.say("goforward.wav")
        await call.quiet(3)
    (turn,) = records
    assert (turn.kind, turn.status, turn.reply) == ("spoken", "not_asked", None)
    assert gap_ms(turn) == Unknown(NOT_ASKED)


@virtual
async def test_hanging_up_while_it_thinks_is_no_missing_answer() -> None:
    async with watched(answers=stream((9.0, "Too late."))) as (call, records):
        await call.say("goforward.wav")
        await call.quiet(1.2)
    (turn,) = records
    assert isinstance(gap_ms(turn), Unknown)

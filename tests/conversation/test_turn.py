"""Whole turns through the pure conversation, on a simulated time line."""

from __future__ import annotations

from itertools import pairwise

from tests.kit.world import Answer, Speech, World
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.interruption import is_backchannel
from voiceagent.conversation.rules import MS, SECOND, Rules, Script
from voiceagent.conversation.states import Agent, User

SENTENCES = "Your boiler is covered. The part costs forty dollars. Anything else I can do?"
LONG = Answer([(200 * MS, SENTENCES)])


def one_turn(**changes: object) -> World:
    return World(speech=[Speech(1 * SECOND, 2 * SECOND)], **changes)  # type: ignore[arg-type]


def test_a_turn_is_heard_answered_and_remembered() -> None:
    world = one_turn(answers=lambda n: LONG).run(20 * SECOND)
    assert world.messages() == [("user", "what is my balance"), ("assistant", SENTENCES)]
    (ended,) = world.of(act.ReplyEnded)
    assert isinstance(ended, act.ReplyEnded)
    assert ended.status == "completed"
    assert ended.heard == SENTENCES


def test_m04_the_parts_of_the_gap_add_up_to_what_the_listener_heard() -> None:
    world = one_turn().run(20 * SECOND)
    (sounded,) = world.of(act.ReplySounded)
    assert isinstance(sounded, act.ReplySounded)
    assert sounded.gap is not None
    assert sum(length for _, length in sounded.parts) == sounded.gap
    assert all(length >= 0 for _, length in sounded.parts)


def test_the_answer_is_started_on_a_likely_end_and_heard_only_after_the_hold() -> None:
    world = one_turn(rules=Rules(idle_prompts=0, hold_complete=900 * MS)).run(20 * SECOND)
    times = {type(action): when for when, action in reversed(world.told)}
    end = 3 * SECOND
    assert times[act.Generate] < times[act.TurnCommitted] == end + 900 * MS
    assert times[act.Play] == times[act.TurnCommitted]
    assert len(world.of(act.Generate)) == 1


def test_a_guess_is_thrown_away_when_the_person_goes_on() -> None:
    speech = [Speech(1 * SECOND, SECOND), Speech(450 * MS, SECOND)]
    texts = {1: "what is", 3: "what is my balance"}
    world = World(
        speech=speech,
        texts=lambda utterance, revision: texts.get(revision, ""),
        rules=Rules(idle_prompts=0, hold_complete=600 * MS),
    ).run(20 * SECOND)
    assert [g.speculative for g in world.of(act.Generate)] == [True, True]  # type: ignore[attr-defined]
    assert len(world.of(act.CancelSpeech)) == 1
    assert len(world.of(act.ReplyStarted)) == 1
    assert world.messages()[0] == ("user", "what is my balance")


def test_a05_lost_audio_ends_the_turn_within_a_second() -> None:
    world = World(speech=[])
    world.at(SECOND, ev.SpeechStarted(SECOND, 1, SECOND - 60 * MS))
    world.at(2 * SECOND, ev.SpeechContinued(2 * SECOND, 1))
    world.run(20 * SECOND)
    finals = [when for when, a in world.told if isinstance(a, act.Transcribe) and a.final]
    assert finals == [3 * SECOND]
    assert world.messages()[0] == ("user", "what is my balance")
    assert len(world.of(act.ReplyStarted)) == 1


def test_a07_noise_without_text_is_dropped_without_a_model_call() -> None:
    world = World(speech=[Speech(SECOND, 400 * MS)], texts=lambda u, r: "", rules=Rules()).run(
        10 * SECOND
    )
    (dropped,) = [when for when, a in world.told if isinstance(a, act.TurnDropped)]
    assert dropped - 1_400 * MS <= 1_500 * MS
    assert not world.of(act.Generate)
    assert not world.messages()
    assert (world.conversation.user, world.conversation.agent) == (User.QUIET, Agent.IDLE)
    assert world.conversation.timers.armed("idle")


def test_a08_a_cough_before_the_answer_does_not_kill_it() -> None:
    world = World(
        speech=[Speech(SECOND, SECOND), Speech(700 * MS, 200 * MS)],
        texts=lambda utterance, revision: "what time is it" if utterance == 1 else "",
        answers=lambda n: Answer([(600 * MS, "It is nine o clock.")]),
    ).run(20 * SECOND)
    assert len(world.of(act.Generate)) == 1
    (ended,) = world.of(act.ReplyEnded)
    assert ended.heard == "It is nine o clock."  # type: ignore[attr-defined]


def test_a15_unbroken_sound_is_closed_at_the_longest_turn_again_and_again() -> None:
    world = World(speech=[Speech(SECOND, 120 * SECOND)]).run(150 * SECOND)
    closed = [when for when, a in world.told if isinstance(a, act.TurnCommitted)]
    assert len(closed) >= 4
    assert all(b - a <= 31 * SECOND for a, b in pairwise(closed))
    assert world.of(act.ReplySounded)


def test_a18_speech_that_resumes_before_the_voice_merges_the_turn() -> None:
    texts = {1: "my boiler is cold", 2: "and it leaks"}
    world = World(
        speech=[Speech(SECOND, SECOND), Speech(611 * MS, SECOND)],  # detected 60 ms later
        texts=lambda utterance, revision: texts[utterance],
        answers=lambda n: Answer([(400 * MS, f"Answer number {n}.")]),
    ).run(20 * SECOND)
    resumed_at = 2 * SECOND + 671 * MS
    early = [
        when for when, a in world.told if isinstance(a, act.Play) and when < resumed_at + SECOND
    ]
    assert not early
    last = world.of(act.Generate)[-1]
    assert last.messages[-1]["content"] == "my boiler is cold and it leaks"  # type: ignore[attr-defined]
    assert len(world.of(act.ReplySounded)) == 1


def test_a26_s11_repeated_finals_give_one_reply() -> None:
    world = one_turn()
    for when in (3_260, 3_270, 4_000, 5_000):
        for revision in (1, 2):
            world.at(when * MS, ev.Transcribed(when * MS, 1, revision, "what is my balance", True))
    world.run(20 * SECOND)
    assert len(world.of(act.TurnCommitted)) == 1
    assert len(world.of(act.ReplyStarted)) == 1


def test_s13_a_late_transcript_never_reaches_the_next_turn() -> None:
    world = World(
        speech=[Speech(SECOND, SECOND), Speech(7 * SECOND, SECOND)],
        texts=lambda utterance, revision: "blue" if utterance == 2 else "red",
        stt_delay=150 * MS,
        rules=Rules(idle_prompts=0, transcript_bound=100 * MS),
    )
    world.run(30 * SECOND)
    assert all("red" not in text for role, text in world.messages() if role == "user")


def test_l09_an_empty_answer_is_asked_once_more_then_apologized_for() -> None:
    world = one_turn(answers=lambda n: Answer([])).run(20 * SECOND)
    assert len(world.of(act.Generate)) == 2
    ended = world.of(act.ReplyEnded)[-1]
    assert ended.heard == Script().no_answer  # type: ignore[attr-defined]
    assert world.messages()[-1] == ("assistant", Script().no_answer)
    assert [t.code for t in world.of(act.Trouble)] == ["empty"]  # type: ignore[attr-defined]


def test_l06_when_nothing_answers_the_apology_comes_within_the_bound() -> None:
    world = one_turn(
        answers=lambda n: Answer([], end="silence"),
        rules=Rules(idle_prompts=0, first_content=2 * SECOND),
    ).run(20 * SECOND)
    (sounded,) = world.of(act.ReplySounded)
    assert sounded.gap is not None  # type: ignore[attr-defined]
    assert sounded.gap < 3 * SECOND  # type: ignore[attr-defined]
    assert world.of(act.Trouble)[0].code == "timeout"  # type: ignore[attr-defined]


def test_l05_a_stream_that_breaks_keeps_what_was_said_and_the_session() -> None:
    world = one_turn(
        answers=lambda n: Answer([(200 * MS, "The visit is on Monday. At ni")], end="fail")
    ).run(20 * SECOND)
    (ended,) = world.of(act.ReplyEnded)
    assert ended.heard.startswith("The visit is on Monday.")  # type: ignore[attr-defined]
    assert ended.heard.endswith(Script().lost_rest)  # type: ignore[attr-defined]
    assert ended.status == "failed"  # type: ignore[attr-defined]


def test_l07_a_dribbling_stream_is_spoken_as_far_as_it_got() -> None:
    world = one_turn(
        answers=lambda n: Answer(
            [(200 * MS, "Sorry, "), (30 * MS, "did you mean which swim ")], end="silence"
        )
    ).run(20 * SECOND)
    text_at = next(w for w, a in world.told if isinstance(a, act.Generate)) + 230 * MS
    spoken = [(w, a.text) for w, a in world.told if isinstance(a, act.Speak)]
    assert spoken[0][0] - text_at <= 1_500 * MS
    before_bound = "".join(text for when, text in spoken if when < text_at + 3 * SECOND)
    assert "swim" in before_bound


def interrupted_at(after_first_sound: int) -> World:
    """The caller speaks over the answer so that it is cut about then."""
    world = World(
        speech=[Speech(SECOND, SECOND)],
        answers=lambda n: LONG,
        rules=Rules(idle_prompts=0),
    )
    world.run(2 * SECOND + 320 * MS)
    while not world.player.total:
        world.run(world.now + 10 * MS)
    cut = world.now + after_first_sound
    world.at(cut, ev.ReplyCancelled(cut))
    return world.run(40 * SECOND)


def test_t13_t14_cut_at_once_leaves_no_assistant_text() -> None:
    for after in (0, 20 * MS):
        world = interrupted_at(after)
        assert [role for role, _ in world.messages()] == ["user"], after


def test_t13_t16_only_words_whose_audio_ended_are_remembered() -> None:
    world = interrupted_at(900 * MS)
    role, text = world.messages()[-1]
    assert role == "assistant"
    assert text == world.heard(1)
    assert SENTENCES.startswith(text)
    assert 0 < len(text) < len(SENTENCES) / 3


def test_t15_a_sentence_that_was_heard_stays() -> None:
    world = interrupted_at(2_500 * MS)
    assert world.messages()[-1][1].startswith("Your boiler is covered.")


def test_barge_in_stops_voice_model_and_sound_and_then_answers() -> None:
    world = World(
        speech=[Speech(SECOND, SECOND), Speech(2 * SECOND, SECOND)],
        texts=lambda u, r: "what is my balance" if u == 1 else "stop, when is my visit",
        answers=lambda n: LONG if n == 0 else Answer([(200 * MS, "On Monday.")]),
    ).run(40 * SECOND)
    onset = 4 * SECOND
    (flushed,) = [when for when, a in world.told if isinstance(a, act.Flush)]
    (ducked, *_) = [when for when, a in world.told if isinstance(a, act.Duck)]
    assert ducked - onset <= 60 * MS
    assert flushed - onset <= 320 * MS
    first, second = world.of(act.ReplyEnded)
    assert (first.status, second.status) == ("interrupted", "completed")  # type: ignore[attr-defined]
    assert [role for role, _ in world.messages()] == ["user", "assistant", "user", "assistant"]
    assert world.messages()[1][1] == world.heard(1)


def test_a_short_backchannel_does_not_stop_the_voice() -> None:
    world = World(
        speech=[Speech(SECOND, SECOND), Speech(2 * SECOND, 200 * MS)],
        texts=lambda u, r: "what is my balance" if u == 1 else "Mm-hmm.",
        answers=lambda n: LONG,
    ).run(40 * SECOND)
    assert not world.of(act.Flush)
    assert [d.on for d in world.of(act.Duck)] == [True, False]  # type: ignore[attr-defined]
    assert world.messages()[-1] == ("assistant", SENTENCES)
    assert len(world.of(act.Generate)) == 1


def test_c11_l20_the_idle_prompt_counts_from_the_end_of_playout_and_is_spoken() -> None:
    world = one_turn(answers=lambda n: LONG, rules=Rules(idle=10 * SECOND)).run(60 * SECOND)
    first, prompt = world.of(act.ReplyEnded)
    ended = next(when for when, a in world.told if a is first)
    began = [w for w, a in world.told if isinstance(a, act.ReplyStarted)][1]
    assert began - ended == 10 * SECOND
    assert prompt.heard == Script().idle_prompt  # type: ignore[attr-defined]


def test_c15_playout_that_is_never_reported_ends_by_its_deadline() -> None:
    world = one_turn(reports=False).run(30 * SECOND)
    assert world.of(act.ReplyEnded)
    assert world.conversation.agent is Agent.IDLE


def test_o14_o15_a_late_second_sentence_plays_without_the_user() -> None:
    world = one_turn(
        answers=lambda n: Answer([(200 * MS, "First part. "), (3_900 * MS, "Second part.")])
    ).run(30 * SECOND)
    (ended,) = world.of(act.ReplyEnded)
    assert ended.heard == "First part. Second part."  # type: ignore[attr-defined]
    assert len(world.of(act.ReplySounded)) == 1


def test_safety_answers_come_before_any_model() -> None:
    script = Script(fixed_answer=lambda text: "Leave the house now." if "gas" in text else None)
    world = one_turn(texts=lambda u, r: "i smell gas", script=script).run(20 * SECOND)
    assert not world.of(act.Generate)
    assert world.messages()[-1] == ("assistant", "Leave the house now.")


def test_d05_manual_turns_never_commit_by_themselves() -> None:
    world = World(speech=[Speech(SECOND, 2 * SECOND)])
    world.at(0, ev.SessionConfigured(0, manual=True))
    world.run(10 * SECOND)
    assert not world.of(act.TurnCommitted)
    when = 10 * SECOND
    world.at(when, ev.InputCommitted(when, 7))
    world.run(20 * SECOND)
    assert len(world.of(act.TurnCommitted)) == 1
    assert not world.of(act.ReplyStarted)
    when = 20 * SECOND
    world.at(when, ev.ReplyRequested(when))
    world.run(30 * SECOND)
    assert len(world.of(act.ReplyEnded)) == 1


def test_a_reply_asked_for_before_the_manual_text_is_there_waits_for_it() -> None:
    world = World(speech=[])
    world.at(0, ev.SessionConfigured(0, manual=True))
    world.at(SECOND, ev.InputCommitted(SECOND, 1))
    world.at(SECOND, ev.ReplyRequested(SECOND))
    world.run(20 * SECOND)
    (asked,) = world.of(act.Generate)
    assert asked.messages[-1] == {"role": "user", "content": "what is my balance"}  # type: ignore[attr-defined]


def test_t23_truncation_beyond_what_was_sent_is_clamped() -> None:
    world = one_turn().run(20 * SECOND)
    item = world.of(act.ReplyStarted)[0].item  # type: ignore[attr-defined]
    world.at(world.now, ev.ItemTruncated(world.now, item, 10**9))
    world.run(21 * SECOND)
    assert world.messages()[-1] == ("assistant", "Forty nine dollars.")
    world.at(world.now, ev.ItemTruncated(world.now, item, 11 * 1_600))
    world.run(22 * SECOND)
    assert world.messages()[-1] == ("assistant", "Forty nine")


def test_recognition_that_never_comes_back_says_so() -> None:
    world = one_turn(stt_delay=100 * SECOND).run(30 * SECOND)
    assert world.of(act.TurnDropped)[0].reason == "unrecognised"  # type: ignore[attr-defined]
    assert world.messages() == [("assistant", Script().not_understood)]


def test_a28_fifty_interruptions_and_then_a_clean_turn() -> None:
    speech = [Speech(2 * SECOND, 1_200 * MS) for _ in range(50)] + [Speech(20 * SECOND, SECOND)]
    world = World(speech=speech, answers=lambda n: LONG).run(400 * SECOND)
    assert world.of(act.ReplyEnded)[-1].status == "completed"  # type: ignore[attr-defined]
    assert world.messages()[-1] == ("assistant", SENTENCES)


def test_a_danger_told_in_two_turns_is_answered_by_the_rule() -> None:
    texts = {1: "i think i smell", 2: "gas in my kitchen"}
    script = Script(fixed_answer=lambda text: "Leave now." if "smell gas" in text else None)
    world = World(
        speech=[Speech(SECOND, SECOND), Speech(611 * MS, SECOND)],
        texts=lambda utterance, revision: texts[utterance],
        answers=lambda n: Answer([(900 * MS, "I cannot say.")]),
        script=script,
    ).run(20 * SECOND)
    assert world.messages()[-1] == ("assistant", "Leave now.")


def test_cleared_input_is_not_answered() -> None:
    world = one_turn()
    world.at(3 * SECOND + 120 * MS, ev.InputCleared(3 * SECOND + 120 * MS))
    world.run(20 * SECOND)
    assert not world.messages()
    assert not world.of(act.ReplyStarted)


def test_d05_switching_to_manual_ends_the_open_turn() -> None:
    world = one_turn()
    when = 2 * SECOND
    world.at(when, ev.SessionConfigured(when, manual=True))
    world.run(20 * SECOND)
    assert not world.of(act.TurnCommitted)
    assert not world.of(act.ReplyStarted)


def manual(*events: ev.Event, **changes: object) -> World:
    """Manual turns, with these events on the way."""
    world = World(speech=[], **changes)  # type: ignore[arg-type]
    world.at(0, ev.SessionConfigured(0, manual=True))
    for event in events:
        world.at(event.at, event)
    return world.run(20 * SECOND)


def test_the_instructions_of_a_reply_that_waits_are_kept_and_a_second_one_is_refused() -> None:
    world = manual(
        ev.InputCommitted(SECOND, 1),
        ev.ReplyRequested(SECOND, "Answer in French."),
        ev.ReplyRequested(SECOND + MS),
    )
    (asked,) = world.of(act.Generate)
    assert asked.messages[0]["content"] == "Answer in French."  # type: ignore[attr-defined]
    codes = [trouble.code for trouble in world.of(act.Trouble)]  # type: ignore[attr-defined]
    assert codes == ["conversation_already_has_active_response"]


def test_a_reply_that_waits_can_be_cancelled() -> None:
    world = manual(
        ev.InputCommitted(SECOND, 1), ev.ReplyRequested(SECOND), ev.ReplyCancelled(SECOND + MS)
    )
    assert not world.of(act.ReplyStarted)
    assert not world.of(act.Trouble)


def test_a_manual_turn_without_words_is_not_answered() -> None:
    world = manual(ev.InputCommitted(SECOND, 1), ev.ReplyRequested(SECOND), texts=lambda u, r: "")
    assert not world.of(act.Generate)


def test_nothing_is_said_unasked_in_manual_turns() -> None:
    assert not manual(rules=Rules(idle=SECOND)).of(act.ReplyStarted)


def test_items_of_ours_never_take_the_name_of_a_clients_item() -> None:
    world = one_turn()
    world.at(0, ev.MessageAdded(0, "item_1", "user", "hello"))
    world.run(20 * SECOND)
    ids = [item.id for item in world.conversation.history.items]
    assert len(ids) == len(set(ids)) == 3


def test_the_history_given_to_the_model_is_bounded_in_size() -> None:
    world = one_turn()
    for n in range(20):
        world.at(0, ev.MessageAdded(0, f"mine_{n}", "user", f"{n} " * 1_000))
    world.run(20 * SECOND)
    (asked, *_) = world.of(act.Generate)
    size = sum(len(message["content"]) for message in asked.messages)  # type: ignore[attr-defined]
    assert size < 10_000
    assert asked.messages[-1]["content"].endswith("what is my balance")  # type: ignore[attr-defined]


def test_numbers_are_no_backchannel() -> None:
    for text in ("42.", "2015", "no", "$5", "ja", "Stop."):
        assert not is_backchannel(text), text
    for text in ("Mm-hmm.", "Yeah.", "I see", "Right, okay."):
        assert is_backchannel(text), text


def committed(world: World) -> list[str]:
    return [turn.text for turn in world.of(act.TurnCommitted)]  # type: ignore[attr-defined]


def test_manual_turns_committed_within_one_recognition_time_are_all_kept_in_order() -> None:
    texts = {1: "first part", 2: "second part", 3: "third part"}
    world = manual(
        *(ev.InputCommitted(SECOND + n * MS, n) for n in texts),
        ev.ReplyRequested(SECOND + 5 * MS),
        texts=lambda utterance, revision: texts[utterance],
    )
    assert committed(world) == list(texts.values())
    (asked,) = world.of(act.Generate)
    said = [m["content"] for m in asked.messages if m["role"] == "user"]  # type: ignore[attr-defined]
    assert said == ["first part second part third part"]


def test_a_manual_turn_that_is_not_recognised_holds_up_no_other() -> None:
    world = World(speech=[], stt_delay=60 * SECOND)
    world.at(0, ev.SessionConfigured(0, manual=True))
    for when, utterance in ((1, 1), (2, 2)):
        world.at(when * SECOND, ev.InputCommitted(when * SECOND, utterance))
    world.at(3 * SECOND, ev.Transcribed(3 * SECOND, 2, 1, "second part", True))
    bound = SECOND + Rules().transcript_bound
    world.run(30 * SECOND)
    (dropped,) = [when for when, told in world.told if isinstance(told, act.TurnDropped)]
    (kept,) = [when for when, told in world.told if isinstance(told, act.TurnCommitted)]
    assert dropped == kept == bound
    assert committed(world) == ["second part"]


def test_a_guess_whose_voice_fails_is_asked_for_no_longer() -> None:
    rules = Rules(idle_prompts=0, voice_bound=100 * MS, hold_complete=2 * SECOND)
    world = World(
        speech=[Speech(1 * SECOND, 2 * SECOND)],
        rules=rules,
        voice_delay=60 * SECOND,
        answers=lambda n: LONG,
    ).run(20 * SECOND)
    (cancelled,) = [when for when, told in world.told if isinstance(told, act.CancelGeneration)]
    (committed,) = [when for when, told in world.told if isinstance(told, act.TurnCommitted)]
    assert cancelled < committed


def test_the_text_goes_on_when_the_voice_fails() -> None:
    world = World(
        speech=[], voice_delay=60 * SECOND, rules=Rules(idle_prompts=0, voice_bound=SECOND)
    )
    world.at(0, ev.MessageAdded(0, "typed", "user", "hi"))
    world.at(1, ev.ReplyRequested(1))
    late = Answer([(100 * MS, "Forty nine dollars. "), (3 * SECOND, "They are due on Friday.")])
    world.answers = lambda n: late
    world.run(30 * SECOND)
    (ended,) = world.of(act.ReplyEnded)
    assert (ended.status, ended.heard) == ("failed", "")  # type: ignore[attr-defined]
    assert ended.text == "Forty nine dollars. They are due on Friday."  # type: ignore[attr-defined]
    assert [t.code for t in world.of(act.Trouble)] == ["voice_failed"]  # type: ignore[attr-defined]

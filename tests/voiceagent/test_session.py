"""Whole sessions with scripted models on a virtual clock; speech detection and speech are real."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import numpy as np

from tests.kit.scripted import SAMPLES_PER_CHARACTER, a_call, clip, unavailable
from tests.kit.virtual_time import virtual
from voiceagent.conversation import actions as act
from voiceagent.conversation.rules import Rules, Script
from voiceagent.conversation.turn import Conversation
from voiceagent.recording import Recorder, plain, read_recording

LONG = [(0.2, "Your boiler is covered until May. "), (0.4, "The part costs forty dollars. ")]


@virtual
async def test_a_spoken_turn_is_answered_and_heard() -> None:
    async with a_call(answers=[LONG]) as call:
        await call.say("goforward.wav")
        await call.quiet(8)
        assert call.listener.heard_texts() == ["".join(text for _, text in LONG).strip()]
        (sounded,) = call.listener.of(act.ReplySounded)
        assert sounded.gap is not None
        assert sounded.gap < 900_000
        assert sum(length for _, length in sounded.parts) == sounded.gap


@virtual
async def test_playout_reports_make_the_gap_a_measurement() -> None:
    async with a_call(reports_playout=True) as call:
        await call.say("goforward.wav")
        await call.quiet(4)
        (sounded,) = call.listener.of(act.ReplySounded)
        assert sounded.measured
        (ended,) = call.listener.of(act.ReplyEnded)
        assert ended.status == "completed"


@virtual
async def test_a20_the_recogniser_hears_300_ms_before_the_onset() -> None:
    async with a_call() as call:
        await call.quiet(1)
        await call.say("goforward.wav")
        await call.quiet(2)
        (started,) = call.listener.of(act.TurnStarted)
        onset = call.session.clock.position(started.onset) / 1e6
        finals = [
            pcm
            for (final, _), pcm in zip(call.recogniser.calls, call.recogniser.audio, strict=True)
            if final
        ]
        heard_to = onset - 0.3 + len(finals[0]) / 16_000
        assert heard_to > 1 + len(clip("goforward.wav")) / 24_000 - 0.5


@virtual
async def test_o05_o01_barge_in_stops_the_sound_and_nothing_late_is_sent() -> None:
    async with a_call(
        texts=["what is my balance", "stop please"], answers=[LONG, [(0.2, "All right.")]]
    ) as call:
        await call.say("goforward.wav")
        await call.quiet(2)
        before = len(call.listener.received)
        assert before
        onset = asyncio.get_running_loop().time()
        await call.say("librivox_0880.wav")
        (flushed,) = [at for at, a in call.listener.told if isinstance(a, act.Flush)]
        assert not [at for at, reply, _ in call.listener.received if reply == 1 and at > flushed]
        started = call.listener.of(act.TurnStarted)[1]
        assert flushed - started.onset / 1e6 <= 0.4
        assert flushed > onset
        await call.quiet(3)
        first, second = call.listener.of(act.ReplyEnded)
        assert (first.status, second.status) == ("interrupted", "completed")
        said = "".join(text for _, text in LONG)
        assert said.startswith(first.heard)
        assert len(first.heard) < len(said)
        request = call.model.requests[-1].messages
        assert [m["role"] for m in request] == ["system", "user", "assistant", "user"]
        corrected = call.listener.of(act.HeardChanged)
        heard = corrected[-1].heard if corrected else first.heard
        assert request[2]["content"] == heard


@virtual
async def test_l11_an_interruption_closes_the_upstream_stream() -> None:
    endless = [(0.2, "Well now, this is a long story. ")] + [(0.3, "and so on and on, ")] * 500
    async with a_call(texts=["tell me", "stop"], answers=[endless, [(0.1, "Fine.")]]) as call:
        await call.say("goforward.wav")
        await call.quiet(2)
        assert call.model.open_streams == 1
        await call.say("librivox_0880.wav")
        await call.quiet(1)
        assert call.model.cancelled >= 1
        said = len(call.voice.said)
        await call.quiet(3)
        assert call.voice.said[said:] in ([], ["Fine."])


@virtual
async def test_audio_is_sent_at_most_400_ms_ahead() -> None:
    async with a_call(answers=[LONG]) as call:
        await call.say("goforward.wav")
        await call.quiet(8)
        sent, first = 0, call.listener.received[0][0]
        for at, _, pcm in call.listener.received:
            assert sent / 24_000 - (at - first) <= 0.42
            sent += len(pcm)


@virtual
async def test_o22_the_first_frame_leaves_at_once_when_the_voice_has_it() -> None:
    async with a_call(rules=Rules(idle_prompts=0, hold_unknown=300_000)) as call:
        await call.say("goforward.wav")
        await call.quiet(3)
        (sounded,) = call.listener.of(act.ReplySounded)
        assert dict(sounded.parts)["playout"] <= 60_000


@virtual
async def test_every_sample_of_a_reply_arrives_once_and_in_order() -> None:
    async with a_call(answers=[LONG]) as call:
        await call.say("goforward.wav")
        await call.quiet(8)
        text = "".join(call.voice.said)
        assert call.listener.samples(1) == len(text) * SAMPLES_PER_CHARACTER
        assert all(len(pcm) <= 2_400 for _, _, pcm in call.listener.received)


@virtual
async def test_l06_a_dead_backend_gives_an_apology_and_the_session_lives() -> None:
    down = [(0.05, unavailable())]
    async with a_call(answers=[down, down, [(0.1, "Back again.")]]) as call:
        await call.say("goforward.wav")
        await call.quiet(7)
        assert call.listener.heard_texts() == [Script().no_answer]
        assert call.listener.of(act.Trouble)[0].code == "unavailable"
        await call.say("goforward.wav")
        await call.quiet(4)
        assert call.listener.heard_texts()[-1] == "Back again."


@virtual
async def test_c08_c03_hang_up_in_mid_reply_ends_everything() -> None:
    async with a_call(answers=[LONG]) as call:
        await call.say("goforward.wav")
        await call.quiet(1.5)
        call.session.close()
        await asyncio.sleep(0.5)
        assert call.model.open_streams == 0
        sent = len(call.listener.received)
        await asyncio.sleep(5)
        assert len(call.listener.received) == sent


@virtual
async def test_c06_c02_many_sessions_leave_no_task_behind() -> None:
    baseline = len(asyncio.all_tasks())
    for _ in range(20):
        async with a_call(greet=True) as call:
            await call.say("cards_001.wav")
    gc.collect()
    assert len(asyncio.all_tasks()) == baseline


@virtual
async def test_c01_a_session_closed_at_any_moment_of_its_start_leaves_nothing() -> None:
    for steps in range(12):
        async with a_call(greet=True):
            for _ in range(steps):
                await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


@virtual
async def test_s09_partials_run_while_the_person_speaks() -> None:
    async with a_call(texts=["and so my fellow americans"]) as call:
        await call.say("jfk.wav")
        await call.quiet(2)
        partials = [length for final, length in call.recogniser.calls if not final]
        assert len(partials) >= 4
        assert call.listener.of(act.PartialHeard)


@virtual
async def test_a_recording_replays_to_the_same_actions(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "call", Script(), Rules(), audio=True)
    async with a_call(answers=[LONG], greet=True, rules=Rules(), recorder=recorder) as call:
        await call.quiet(3)
        await call.say("goforward.wav")
        await call.quiet(8)
    script, rules, steps = read_recording(tmp_path / "call.jsonl")
    conversation, count = Conversation(script, rules), 0
    for step in steps:
        assert [plain(action) for action in conversation.handle(step.event)] == step.actions
        count += 1
    assert count > 20
    assert (tmp_path / "call.wav").stat().st_size > 24_000


@virtual
async def test_o16_n05_a_slow_model_of_one_session_never_delays_another() -> None:
    async with a_call(answers=[LONG]) as first, a_call(answers=[LONG]) as second:
        second.recogniser.delay = 3.0
        await asyncio.gather(first.say("goforward.wav"), second.say("goforward.wav"))
        await asyncio.gather(first.quiet(8), second.quiet(8))
        fast = first.listener.of(act.ReplySounded)[0].gap
        slow = second.listener.of(act.ReplySounded)[0].gap
        assert fast < 900_000 < slow


@virtual
async def test_silence_and_zeros_start_nothing() -> None:
    async with a_call() as call:
        await call.quiet(7)
        await call.hear((np.random.default_rng(1).normal(0, 20, 24_000 * 3)).astype(np.int16))
        assert not call.recogniser.calls
        assert not call.model.requests


@virtual
async def test_a_final_recognition_that_is_out_of_date_is_given_up() -> None:
    async with a_call() as call:
        call.recogniser.delay = 9.0
        for _ in range(2):
            await call.say("goforward.wav")
            await call.quiet(0.3)
        assert sum(final for final, _ in call.recogniser.calls) == 2
        assert call.recogniser.running == 1

"""Whole conversations whose backend fails: the listener hears one complete answer.

Every model here is a script on a virtual clock.
"""

from __future__ import annotations

import re

import pytest

from routing.errors import BackendError
from tests.kit.scripted import Call, ReadingModel, a_call, unavailable
from tests.kit.virtual_time import virtual
from voiceagent.conversation import actions as act
from voiceagent.conversation.rules import Script

ANSWER = (
    "Your next visit is on Thursday, December tenth, from nine to eleven in the morning. "
    "Daniel Brooks will replace the control board of the heat pump. "
    "The part is under warranty, so you only pay for the labour. "
    "Please clear the space around the unit before he comes."
)
BUSY = BackendError("rate_limited", "HTTP 429", retry_after_s=30.0)
BROKEN = BackendError("broken_stream", "the connection broke")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def heard(call: Call) -> str:
    (text,) = call.listener.heard_texts()
    return text


def last_route(call: Call) -> dict[str, object]:
    return call.listener.of(act.RouteTold)[-1].route


@pytest.mark.parametrize(
    ("after", "with_"),
    [(0, unavailable()), (0, 30.0), (20, BROKEN), (20, 30.0), (3, BROKEN), (3, 30.0), (44, BROKEN)],
    ids=["down", "silent", "cut-20", "stall-20", "cut-3", "stall-3", "cut-near-the-end"],
)
@pytest.mark.parametrize("begins_anew", [False, True], ids=["goes-on", "begins-anew"])
@virtual
async def test_l01_l02_l04_one_complete_answer_is_heard(
    after: int, with_: Exception | float, begins_anew: bool
) -> None:
    models = [
        ReadingModel(text=ANSWER, breaks_after=after, breaks_with=with_),
        ReadingModel(text=ANSWER, begins_anew=begins_anew),
    ]
    async with a_call(models=models) as call:
        await call.say("goforward.wav")
        await call.quiet(20)
        assert words(heard(call)) == words(ANSWER)
        assert words("".join(call.voice.said)) == words(ANSWER)
        (ended,) = call.listener.of(act.ReplyEnded)
        assert ended.status == "completed"
        assert last_route(call)["backend"] == "model 2"
        assert len(models[1].requests) == 1
        assert [model.open_streams for model in models] == [0, 0]


@virtual
async def test_l01_a_stall_is_bridged_before_the_speech_has_run_out() -> None:
    models = [
        ReadingModel(text=ANSWER, breaks_after=20, breaks_with=30.0),
        ReadingModel(text=ANSWER),
    ]
    async with a_call(models=models) as call:
        await call.say("goforward.wav")
        await call.quiet(20)
        assert last_route(call)["handed_over"] is True
        assert call.listener.longest_silence_inside(1) <= 0.3


@virtual
async def test_l06_when_every_backend_is_down_the_apology_comes_soon() -> None:
    models = [ReadingModel(text=ANSWER, breaks_after=0, breaks_with=unavailable())] * 2
    async with a_call(models=[*models]) as call:
        await call.say("goforward.wav")
        await call.quiet(3)
        assert call.listener.of(act.ReplySounded)
        await call.quiet(6)
        assert heard(call) == Script().no_answer


@virtual
async def test_an_answer_is_handed_over_once_and_then_says_so() -> None:
    models = [
        ReadingModel(text=ANSWER, breaks_after=20, breaks_with=BROKEN),
        ReadingModel(text=ANSWER, breaks_after=5, breaks_with=BROKEN),
        ReadingModel(text=ANSWER),
    ]
    async with a_call(models=models) as call:
        await call.say("goforward.wav")
        await call.quiet(20)
        assert heard(call).endswith(Script().lost_rest)
        assert not models[2].requests


@virtual
async def test_l02_the_next_turn_leaves_a_backend_alone_that_asked_for_it() -> None:
    models = [
        ReadingModel(text=ANSWER, breaks_after=0, breaks_with=BUSY),
        ReadingModel(text="All is well."),
    ]
    async with a_call(models=models) as call:
        await call.say("goforward.wav")
        await call.quiet(1.0)
        await call.say("something.wav")
        await call.quiet(4)
        assert len(models[0].requests) == 1
        assert len(models[1].requests) == 2
        assert "rest" in str(last_route(call)["reason"])


@virtual
async def test_a_caller_who_interrupts_during_a_handover_is_answered() -> None:
    models = [
        ReadingModel(text=ANSWER, breaks_after=20, breaks_with=30.0),
        ReadingModel(text=ANSWER, first=5.0),
    ]
    async with a_call(models=models) as call:
        await call.say("goforward.wav")
        while not call.listener.of(act.ReplySounded) or len(models[1].requests) == 0:
            await call.quiet(0.1)
        await call.say("something.wav")
        await call.quiet(40)
        statuses = [ended.status for ended in call.listener.of(act.ReplyEnded)]
        assert statuses[0] == "interrupted"
        assert statuses[-1] == "completed"
        assert [model.open_streams for model in models] == [0, 0]

"""A backend over a real socket, on a virtual clock: answers, and how long they may take."""

from __future__ import annotations

import asyncio

import pytest
from asked import ASK, KEY, answer, failure, failure_after, said, twin_and_backend

from routing.backend import Backend
from routing.chunks import Chunk, Finished, TextDelta, UsageReported
from tests.kit import llm_script as script
from tests.kit.llm_script import (
    DONE,
    Cut,
    Hold,
    Wait,
    finish,
    role,
    say,
    status,
)
from tests.kit.llm_twin import LlmTwin
from tests.kit.virtual_time import virtual


@virtual
async def test_an_answer_and_what_was_asked() -> None:
    async with twin_and_backend(api_key=KEY, extra_body={"cache_prompt": True}) as (twin, backend):
        twin.will(say("Next Tuesday at four.", first=0.3, every=0.05))
        chunks = await answer(backend)
        assert said(chunks) == "Next Tuesday at four."
        assert [type(c) for c in chunks[-2:]] == [Finished, UsageReported]
        seen = twin.requests[0]
        assert seen.body["messages"] == list(ASK.messages)
        assert seen.body["cache_prompt"] is True
        assert seen.headers["authorization"] == f"Bearer {KEY}"


@virtual
async def test_chunks_are_stamped_on_arrival() -> None:
    loop = asyncio.get_running_loop()
    async with LlmTwin() as twin:
        backend = Backend(twin.config(), now_us=lambda: round(loop.time() * 1e6))
        twin.will(say("one two", every=0.25))
        begun = round(loop.time() * 1e6)
        times = [c.at_us - begun for c in await answer(backend) if isinstance(c, TextDelta)]
        assert times == [250_000, 500_000]
        await backend.aclose()


@virtual
async def test_l09_no_token_then_stop_is_an_end_without_text() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.will([role(), finish(), DONE])
        (only,) = await answer(backend)
        assert isinstance(only, Finished)


@virtual
async def test_l01a_cut_in_the_middle() -> None:
    async with twin_and_backend() as (twin, backend):
        for reset in (False, True):
            twin.will([role(), *script.words("forty words"), Wait(1), Cut(reset)])
            got: list[Chunk] = []
            error = await failure(backend, got)
            assert said(got) == "forty words"
            assert (error.kind, error.retryable) == ("broken_stream", True)
        error = await failure_after(twin, backend, [role(), script.text("a"), DONE])
        assert error.kind == "broken_stream"


@virtual
async def test_l01b_standing_still_is_a_timeout_that_keepalives_do_not_renew() -> None:
    loop = asyncio.get_running_loop()
    empty = [Wait(0.4), script.PING, Wait(0.4), role(), Wait(0.4), script.delta(reasoning="hm")]
    async with twin_and_backend(first_content_s=3, between_chunks_s=2) as (twin, backend):
        for first, bound in (([], 3), ([script.text("a"), Wait(1.9), script.text("b")], 3.9)):
            twin.will([*first, *empty * 9])
            begun = loop.time()
            error = await failure(backend)
            assert (error.kind, error.retryable) == ("timeout", True)
            assert loop.time() - begun == pytest.approx(bound)


@virtual
async def test_no_head_within_the_bound_is_a_timeout() -> None:
    async with twin_and_backend(first_content_s=3) as (twin, backend):
        assert (await failure_after(twin, backend, [Hold()])).kind == "timeout"


@virtual
async def test_a_busy_reader_does_not_count_against_the_server() -> None:
    async with twin_and_backend(first_content_s=1, between_chunks_s=1) as (twin, backend):
        twin.will(say("one two three", every=0.5))
        got: list[Chunk] = []
        async with backend.stream(ASK) as chunks:
            async for chunk in chunks:
                got.append(chunk)
                await asyncio.sleep(5)
        assert said(got) == "one two three"


@virtual
async def test_l05_the_next_request_works_after_each_failure() -> None:
    async with twin_and_backend(first_content_s=1, between_chunks_s=1) as (twin, backend):
        stuck = [role(), *script.words("a b c d e"), Hold()]
        for steps in (stuck, [Hold()], [role(), Cut()], status(500)):
            await failure_after(twin, backend, steps)
            assert said(await answer(backend)) == "Hello."


@virtual
async def test_an_answer_is_whole_with_its_finish_reason() -> None:
    """Neither the usage nor the end are waited for long."""
    loop = asyncio.get_running_loop()
    async with twin_and_backend(tail_s=0.3) as (twin, backend):
        for end in ([Hold()], [Cut()], [Cut(reset=True)]):
            twin.will([role(), script.text("All of it."), finish(), *end])
            begun = loop.time()
            assert said(await answer(backend)) == "All of it."
            assert loop.time() - begun <= 0.31

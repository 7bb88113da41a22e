"""Leaving an answer before its end closes the connection at once."""

from __future__ import annotations

import asyncio

import pytest
from asked import ASK, answer, failure, said, twin_and_backend

from routing.chunks import Chunk
from tests.kit import llm_script as script
from tests.kit.llm_script import (
    Hold,
    IgnoreClose,
    Wait,
    role,
    say,
)
from tests.kit.virtual_time import virtual


@virtual
async def test_l11_leaving_closes_the_connection_at_once() -> None:
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        twin.will(say(" ".join(["word"] * 500), every=0.02))
        async with backend.stream(ASK) as chunks:
            for _ in range(10):
                await anext(chunks)
        left = loop.time()
        await twin.requests[0].disconnected.wait()
        assert loop.time() - left <= 0.1
        assert twin.log.count("disconnected 0") == 1
        assert len([line for line in twin.log if line.startswith("sent 0")]) <= 12
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)


@virtual
async def test_l11_cancelling_closes_the_connection_at_once() -> None:
    """Before the head, before the first token, and in the middle."""
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        starts = ([], [role()], [role(), *script.words("and now")])
        for number, before in enumerate(starts):
            twin.will([*before, Hold(str(number)), script.text("never")])
            got: list[Chunk] = []
            asking = asyncio.create_task(answer(backend, got))
            await twin.reached(str(number))
            await asyncio.sleep(0.01)
            left = loop.time()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert loop.time() == left
            await twin.requests[number].disconnected.wait()
            assert loop.time() - left <= 0.1
            assert said(got) == ("and now" if number == 2 else "")
        assert said(await answer(backend)) == "Hello."


@virtual
async def test_l12_a_peer_that_ignores_the_close_holds_nobody_up() -> None:
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        for number, first in enumerate(([IgnoreClose()], [IgnoreClose(), role()])):
            twin.will([*first, Hold(str(number)), Wait(10)])
            asking = asyncio.create_task(answer(backend))
            await twin.reached(str(number))
            await asyncio.sleep(0.01)
            left = loop.time()
            asking.cancel()
            await asyncio.wait({asking})
            assert loop.time() == left
            assert said(await answer(backend)) == "Hello."
            assert loop.time() - left < 0.5
        left = loop.time()
        await backend.aclose()
        assert loop.time() - left < 0.5


@virtual
async def test_a_backend_that_is_closed_says_so() -> None:
    async with twin_and_backend() as (_, backend):
        await backend.aclose()
        error = await failure(backend)
        assert (error.kind, error.retryable) == ("unavailable", False)

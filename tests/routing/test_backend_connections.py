"""Which connections are kept, replaced and shared."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from asked import answer, failure, said, twin_and_backend

from routing.backend import Backend
from routing.messages import ChatRequest
from tests.kit import llm_script as script
from tests.kit.llm_script import (
    Cut,
    Hold,
    role,
    say,
)
from tests.kit.virtual_time import virtual


def test_connections_are_kept_for_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    @virtual
    async def ask() -> None:
        clock = SimpleNamespace(monotonic=asyncio.get_running_loop().time)
        monkeypatch.setattr("httpcore._async.http11.time", clock)
        async with twin_and_backend() as (twin, backend):
            for pause in (0.1, 6, 290, 310):
                await answer(backend)
                await asyncio.sleep(pause)
            await answer(backend)
            assert [r.connection for r in twin.requests] == [0, 0, 0, 0, 1]
            assert backend.reconnects == 0

    ask()


async def keep_a_connection(backend: Backend) -> None:
    await answer(backend)
    await asyncio.sleep(1)


@virtual
async def test_a_kept_connection_that_died_is_replaced_once_and_counted() -> None:
    async with twin_and_backend() as (twin, backend):
        for number, reset in enumerate((False, True), 1):
            await keep_a_connection(backend)
            twin.will([Cut(reset)])  # before anything was received
            assert said(await answer(backend)) == "Hello."
            assert backend.reconnects == number
        await keep_a_connection(backend)
        twin.will([Cut()], [Cut()])
        assert (await failure(backend)).kind == "broken_stream"
        assert backend.reconnects == 3


@virtual
async def test_a_new_connection_that_dies_is_not_replaced() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.will([Cut()])
        assert (await failure(backend)).kind == "broken_stream"
        assert (len(twin.requests), backend.reconnects) == (1, 0)


@virtual
async def test_a_kept_connection_that_died_after_its_head_is_not_replaced() -> None:
    async with twin_and_backend() as (twin, backend):
        await keep_a_connection(backend)
        twin.will([script.Head(), role(), Cut()])
        assert (await failure(backend)).kind == "broken_stream"
        assert backend.reconnects == 0


@virtual
async def test_the_server_was_started_again() -> None:
    async with twin_and_backend() as (twin, backend):
        await keep_a_connection(backend)
        await twin.stop()
        await twin.start()
        assert said(await answer(backend)) == "Hello."


@virtual
async def test_a_connection_for_each_request_where_none_are_kept() -> None:
    async with twin_and_backend(keep_alive_s=0) as (twin, backend):
        for number in range(3):
            await answer(backend)
            assert twin.requests[number].headers["connection"] == "close"
        assert [r.connection for r in twin.requests] == [0, 1, 2]


@virtual
async def test_connections_are_bounded() -> None:
    async with twin_and_backend(max_connections=2, connect_s=1) as (twin, backend):
        twin.always([role(), Hold()])
        asking = [asyncio.create_task(failure(backend)) for _ in range(3)]
        done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().kind for task in done] == ["unavailable"]
        assert len(twin.requests) == 2
        await asyncio.wait(asking)


@virtual
async def test_cookies_are_not_kept() -> None:
    async with twin_and_backend() as (twin, backend):
        head = script.Head(
            headers=(("Set-Cookie", "who=first"), ("Content-Type", "text/event-stream"))
        )
        twin.will([head, *say("a")])
        await answer(backend)
        await answer(backend)
        assert "cookie" not in twin.requests[1].headers


@virtual
async def test_two_answers_at_once_do_not_mix() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.always(lambda body: say(body["messages"][0]["content"] * 5, every=0.01))

        async def ask(word: str) -> str:
            request = ChatRequest(messages=({"role": "user", "content": f" {word}"},))
            async with backend.stream(request) as chunks:
                return said([chunk async for chunk in chunks])

        names = ["red", "green", "blue", "black"]
        assert await asyncio.gather(*map(ask, names)) == [f" {name}" * 5 for name in names]

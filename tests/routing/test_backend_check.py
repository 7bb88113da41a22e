"""Reading a prompt ahead, checking that a server is there, and finding it."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from asked import ASK, answer, twin_and_backend

from routing.backend import Backend, BackendConfig
from routing.errors import BackendError
from tests.kit.llm_script import (
    say,
)
from tests.kit.llm_twin import LlmTwin
from tests.kit.virtual_time import virtual


@virtual
async def test_prefill_asks_for_one_token() -> None:
    async with twin_and_backend(prefill_s=60, first_content_s=1) as (twin, backend):
        twin.will(say("Hm", first=30))
        await backend.prefill(ASK.messages)
        assert twin.requests[0].body["max_tokens"] == 1
        assert twin.requests[0].body["messages"] == list(ASK.messages)


async def test_prefill_reads_on_into_the_turn_that_follows() -> None:
    async with twin_and_backend(prefill_s=60) as (twin, backend):
        await backend.prefill([{"role": "system", "content": "Be brief."}])
        asked = await twin.request(0)
        assert asked.body["messages"][-1] == {"role": "user", "content": ""}


@virtual
async def test_without_prefill_a_connection_is_opened_and_kept_for_the_answer() -> None:
    async with twin_and_backend() as (twin, backend):
        for _ in range(3):
            began = asyncio.get_running_loop().time()
            await backend.prefill(ASK.messages)
            assert asyncio.get_running_loop().time() == began  # an answer may wait for a prefill
            await asyncio.sleep(1)
        assert twin.paths == ["/v1/models"]
        await answer(backend)
        assert twin.connections == 1


@virtual
async def test_check() -> None:
    async with twin_and_backend() as (twin, backend):
        await backend.check()
        assert twin.paths == ["/v1/models"]


def test_check_tells_a_wrong_key() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    @virtual
    async def check() -> None:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        config = BackendConfig(name="n", url=f"http://127.0.0.1:{port}", model="m", api_key="wrong")
        backend = Backend(config)
        with pytest.raises(BackendError, match="n: HTTP 401") as caught:
            await backend.check()
        assert caught.value.kind == "auth"
        await backend.aclose()
        server.close()

    check()


@virtual
async def test_the_url_can_change() -> None:
    async with LlmTwin() as first, LlmTwin() as second:
        urls = [first.url]
        backend = Backend(first.config(url=lambda: urls[0]))
        await answer(backend)
        urls[0] = second.url + "/"
        await answer(backend)
        assert (len(first.requests), len(second.requests)) == (1, 1)
        await backend.aclose()


def test_only_this_machine_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    from routing.connections import _new_client

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    for url, proxied in (("http://127.0.0.1:8000/v1", False), ("http://model.example/v1", True)):
        client = _new_client(BackendConfig(name="n", url=url, model="m"), True)
        assert isinstance(client, httpx.AsyncClient)
        assert client.trust_env is proxied

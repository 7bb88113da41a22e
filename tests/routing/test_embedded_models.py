"""The real llama.cpp server, with the smallest real model: plumbing, not answers."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from audio.weights import weights_dir
from routing.backend import Backend
from routing.chunks import Chunk, Finished, TextDelta, UsageReported
from routing.embedded import EmbeddedServer, EmbeddedServerError
from routing.errors import BackendError
from routing.messages import ChatRequest

pytestmark = pytest.mark.models

# A busy machine computes slowly; these tests are about order, not about time.
PATIENT = {"first_content_s": 120.0, "between_chunks_s": 60.0, "prefill_s": 120.0}


def request(text: str, max_tokens: int = 4) -> ChatRequest:
    return ChatRequest(messages=({"role": "user", "content": text},), max_tokens=max_tokens)


def smollm() -> Path:
    return weights_dir() / "smollm2-135m" / "model.gguf"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    running = EmbeddedServer(smollm(), threads=1, context=1024, slots=2)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def backend(server: EmbeddedServer) -> AsyncIterator[Backend]:
    client = Backend(server.backend_config(**PATIENT))
    yield client
    await client.aclose()


async def ask(backend: Backend, wanted: ChatRequest) -> list[Chunk]:
    async with backend.stream(wanted) as chunks:
        return [chunk async for chunk in chunks]


def usage(chunks: list[Chunk]) -> UsageReported:
    (found,) = [chunk for chunk in chunks if isinstance(chunk, UsageReported)]
    return found


async def test_a_streamed_answer_and_its_key(server: EmbeddedServer, backend: Backend) -> None:
    chunks = await ask(backend, request("Say hello."))
    assert any(isinstance(chunk, TextDelta) for chunk in chunks)
    assert any(isinstance(chunk, Finished) for chunk in chunks)
    assert usage(chunks).prompt_tokens > 0
    stranger = Backend(server.backend_config(api_key="wrong"))
    with pytest.raises(BackendError) as caught:
        await stranger.check()
    assert caught.value.kind == "auth"
    await stranger.aclose()
    async with httpx.AsyncClient() as client:
        page = await client.get(server.url.removesuffix("/v1"))
        assert page.status_code in (401, 404)


async def test_prefill_makes_the_prompt_known(backend: Backend) -> None:
    text = "The boiler was installed in March, the valve was replaced in May. " * 8
    await backend.prefill(request(text).messages)
    read = usage(await ask(backend, request(text + "When?")))
    assert read.cached_tokens is not None
    assert read.cached_tokens >= 0.8 * read.prompt_tokens


async def test_two_conversations_do_not_evict_each_other(backend: Backend) -> None:
    texts = [f"Customer {name} has a boiler and a dog. " * 8 for name in ("Maria", "Xu")]
    for text in texts:
        await ask(backend, request(text))
    for text in texts:
        read = usage(await ask(backend, request(text + "Well?")))
        assert read.cached_tokens is not None
        assert read.cached_tokens >= 0.8 * read.prompt_tokens


async def test_killed_in_mid_reply_then_restarted(server: EmbeddedServer, backend: Backend) -> None:
    pid, url = server.pid, server.url
    assert pid is not None

    async def ask_and_kill() -> None:
        async with backend.stream(request("Tell me a long story.", 900)) as chunks:
            await anext(chunks)
            os.kill(pid, signal.SIGKILL)
            async for _ in chunks:
                pass

    with pytest.raises(BackendError) as caught:
        await ask_and_kill()
    assert caught.value.kind == "broken_stream"
    async with asyncio.timeout(120):
        while server.restarts == 0:
            await server.wait_ready()
            await asyncio.sleep(0)
    assert (server.url, server.pid != pid) == (url, True)
    assert usage(await ask(backend, request("Hello?"))).completion_tokens > 0


async def test_a_model_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    cut = tmp_path / "model.gguf"
    cut.write_bytes(smollm().read_bytes()[:1_000_000])
    with pytest.raises(EmbeddedServerError, match="failed"):
        await EmbeddedServer(cut, threads=1).start()

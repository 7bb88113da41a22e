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
from routing.chunks import Chunk, Finished, TextDelta, ToolDelta, UsageReported
from routing.embedded import EmbeddedServer, EmbeddedServerError
from routing.errors import BackendError
from routing.messages import ChatRequest
from routing.tool_calls import ToolCallCollector

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


async def test_turn_two_reads_only_what_is_new(backend: Backend) -> None:
    history = list(request("The valve was replaced in May, the pump in June. " * 12).messages)
    first = usage(await ask(backend, ChatRequest(messages=tuple(history), max_tokens=4)))
    history += [
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "And the pump?"},
    ]
    second = usage(await ask(backend, ChatRequest(messages=tuple(history), max_tokens=4)))
    assert second.cached_tokens is not None
    assert second.prompt_tokens - second.cached_tokens < 0.2 * first.prompt_tokens


async def test_an_answer_goes_on_from_the_words_of_an_assistant(backend: Backend) -> None:
    begun = ({"role": "assistant", "content": "One, two, three,"},)
    asked = request("Count to nine in words.", 12)
    rest = await ask(backend, ChatRequest(messages=asked.messages + begun, max_tokens=12))
    text = "".join(chunk.text for chunk in rest if isinstance(chunk, TextDelta))
    assert "four" in text.lower()
    assert "one" not in text.lower()


async def test_l11_a_cancelled_answer_frees_its_slot(backend: Backend) -> None:
    for _ in range(4):  # more than there are slots
        async with backend.stream(request("Tell me a long story.", 900)) as chunks:
            await anext(chunks)
    assert usage(await ask(backend, request("Hello?"))).completion_tokens > 0


async def test_t19_a_tool_call_is_a_call_although_the_model_writes_it_as_text() -> None:
    model = weights_dir() / "qwen2.5-coder-1.5b" / "model.gguf"
    server = EmbeddedServer(model, context=1024)
    await server.start()
    backend = Backend(server.backend_config(**PATIENT))
    tool = {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look up a customer.",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string", "enum": ["Maria", "Xu"]}},
                "required": ["name"],
            },
        },
    }
    asked = ChatRequest(
        messages=request("Look up Maria.").messages,
        max_tokens=60,
        tools=(tool,),
        stop=("\n\n",),
    )
    calls = ToolCallCollector()
    chunks = await ask(backend, asked)
    for chunk in chunks:
        if isinstance(chunk, ToolDelta):
            calls.add(chunk)
    await backend.aclose()
    await server.stop()
    (call,) = calls.calls()
    assert (call.name, call.arguments) == ("look_up", {"name": "Maria"})
    assert not any(isinstance(chunk, TextDelta) for chunk in chunks)


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

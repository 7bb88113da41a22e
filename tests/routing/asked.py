"""Short ways to ask a backend in tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from routing.backend import Backend
from routing.chunks import Chunk, TextDelta
from routing.errors import BackendError
from routing.messages import ChatRequest
from tests.kit import llm_script as script
from tests.kit.llm_twin import LlmTwin
from tests.kit.provider_twin import Fault, ProviderTwin

KEY = "sk-very-secret-key"
ASK = ChatRequest(messages=({"role": "user", "content": "When is my boiler's service due?"},))


def said(chunks: list[Chunk]) -> str:
    """The text of an answer."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


async def answer(backend: Backend, into: list[Chunk] | None = None) -> list[Chunk]:
    """The whole answer; what came before an error is in ``into``."""
    chunks = [] if into is None else into
    async with backend.stream(ASK) as stream:
        async for chunk in stream:
            chunks.append(chunk)
    return chunks


@contextlib.asynccontextmanager
async def twin_and_backend(**changes: Any) -> AsyncIterator[tuple[LlmTwin, Backend]]:
    """A twin, and a backend that leads to it; ``changes`` are fields of its configuration."""
    async with LlmTwin() as twin:
        backend = Backend(twin.config(**changes))
        try:
            yield twin, backend
        finally:
            await backend.aclose()


async def failure(backend: Backend, got: list[Chunk] | None = None) -> BackendError:
    """The error that the answer ends with; what came before it is in ``got``."""
    with pytest.raises(BackendError) as caught:
        await answer(backend, got)
    return caught.value


async def failure_after(twin: LlmTwin, backend: Backend, steps: script.Script) -> BackendError:
    """The error that this script ends with."""
    twin.will(steps)
    return await failure(backend)


@contextlib.asynccontextmanager
async def provider_twin(
    name: str, fault: Fault | None = None, **changes: Any
) -> AsyncIterator[tuple[ProviderTwin, Backend]]:
    """A provider's twin, and a backend of that provider that leads to it."""
    loop = asyncio.get_running_loop()
    async with ProviderTwin(name, fault=fault, **changes) as twin:
        backend = Backend(twin.backend_config(), now_us=lambda: round(loop.time() * 1e6))
        try:
            yield twin, backend
        finally:
            await backend.aclose()

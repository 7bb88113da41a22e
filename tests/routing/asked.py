"""Short ways to ask a backend in tests."""

from __future__ import annotations

from routing.backend import Backend
from routing.chunks import Chunk, TextDelta
from routing.messages import ChatRequest

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

"""Short ways to write a stream in tests, and to read what was parsed."""

from __future__ import annotations

import json
from typing import Any

from routing.chunks import Chunk, ReasoningDelta, TextDelta, UsageReported
from routing.stream import ChatStreamParser


def event(payload: Any) -> str:
    """One event."""
    return f"data: {json.dumps(payload, ensure_ascii=False)}\n\n"


def delta(reason: str | None = None, **fields: Any) -> str:
    """One chunk of a completion."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]})


def body(*contents: Any) -> str:
    """A chunk for each content."""
    return "".join(delta(content=c) for c in contents)


END = delta("stop")
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def parse(raw: str | bytes, step: int = 0) -> tuple[list[Chunk], ChatStreamParser]:
    """All chunks of a stream that ends well, fed ``step`` bytes at a time (0: all at once)."""
    data = raw.encode() if isinstance(raw, str) else raw
    parser = ChatStreamParser()
    chunks: list[Chunk] = []
    for start in range(0, len(data), step or len(data) or 1):
        chunks += parser.feed(data[start : start + (step or len(data))], 5)
    return chunks + parser.close(), parser


def said(chunks: list[Chunk]) -> str:
    """The text."""
    return "".join(c.text for c in chunks if isinstance(c, TextDelta))


def thought(chunks: list[Chunk]) -> str:
    """The thinking."""
    return "".join(c.text for c in chunks if isinstance(c, ReasoningDelta))


def usages(chunks: list[Chunk]) -> list[tuple[int, int, int | None]]:
    """(prompt, completion, cached) of each usage."""
    return [
        (c.prompt_tokens, c.completion_tokens, c.cached_tokens)
        for c in chunks
        if isinstance(c, UsageReported)
    ]

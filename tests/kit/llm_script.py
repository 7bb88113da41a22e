"""The steps of a scripted answer of ``LlmTwin``, and makers for the usual ones. See llm_twin.py."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Send:
    """Bytes of the body."""

    data: bytes


@dataclass(frozen=True)
class Wait:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True)
class Hold:
    """Stand still until the test releases this name."""

    name: str = "hold"


@dataclass(frozen=True)
class Cut:
    """Close the connection without ending the answer."""

    reset: bool = False


@dataclass(frozen=True)
class IgnoreClose:
    """From here on, a client that hangs up is not noticed."""


@dataclass(frozen=True)
class Head:
    """The head of the answer. ``length``: send this Content-Length instead of chunks."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),)
    length: int | None = None


Step: TypeAlias = Send | Wait | Hold | Cut | IgnoreClose | Head
Script: TypeAlias = Sequence[Step]

DONE = Send(b"data: [DONE]\n\n")
PING = Send(b": ping\n\n")


def event(payload: object) -> Send:
    """One event that holds ``payload`` as JSON."""
    return Send(b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n")


def delta(reason: str | None = None, **fields: Any) -> Send:
    """One chunk of a completion, with these fields of ``delta``."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]})


def role() -> Send:
    """The chunk with which most servers begin, before the model has said anything."""
    return delta(role="assistant", content="")


def text(content: str) -> Send:
    """One chunk of text."""
    return delta(content=content)


def words(content: str, every: float = 0.0) -> list[Step]:
    """One chunk for each word, ``every`` seconds apart."""
    steps: list[Step] = []
    for word in re.findall(r"\s*\S+", content):
        steps += [Wait(every), text(word)] if every else [text(word)]
    return steps


def finish(reason: str = "stop") -> Send:
    """The chunk with the finish reason."""
    return delta(reason)


def usage(prompt: int, completion: int) -> Send:
    """The chunk with the usage alone."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return event({"choices": [], "usage": counts})


def say(content: str, *, first: float = 0.0, every: float = 0.0) -> list[Step]:
    """A whole answer: a wait of ``first`` seconds, then its words, ``every`` seconds apart."""
    wait: list[Step] = [Wait(first)] if first else []
    spoken = words(content, every)
    return [role(), *wait, *spoken, finish(), usage(10, len(spoken)), DONE]


def reply(status: int, body: object, **headers: str) -> list[Step]:
    """An answer that is no stream: ``body`` as JSON (bytes as they are)."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"content_type": "application/json"} | headers
    named = tuple((name.replace("_", "-"), value) for name, value in fields.items())
    return [Head(status, named, len(data)), Send(data)]


def status(code: int, message: str = "no", *, retry_after: float | None = None) -> list[Step]:
    """An error answer, in OpenAI's shape."""
    headers = {} if retry_after is None else {"retry_after": f"{retry_after:g}"}
    return reply(code, {"error": {"message": message, "code": code}}, **headers)

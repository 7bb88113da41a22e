"""What arrives from a chat model. Each chunk carries the time at which its bytes arrived.

``at_us`` is in microseconds of one monotonic clock, taken before any parsing. A chunk that holds
only a role, nothing at all, a comment or ``[DONE]`` makes no chunk here: it is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, never empty. ``tokens`` is None where the server did not say."""

    at_us: int
    text: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking: not part of the answer, and never spoken."""

    at_us: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolDelta:
    """A fragment of a tool call. Join them with ``routing.tool_calls.ToolCallCollector``.

    ``index`` numbers the calls of this answer from 0. It is the parser's own: servers leave the
    index out, repeat it, or give 0 to every parallel call.
    """

    at_us: int
    index: int
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the request has used so far; a later report replaces an earlier one."""

    at_us: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TimingReported:
    """The server's own times, where it tells them; a later report replaces an earlier one."""

    at_us: int
    queue_ms: float | None = None
    prompt_ms: float | None = None
    completion_ms: float | None = None
    total_ms: float | None = None
    first_token_ms: float | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The model has ended, for the server's ``reason`` (stop, length, tool_calls, ...).

    No text follows; a ``UsageReported`` or a ``TimingReported`` may.
    """

    at_us: int
    reason: str


Chunk: TypeAlias = (
    TextDelta | ReasoningDelta | ToolDelta | UsageReported | TimingReported | Finished
)

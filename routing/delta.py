"""What one event of a chat completion stream says, whatever types a server gave its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def first_choice(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The choice that is read: number 0. None where the event has none, as with usage alone."""
    choices = payload.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and choice.get("index") in (None, 0):
            return choice
    return None


def delta_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a choice adds: its ``delta``, or its ``message`` where the whole answer is one event."""
    for name in ("delta", "message"):
        value = choice.get(name)
        if isinstance(value, Mapping):
            return value
    return {}


def finish_reason(choice: Mapping[str, Any]) -> str | None:
    """Why the choice ended; None while it has not."""
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) and reason else None


def delta_text(delta: Mapping[str, Any]) -> str:
    """The text for the listener; "" where there is none."""
    content = delta.get("content")
    if isinstance(content, list):
        content = "".join(_part(part, "text") for part in content)
    if isinstance(content, str) and content:
        return content
    refusal = delta.get("refusal")  # said instead of an answer; silence would be worse
    return refusal if isinstance(refusal, str) else ""


def delta_reasoning(delta: Mapping[str, Any]) -> str:
    """The model's thinking, where the server keeps it apart; "" where there is none."""
    for name in ("reasoning_content", "reasoning"):  # a server that sends both sends it twice
        value = delta.get(name)
        if isinstance(value, str) and value:
            return value
    content = delta.get("content")
    if not isinstance(content, list):
        return ""
    thoughts = [p.get("thinking") for p in content if isinstance(p, Mapping)]
    return "".join(_part(part, "text") for t in thoughts if isinstance(t, list) for part in t)


def _part(part: object, name: str) -> str:
    value = part.get(name) if isinstance(part, Mapping) else None
    return value if isinstance(value, str) else ""

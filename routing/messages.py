"""What is asked of a chat model, in the terms of the OpenAI chat completions API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request for a streamed answer.

    ``messages`` are chat completions messages (role, content, tool_calls, ...). ``max_tokens``
    bounds the completion; some providers reserve that many against the quota up front.
    """

    messages: tuple[dict[str, Any], ...]
    max_tokens: int = 256
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    """Functions that the model may call, as the API describes them."""
    tool_choice: str | None = None
    """``auto``, ``none`` or ``required``; None: the server's own."""


def request_body(request: ChatRequest, model: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON body that asks for ``request`` as a stream, with a backend's ``extra`` fields."""
    body: dict[str, Any] = {
        "model": model,
        "messages": wire_messages(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools:
        body["tools"] = list(request.tools)
        if request.tool_choice is not None:
            body["tool_choice"] = request.tool_choice
    return body | dict(extra)


def tool_names(request: ChatRequest) -> frozenset[str]:
    """The names of the functions that the model may call."""
    functions = (tool.get("function") for tool in request.tools)
    return frozenset(
        str(function["name"])
        for function in functions
        if isinstance(function, Mapping) and "name" in function
    )


def wire_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages fit to be sent: a past tool call whose arguments are no JSON object gets ``{}``.

    Servers parse the arguments of past calls, so that one that was cut off would make every later
    request of the conversation fail.
    """
    return [_with_sound_calls(message) for message in messages]


def _with_sound_calls(message: Mapping[str, Any]) -> dict[str, Any]:
    sound = dict(message)
    calls = message.get("tool_calls")
    if isinstance(calls, list | tuple):
        sound["tool_calls"] = [_sound_call(call) for call in calls if isinstance(call, Mapping)]
    return sound


def _sound_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return dict(call)
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments)
    elif not _is_json_object(arguments):
        arguments = "{}"
    return {**call, "function": {**function, "arguments": arguments}}


def _is_json_object(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False

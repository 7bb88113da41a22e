"""Tool calls from fragments: which fragment belongs to which call, and what the whole call says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from routing.chunks import ToolDelta


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call. ``arguments`` is None where they are no JSON object: do not run such a call."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    raw_arguments: str


@dataclass(slots=True)
class _Call:
    call_id: str | None = None
    name: str = ""
    arguments: str = ""


class ToolCallCollector:
    """Joins the fragments of one answer."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}

    def add(self, delta: ToolDelta) -> None:
        """Take the next fragment."""
        call = self._calls.setdefault(delta.index, _Call())
        call.call_id = call.call_id or delta.call_id
        if delta.name and delta.name != call.name:
            call.name += delta.name
        call.arguments += delta.arguments

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far, in the order in which they began."""
        return tuple(
            ToolCall(
                call.call_id or f"call_{index}",
                call.name,
                parse_arguments(call.arguments),
                call.arguments,
            )
            for index, call in sorted(self._calls.items())
        )


def parse_arguments(raw: str) -> dict[str, Any] | None:
    """The arguments of a call: ``{}`` where none were given, None where they are no JSON object."""
    text = raw.strip()
    if not text:
        return {}
    # Some servers send an empty object first and the arguments after it.
    for candidate in (text, text.removeprefix("{}").strip()):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


@dataclass(slots=True)
class ToolFragments:
    """Gives each fragment of a ``tool_calls`` list the number of its call.

    Ids decide first, the server's index second. A new call begins with an id not seen before, or,
    without ids, with a name where the call at that index is already under way.
    """

    _calls: list[_Call] = field(default_factory=list)
    _by_id: dict[str, int] = field(default_factory=dict)
    _by_server_index: dict[int, int] = field(default_factory=dict)

    def read(self, fragments: object, at_us: int) -> list[ToolDelta]:
        """The deltas of one chunk's ``tool_calls``; what is not understood is left out."""
        if not isinstance(fragments, list):
            return []
        return [self._read(f, at_us) for f in fragments if isinstance(f, Mapping)]

    def _read(self, fragment: Mapping[str, Any], at_us: int) -> ToolDelta:
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        call_id = _text(fragment.get("id"))
        name = _text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping | list):
            arguments = json.dumps(arguments)
        arguments = arguments if isinstance(arguments, str) else ""
        server_index = fragment.get("index")
        number = self._number(
            call_id, name, server_index if isinstance(server_index, int) else None
        )
        call = self._calls[number]
        call.call_id = call.call_id or call_id
        call.name = call.name or name or ""
        call.arguments += arguments
        return ToolDelta(at_us, number, call_id, name, arguments)

    def _number(self, call_id: str | None, name: str | None, server_index: int | None) -> int:
        if call_id is not None and call_id in self._by_id:
            return self._by_id[call_id]
        number: int | None = len(self._calls) - 1 if self._calls else None
        if server_index is not None:
            number = self._by_server_index.get(server_index)
        if number is None or self._begins_anew(self._calls[number], call_id, name):
            number = len(self._calls)
            self._calls.append(_Call())
        if server_index is not None:
            self._by_server_index[server_index] = number
        if call_id is not None:
            self._by_id[call_id] = number
        return number

    @staticmethod
    def _begins_anew(call: _Call, call_id: str | None, name: str | None) -> bool:
        if call_id is not None:
            return call.call_id is not None  # and it is another id
        if name is None or not call.name:
            return False
        if name == call.name:  # repeated in every fragment, or called a second time?
            return bool(call.arguments) and parse_arguments(call.arguments) is not None
        return bool(call.arguments)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None

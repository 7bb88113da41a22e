"""Tool calls that a model writes as text instead of calling, as small models do. Pure.

Understood are an object with ``name`` and ``arguments`` that is all of the answer, bare or in a
code fence, and such objects in ``<tool_call>`` tags anywhere. Some templates double the braces.
Only names of tools that were offered count; all else is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from routing.chunks import Chunk, Finished, TextDelta, ToolDelta

_TAG = "<tool_call>"
_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|$)", re.S)
_FENCED = re.compile(r"^```(?:json)?\s*(.*?)\s*(?:```\s*)?$", re.S)
_LONGEST = 16_384
"""Characters held back at most: a longer object is no call."""


class TextToolCalls:
    """Chunks in, chunks out. Text that may be a call is held back until that is known."""

    def __init__(self, tools: Collection[str]) -> None:
        """``tools``: the names that were offered."""
        self._tools = tools
        self._held: list[TextDelta] = []
        self._begun = False
        """Some of the answer was given out as text."""
        self._calls = 0

    def feed(self, chunk: Chunk) -> list[Chunk]:
        """What is certain after this chunk."""
        if isinstance(chunk, TextDelta):
            self._held.append(chunk)
            text = "".join(delta.text for delta in self._held)
            return [] if self._may_call(text) and len(text) <= _LONGEST else self._release()
        if isinstance(chunk, ToolDelta):
            self._calls += 1
            return [*self._release(), chunk]
        if not isinstance(chunk, Finished):
            return [chunk]
        settled = self._settle(chunk.at_us)
        called = any(isinstance(one, ToolDelta) for one in settled)
        return [*settled, Finished(chunk.at_us, "tool_calls") if called else chunk]

    def _may_call(self, text: str) -> bool:
        if _TAG in text or any(text.endswith(_TAG[:n]) for n in range(1, len(_TAG))):
            return True
        start = text.lstrip()
        return not self._begun and (not start or start[0] == "{" or "```".startswith(start[:3]))

    def _release(self) -> list[Chunk]:
        held: list[Chunk] = [*self._held]
        self._held.clear()
        self._begun = self._begun or bool(held)
        return held

    def _settle(self, at_us: int) -> list[Chunk]:
        """The answer is whole: what was held back is calls, or text."""
        text = "".join(delta.text for delta in self._held)
        if _TAG in text:
            before, objects = text[: text.index(_TAG)], _TAGGED.findall(text)
        else:
            fenced = _FENCED.match(text.strip())
            before, objects = "", [fenced[1] if fenced else text.strip()]
        calls = [call for written in objects for call in self._read(written)]
        if not calls:
            return self._release()
        self._held.clear()
        chunks: list[Chunk] = [TextDelta(at_us, before)] if before.strip() else []
        for name, arguments in calls:
            chunks.append(ToolDelta(at_us, self._calls, None, name, arguments))
            self._calls += 1
        return chunks

    def _read(self, written: str) -> list[tuple[str, str]]:
        """The calls in one written object, or list of them."""
        value = _json(written)
        found = value if isinstance(value, list) else [value]
        return [call for one in found if (call := self._call(one))]

    def _call(self, value: Any) -> tuple[str, str] | None:
        if not isinstance(value, dict) or value.get("name") not in self._tools:
            return None
        arguments = value.get("arguments", value.get("parameters", {}))
        if isinstance(arguments, str):
            return value["name"], arguments
        return (value["name"], json.dumps(arguments)) if isinstance(arguments, dict) else None


def _json(written: str) -> Any:
    for text in (written, written.replace("{{", "{").replace("}}", "}")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            continue
    return None

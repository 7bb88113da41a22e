"""Token counts, wherever a server puts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from routing.chunks import UsageReported


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens used so far; ``cached`` prompt tokens were not computed anew (None: not told)."""

    prompt: int
    completion: int
    cached: int | None = None

    def reported(self, at_us: int) -> UsageReported:
        """As a chunk."""
        return UsageReported(at_us, self.prompt, self.completion, self.cached)


def read_usage(payload: Mapping[str, Any]) -> Usage | None:
    """The usage in one event: ``usage``, or Groq's ``x_groq.usage``. None where there is none."""
    usage = payload.get("usage")
    if not isinstance(usage, Mapping):
        groq = payload.get("x_groq")
        usage = groq.get("usage") if isinstance(groq, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return None  # half a count is not one
    return Usage(prompt, completion, _cached(usage))


def _cached(usage: Mapping[str, Any]) -> int | None:
    details = usage.get("prompt_tokens_details")
    inner = details.get("cached_tokens") if isinstance(details, Mapping) else None
    for value in (inner, usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")):
        count = _count(value)
        if count is not None:
            return count
    return None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


class TokenCounter:
    """How many tokens a chunk holds: its token ids or logprobs, else the growth of running usage.

    A total that comes only at the end says nothing about single chunks, so growth counts only from
    a chunk to the next where both carried the total.
    """

    def __init__(self) -> None:
        self._total: int | None = 0

    def count(self, choice: Mapping[str, Any], usage: Usage | None) -> int | None:
        """The tokens of a chunk with content; None where the server does not say."""
        before, self._total = self._total, usage.completion if usage else None
        listed = _listed(choice)
        if listed is not None:
            return listed
        if before is None or self._total is None or self._total < before:
            return None
        return self._total - before


def _listed(choice: Mapping[str, Any]) -> int | None:
    ids = choice.get("token_ids")
    if isinstance(ids, list) and ids:
        return len(ids)
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    return len(content) if isinstance(content, list) and content else None

"""How one provider differs from the others: its errors, its headers, its times, its requests.

A dialect is data. What all servers share is in ``http_errors``, ``stream`` and ``messages``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from routing.errors import BackendError, Kind
from routing.http_errors import error_of_status
from routing.rate_limits import PLAIN_NAMES, Names, RateLimits, read_limits
from routing.server_timing import ServerTiming, no_timing

BUSY_S = 1.0
"""Rest where the server is full for the moment and does not say for how long."""
SPENT_S = 60.0
"""Rest where an allowance is spent and no header says until when: these windows are minutes."""
UNPAID_S = 600.0
"""Rest where the account has no money left. Somebody has to do something about it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an error's code or status means. ``rest_s``: where the server names no pause."""

    kind: Kind
    rest_s: float | None = None
    names_model: bool = False
    """The model is the reason, so the message names it."""


BUSY = Meaning("rate_limited", BUSY_S)
SPENT = Meaning("quota", SPENT_S)
UNPAID = Meaning("quota", UNPAID_S)
NO_SUCH_MODEL = Meaning("bad_request", names_model=True)

COMMON: Mapping[str | int, Meaning] = {
    402: UNPAID,
    "insufficient_quota": UNPAID,
    "model_not_found": NO_SUCH_MODEL,
    "model_decommissioned": NO_SUCH_MODEL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The defaults are OpenAI's."""

    name: str = "openai"
    meanings: Mapping[str | int, Meaning] = field(default_factory=dict)
    """By the error's ``code``, its ``type`` or the HTTP status; the first found counts."""
    limit_names: Names = field(default_factory=lambda: PLAIN_NAMES)
    read_timing: Callable[[Mapping[str, Any]], ServerTiming | None] = no_timing
    max_tokens_name: str = "max_tokens"
    running_usage: bool = False
    """Ask for the usage with every chunk, which tells how many tokens each holds."""
    continuing: Mapping[str, Any] = field(default_factory=dict)
    """Fields that let the model go on with a last message of the assistant."""
    by_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Fields for the models whose id contains the key."""

    def error(
        self, status: int, headers: Mapping[str, str], body: bytes, *, model: str = ""
    ) -> BackendError:
        """The error that an HTTP answer other than 200 means."""
        plain = error_of_status(status, headers, body)
        meaning = self._meaning(status, body)
        rest = plain.retry_after_s
        if rest is None and status in (402, 429, 498):
            limits = self.limits(headers)
            rest = limits.exhausted_for_s if limits else None
        if meaning is None:
            if plain.kind != "rate_limited" or rest is None:
                return plain
            return BackendError(plain.kind, plain.message, retry_after_s=rest)
        message = plain.message
        if meaning.names_model and model and model not in message:
            message = f"HTTP {status}: there is no model {model} (any more)"
        return BackendError(
            meaning.kind, message, retry_after_s=meaning.rest_s if rest is None else rest
        )

    def limits(self, headers: Mapping[str, str]) -> RateLimits | None:
        """The rate limits that an answer's headers tell; None where they tell none."""
        return read_limits(headers, self.limit_names)

    def timing(self, payload: Mapping[str, Any]) -> ServerTiming | None:
        """The server's own times in one event of a stream; None where there are none."""
        return self.read_timing(payload)

    def body(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request as this server wants it. ``body`` is OpenAI's form of it."""
        body = dict(body)
        if self.max_tokens_name != "max_tokens" and "max_tokens" in body:
            body[self.max_tokens_name] = body.pop("max_tokens")
        if self.running_usage and body.get("stream"):
            options = body.get("stream_options") or {}
            body["stream_options"] = {**options, "continuous_usage_stats": True}
        if ends_with_assistant(body):
            body |= self.continuing
        for part, fields in self.by_model.items():
            if part in str(body.get("model", "")):
                body |= fields
        return body

    def _meaning(self, status: int, body: bytes) -> Meaning | None:
        keys: list[str | int] = [*_codes(body), status]
        for key in keys:
            if (meaning := self.meanings.get(key) or COMMON.get(key)) is not None:
                return meaning
        return None


GENERAL = Dialect()
"""Any OpenAI-compatible server."""


def ends_with_assistant(body: Mapping[str, Any]) -> bool:
    """Does the conversation end with words of the assistant, to be gone on with?"""
    messages = body.get("messages")
    last = messages[-1] if messages else {}
    return last.get("role") == "assistant" and bool(last.get("content"))


def _codes(body: bytes) -> list[str]:
    """The ``code`` and the ``type`` of an error's body, wrapped in ``error`` or not."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return []
    if not isinstance(payload, Mapping):
        return []
    inner = payload.get("error")
    error = inner if isinstance(inner, Mapping) else payload
    return [value for name in ("code", "type") if isinstance(value := error.get(name), str)]

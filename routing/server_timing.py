"""How long the server itself says that an answer took. Each provider has its own fields.

A function here takes one event of a stream, and returns None where it tells no times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from routing.chunks import TimingReported


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTiming:
    """Milliseconds by the server's clock; None for what it does not say."""

    queue_ms: float | None = None
    """Before it began."""
    prompt_ms: float | None = None
    """Reading the prompt."""
    completion_ms: float | None = None
    """Writing the answer."""
    total_ms: float | None = None
    first_token_ms: float | None = None
    """From its receiving the request to its first token."""
    tokens_per_s: float | None = None

    def reported(self, at_us: int) -> TimingReported:
        """As a chunk."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return TimingReported(at_us, **values)


def no_timing(_payload: Mapping[str, Any]) -> ServerTiming | None:
    """For servers that do not say."""
    return None


def groq_timing(payload: Mapping[str, Any]) -> ServerTiming | None:
    """``x_groq.usage`` or ``usage`` with ``queue_time``, ``prompt_time``, ... in seconds."""
    usage = payload.get("usage")
    if not isinstance(usage, Mapping):
        usage = _mapping(_mapping(payload, "x_groq"), "usage")
    return _in_seconds(usage)


def cerebras_timing(payload: Mapping[str, Any]) -> ServerTiming | None:
    """``time_info`` with ``queue_time``, ``prompt_time``, ... in seconds."""
    return _in_seconds(_mapping(payload, "time_info"))


def sambanova_timing(payload: Mapping[str, Any]) -> ServerTiming | None:
    """``usage`` with ``time_to_first_token`` and ``total_latency`` in seconds, and a rate."""
    usage = _mapping(payload, "usage")
    if not usage:
        return None
    return _unless_empty(
        ServerTiming(
            first_token_ms=_ms(usage.get("time_to_first_token")),
            total_ms=_ms(usage.get("total_latency")),
            tokens_per_s=_number(usage.get("completion_tokens_per_sec")),
        )
    )


def llama_timing(payload: Mapping[str, Any]) -> ServerTiming | None:
    """llama.cpp's ``timings`` with ``prompt_ms``, ``predicted_ms`` and ``predicted_per_second``."""
    timings = _mapping(payload, "timings")
    if not timings:
        return None
    return _unless_empty(
        ServerTiming(
            prompt_ms=_number(timings.get("prompt_ms")),
            completion_ms=_number(timings.get("predicted_ms")),
            tokens_per_s=_number(timings.get("predicted_per_second")),
        )
    )


def _in_seconds(times: Mapping[str, Any]) -> ServerTiming | None:
    if not times:
        return None
    return _unless_empty(
        ServerTiming(
            queue_ms=_ms(times.get("queue_time")),
            prompt_ms=_ms(times.get("prompt_time")),
            completion_ms=_ms(times.get("completion_time")),
            total_ms=_ms(times.get("total_time")),
        )
    )


def _unless_empty(timing: ServerTiming) -> ServerTiming | None:
    return None if timing == ServerTiming() else timing


def _mapping(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = payload.get(name)
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    """A finite number, not below 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _ms(seconds: object) -> float | None:
    number = _number(seconds)
    return None if number is None else number * 1000

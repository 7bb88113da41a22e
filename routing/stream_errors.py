"""Errors reported inside an answer whose HTTP status was 200, in the shapes seen in the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing.errors import BackendError

_FINAL_CODES = frozenset({400, 401, 402, 403, 404, 405, 410, 413, 422})


def error_in(payload: Mapping[str, Any], event_type: str = "") -> BackendError | None:
    """The error that an event holds, or None where it is a usual chunk.

    Known shapes: ``{"error": {...}}`` and ``{"error": "text"}`` (OpenAI, OpenRouter, llama.cpp,
    SGLang), ``event: error`` and ``x_groq.error`` (Groq), ``{"object": "error", ...}`` (vLLM),
    ``choices[0].error`` and ``finish_reason: "error"`` (OpenRouter), the bare
    ``{"message", "type", "code"}`` (Cerebras) and ``{"detail": ...}`` (FastAPI).
    """
    found = _find(payload, event_type)
    if found is None:
        return None
    message, code = _describe(found)
    text = f"error in the stream: {message}" if message else "error in the stream"
    return BackendError("in_stream", text, retryable=_retryable(code))


def _find(payload: Mapping[str, Any], event_type: str) -> Any:
    error = payload.get("error")
    if error:
        return error
    groq = payload.get("x_groq")
    if isinstance(groq, Mapping) and groq.get("error"):
        return groq["error"]
    choices = payload.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, Mapping):
        if first.get("error"):
            return first["error"]
        if first.get("finish_reason") == "error":
            return payload
    if event_type == "error" or payload.get("object") == "error":
        return payload
    if choices is None and "usage" not in payload and "x_groq" not in payload:
        if isinstance(payload.get("message"), str) and ("code" in payload or "type" in payload):
            return payload
        if payload.get("detail"):
            return payload
    return None


def _describe(error: object) -> tuple[str, object]:
    """The message and the code of an error object; both may be missing."""
    if not isinstance(error, Mapping):
        return (error, None) if isinstance(error, str) else ("", None)
    message = error.get("message") or error.get("detail") or error.get("type") or ""
    code = error.get("status_code") or error.get("code") or error.get("status")
    return (message if isinstance(message, str) else "", code)


def _retryable(code: object) -> bool:
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    return not (isinstance(code, int) and code in _FINAL_CODES)


def message_of_error_body(payload: object) -> str:
    """The message in the JSON body of a failed request, "" where there is none."""
    if not isinstance(payload, Mapping):
        return payload if isinstance(payload, str) else ""
    inner = payload.get("error")
    return _describe(inner if inner else payload)[0]

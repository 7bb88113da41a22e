"""HTTP answers that are no stream, and httpx's exceptions, as ``BackendError``."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx

from routing.errors import BackendError, Kind, one_line
from routing.stream_errors import message_of_error_body

MAX_RETRY_AFTER_S = 3600.0

_KINDS: Mapping[int, Kind] = {
    401: "auth",
    403: "auth",
    408: "timeout",
    409: "unavailable",
    425: "unavailable",
    429: "rate_limited",
    498: "rate_limited",  # Groq: the flex tier is full
    504: "timeout",
}


def error_of_status(status: int, headers: Mapping[str, str], body: bytes) -> BackendError:
    """The error that an HTTP answer other than 200 means."""
    kind = _KINDS.get(status, "unavailable" if status >= 500 else "bad_request")
    if 300 <= status < 400:
        message = f"HTTP {status}: the server sends us elsewhere, which is not followed"
    else:
        told = _told(body)
        message = f"HTTP {status}: {told}" if told else f"HTTP {status}"
    return BackendError(kind, message, retry_after_s=retry_after_s(headers))


def _told(body: bytes) -> str:
    """What the body says, if it says it in JSON; pages of proxies are no message."""
    try:
        return one_line(message_of_error_body(json.loads(body)))
    except (ValueError, RecursionError):
        return ""


def hide(text: str, secret: str | None) -> str:
    """``text`` without the key, which some servers repeat in their errors."""
    if not secret:
        return text
    text = text.replace(secret, "[key]")
    cut = text.removesuffix("…")  # a long message may have been cut within the key
    for length in range(len(secret) - 1, 3, -1):
        if cut.endswith(secret[:length]):
            return cut[:-length] + "[key]"
    return text


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The pause that the server asks for, 0 to 3600 seconds: a number, or an HTTP date.

    A date counts from the answer's own ``Date``, so the two clocks need not agree.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _seconds_until(value, headers.get("date", ""))
        if math.isfinite(seconds):
            return min(max(seconds, 0.0), MAX_RETRY_AFTER_S)
    return None


def _seconds_until(date: str, now: str) -> float:
    try:
        then = parsedate_to_datetime(date)
        start = parsedate_to_datetime(now) if now else datetime.datetime.now(datetime.UTC)
        return (then - start).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return math.nan


def error_of_exception(error: Exception) -> BackendError:
    """The error that an exception of httpx means. Its own text is left out: it can hold the URL."""
    name = type(error).__name__
    match error:
        case httpx.ConnectTimeout():
            return BackendError("timeout", "no connection within the bound")
        case httpx.PoolTimeout():
            return BackendError("unavailable", "every connection to it is in use")
        case httpx.TimeoutException():
            return BackendError("timeout", f"the network did not answer within the bound ({name})")
        case httpx.ConnectError():
            return BackendError("refused", "nothing accepts connections there")
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return BackendError("bad_request", "its address is not a web address")
        case httpx.NetworkError() | httpx.RemoteProtocolError():
            return BackendError("broken_stream", f"the connection broke ({name})")
        case _:
            return BackendError("unavailable", f"the request failed ({name})")

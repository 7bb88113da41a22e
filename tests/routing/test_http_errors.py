"""Retry-After in its forms, and messages that fit a log."""

from __future__ import annotations

import httpx
import pytest

from routing.errors import BackendError
from routing.http_errors import error_of_exception, error_of_status, retry_after_s

NOW = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "30"}, 30),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:12 GMT", "date": NOW}, 12),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": NOW}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "1e9"}, 3600),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error": {"message": "m"}}', ": m"),
        (b'{"error": "m"}', ": m"),
        (b'{"message": "m", "type": "t", "code": "queue_exceeded"}', ": m"),
        (b'{"detail": "m"}', ": m"),
        (b'"m"', ": m"),
        (b'{"error": {"message": "two\\r\\nlines\\u001b[31m"}}', ": two lines [31m"),
        (b'{"detail": [{"msg": "m"}]}', ""),
        (b'{"error": {"message": 7}}', ""),
        (b"<html>", ""),
        (b"", ""),
        (b"[" * 100_000, ""),
        (b"\xff", ""),
    ],
)
def test_the_message_in_an_error_body(body: bytes, told: str) -> None:
    assert str(error_of_status(500, {}, body)) == f"HTTP 500{told}"


def test_messages_are_short() -> None:
    error = error_of_status(500, {}, b'{"error": "' + b"x" * 5000 + b'"}')
    assert len(error.message) == 300


@pytest.mark.parametrize(
    ("exception", "kind"),
    [
        (httpx.ConnectError("x"), "refused"),
        (httpx.ConnectTimeout("x"), "timeout"),
        (httpx.ReadTimeout("x"), "timeout"),
        (httpx.PoolTimeout("x"), "unavailable"),
        (httpx.ReadError("x"), "broken_stream"),
        (httpx.RemoteProtocolError("x"), "broken_stream"),
        (httpx.UnsupportedProtocol("x"), "bad_request"),
        (httpx.InvalidURL("x"), "bad_request"),
        (httpx.ProxyError("x"), "unavailable"),
    ],
)
def test_exceptions_of_the_client(exception: Exception, kind: str) -> None:
    error = error_of_exception(exception)
    assert isinstance(error, BackendError)
    assert error.kind == kind

"""Who may connect: N14 and its kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.security import Caller, Gate, is_loopback

OPEN = Gate(host="127.0.0.1")
LOCKED = Gate(host="0.0.0.0", token="correct horse")
PAGES = Gate(host="127.0.0.1", allowed_origins=["https://voice.example/", "http://dev.box:3000"])


def status(gate: Gate, **caller: object) -> int | None:
    refusal = gate.check(Caller(**{"host": "localhost:8080", **caller}))  # type: ignore[arg-type]
    return refusal.status if refusal else None


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "file://",
        "http://localhost:3000",
        "http://localhost",
        "http://localhost:8080.evil.example",
        "http://evil.example/localhost:8080",
        "http://localhost:8080@evil.example",
        "chrome-extension://localhost:8080",
        "localhost:8080",
        "http://[::1",
        "",
    ],
)
def test_n14_pages_from_elsewhere_may_not_connect(origin: str) -> None:
    assert status(OPEN, origins=[origin]) == 403
    assert status(PAGES, origins=[origin]) == 403
    assert status(LOCKED, origins=[origin], query_token="correct horse") == 403


def test_our_own_pages_and_programs_may() -> None:
    assert status(OPEN) is None
    assert status(OPEN, origins=["http://localhost:8080"]) is None
    assert status(OPEN, origins=["https://LOCALHOST:8080"]) is None
    assert status(OPEN, host="[::1]:8080", origins=["http://[::1]:8080"]) is None
    assert status(OPEN, origins=["http://localhost:8080", "http://localhost:8080"]) == 403


def test_allowed_origins_may_and_only_they() -> None:
    assert status(PAGES, origins=["https://voice.example"]) is None
    assert status(PAGES, origins=["http://dev.box:3000"]) is None
    assert status(PAGES, origins=["http://voice.example"]) == 403
    assert status(PAGES, host="voice.example", origins=["https://voice.example"]) is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[", None, "a b"]
)
def test_a_hostile_name_for_our_address_gets_nothing(host: str | None) -> None:
    origins = [] if host is None else [f"http://{host}"]
    assert status(OPEN, host=host, origins=origins) == 403
    assert status(OPEN, host=host) == 403


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1.2.3:80", "localhost", "[::1]:1", "a.localhost"]
)
def test_loopback_names_do(host: str) -> None:
    assert status(OPEN, host=host) is None


def test_n14_without_the_token_or_with_a_wrong_one_nothing() -> None:
    assert status(LOCKED) == 401
    for wrong in ("", "wrong", "correct horse ", "Correct horse", "correct hors\xe9", "\ud800"):
        assert status(LOCKED, query_token=wrong) == 401
        assert status(LOCKED, subprotocols=["realtime", f"openai-insecure-api-key.{wrong}"]) == 401
    assert status(LOCKED, authorization="Bearer wrong") == 401
    assert status(LOCKED, authorization="Basic correct horse") == 401
    assert status(LOCKED, authorization="correct horse") == 401


def test_the_token_is_taken_wherever_the_protocol_allows_one() -> None:
    assert status(LOCKED, authorization="Bearer correct horse") is None
    assert status(LOCKED, authorization="bearer  correct horse") is None
    assert status(LOCKED, subprotocols=["openai-insecure-api-key.correct horse"]) is None
    assert status(LOCKED, query_token="correct horse") is None
    assert status(LOCKED, authorization="Bearer x", query_token="correct horse") is None
    assert status(LOCKED, host="voice.example", authorization="Bearer correct horse") is None


def test_an_open_door_to_the_network_stays_shut_without_a_token() -> None:
    assert status(Gate(host="0.0.0.0")) == 403
    assert status(Gate(host="192.168.1.5", token="")) == 403


@given(
    host=st.none() | st.text(),
    origin=st.text(min_size=1),
    token=st.none() | st.text(),
    offered=st.lists(st.text(), max_size=3),
)
def test_no_request_breaks_the_gate(
    host: str | None, origin: str, token: str | None, offered: list[str]
) -> None:
    caller = Caller(host, [origin], token, offered, token)
    for gate in (OPEN, LOCKED, PAGES):
        gate.check(caller)
    refusal = LOCKED.check(caller)
    assert refusal is not None or token == "correct horse"


def test_loopback() -> None:
    assert all(map(is_loopback, ["localhost", "LOCALHOST.", "127.0.0.1", "::1", "[::1]"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "", "example.com", "10.0.0.1"]))

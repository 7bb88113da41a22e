"""The read API, over a real store."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.kit.turn_records import STARTED_AT, a_session
from voiceagent.api import Kept, api_routes, report_policy
from voiceagent.pages import SecurityHeaders
from voiceagent.security import Gate
from voiceagent.store.errors import StoreUnavailable
from voiceagent.store.store import Store
from voiceagent.turn_record import SessionRecord, TurnRecord

PAGE = "<style>p { color: red }</style><p>report</p><script>\nlet a = 1\n</script>"
SESSION, TURNS = a_session(12)
PATHS = [
    ("GET", "/api/sessions"),
    ("GET", f"/api/sessions/{SESSION.id}"),
    ("GET", f"/api/sessions/{SESSION.id}/report"),
    ("GET", f"/api/sessions/{SESSION.id}/report?format=html"),
    ("DELETE", f"/api/sessions/{SESSION.id}"),
]


def report(session: SessionRecord, turns: Sequence[TurnRecord]) -> dict[str, Any]:
    return {"session": session.id, "turns": len(turns)}


def report_html(session: SessionRecord, turns: Sequence[TurnRecord]) -> str:
    return PAGE


def client(store: Kept | None, token: str | None = None, **options: Any) -> httpx.AsyncClient:
    app = FastAPI()
    app.add_middleware(SecurityHeaders)
    gate = Gate(host="127.0.0.1", token=token)
    app.include_router(api_routes(gate, lambda: store, report=report, report_html=report_html))
    transport = httpx.ASGITransport(app)
    options.setdefault("base_url", "http://localhost:8080")
    return httpx.AsyncClient(transport=transport, **options)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    kept = await Store.open(f"sqlite:///{tmp_path / 'v.db'}")
    kept.session_began(SESSION)
    for turn in TURNS:
        kept.turn(SESSION.id, turn)
    await kept.flushed()
    yield kept
    await kept.aclose()


def error_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["message"]


async def test_a_session_and_its_turns_in_milliseconds(store: Store) -> None:
    async with client(store) as http:
        body = (await http.get(f"/api/sessions/{SESSION.id}")).json()
    assert body["session"]["id"] == SESSION.id
    assert body["session"]["started_at"] == "2026-01-15T09:30:00+00:00"
    assert [turn["number"] for turn in body["turns"]] == list(range(1, 13))
    turn, record = body["turns"][1], TURNS[1]
    assert record.gap_us is not None
    assert turn["gap_ms"] == record.gap_us / 1_000
    assert turn["pauses"][0]["duration_ms"] == record.pauses[0].duration_us / 1_000
    assert turn["decision"] == record.decision
    assert body["turns"][0]["gap_ms"] is None
    assert '_us"' not in json.dumps(body)
    assert body["turns"][2]["parts"][0]["name"] == "endpointing"


async def test_sessions_page_by_page(store: Store) -> None:
    for day in range(1, 4):
        began = STARTED_AT + timedelta(days=day)
        store.session_began(replace(SESSION, id=f"day{day}", started_at=began))
    await store.flushed()
    async with client(store) as http:
        first = (await http.get("/api/sessions?limit=2")).json()["sessions"]
        before = first[-1]["started_at"]
        rest = (await http.get("/api/sessions", params={"before": before})).json()["sessions"]
        unescaped = (await http.get(f"/api/sessions?before={before}")).json()["sessions"]
    assert [session["id"] for session in first] == ["day3", "day2"]
    assert [session["id"] for session in rest] == ["day1", SESSION.id]
    assert unescaped == rest


async def test_a_report_as_data_and_as_a_page_with_a_policy_of_its_own(store: Store) -> None:
    async with client(store) as http:
        data = await http.get(f"/api/sessions/{SESSION.id}/report")
        page = await http.get(f"/api/sessions/{SESSION.id}/report?format=html")
    assert data.json() == {"session": SESSION.id, "turns": 12}
    assert "default-src 'self'" in data.headers["content-security-policy"]
    assert page.text == PAGE
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers.get_list("content-security-policy") == [report_policy(PAGE)]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert {data.headers["cache-control"], page.headers["cache-control"]} == {"no-store"}


def test_a_report_runs_only_what_is_in_it() -> None:
    policy = dict(part.split(" ", 1) for part in report_policy(PAGE).split("; "))
    script = base64.b64encode(hashlib.sha256(b"\nlet a = 1\n").digest()).decode()
    assert policy["script-src"] == f"'sha256-{script}'"
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in report_policy(PAGE)
    assert "script-src 'none'" in report_policy("<p>nothing to run</p>")


async def test_a_session_is_deleted_once(store: Store) -> None:
    async with client(store) as http:
        deleted = await http.delete(f"/api/sessions/{SESSION.id}")
        assert (deleted.status_code, deleted.content) == (204, b"")
        again = await http.delete(f"/api/sessions/{SESSION.id}")
        assert error_of(again) == (404, "There is no session of this id.")
        assert (await http.get("/api/sessions")).json() == {"sessions": []}


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_only_who_may_talk_may_read(store: Store, method: str, path: str) -> None:
    evil = {"origin": "https://evil.example"}
    async with client(store) as http:
        assert (await http.request(method, path, headers=evil)).status_code == 403
    async with client(store, base_url="http://evil.example") as http:  # DNS rebinding
        assert (await http.request(method, path)).status_code == 403
    async with client(store, token="a-token") as http:
        refused = await http.request(method, path)
        assert error_of(refused) == (401, "A valid token is needed.")
        wrong = await http.request(method, path, headers={"authorization": "Bearer other"})
        assert wrong.status_code == 401
    assert await store.turns(SESSION.id) == TURNS


async def test_a_token_is_taken_from_the_header_or_the_address(store: Store) -> None:
    async with client(store, token="a-token") as http:
        header = await http.get("/api/sessions", headers={"authorization": "Bearer a-token"})
        address = await http.get("/api/sessions?token=a-token")
    assert (header.status_code, address.status_code) == (200, 200)


@pytest.mark.parametrize("limit", ["0", "201", "-1", "1.5", "many", "", "9" * 5_000, "²"])
async def test_limits_are_bounded(store: Store, limit: str) -> None:
    async with client(store) as http:
        answer = await http.get("/api/sessions", params={"limit": limit})
        assert error_of(answer) == (400, "The limit is a whole number from 1 to 200.")
        assert (await http.get("/api/sessions?limit=200")).status_code == 200


@pytest.mark.parametrize("before", ["yesterday", "2026-01-31T09:30:00", "", "1"])
async def test_a_time_needs_its_zone(store: Store, before: str) -> None:
    async with client(store) as http:
        status, message = error_of(await http.get("/api/sessions", params={"before": before}))
    assert status == 400
    assert "2026-01-31T09:30:00Z" in message


@pytest.mark.parametrize("name", ["unknown", "a" * 65, "..%2F..", "%00", "a b", "sess_ü"])
async def test_an_unknown_session_is_one_sentence(store: Store, name: str) -> None:
    async with client(store) as http:
        for path in (f"/api/sessions/{name}", f"/api/sessions/{name}/report"):
            answer = await http.get(path)
            assert answer.status_code == 404
            if "%2F" not in name:
                assert error_of(answer) == (404, "There is no session of this id.")


async def test_an_unknown_format_is_one_sentence(store: Store) -> None:
    async with client(store) as http:
        answer = await http.get(f"/api/sessions/{SESSION.id}/report?format=pdf")
    assert error_of(answer) == (400, "The format of a report is json or html.")


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_where_nothing_is_kept_it_says_so(method: str, path: str) -> None:
    async with client(None) as http:
        answer = await http.request(method, path)
    assert error_of(answer) == (404, "This server keeps no sessions.")


async def test_a_store_that_does_not_answer_is_said_to_be_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise StoreUnavailable("The store does not answer; try again later.")

    monkeypatch.setattr(store, "sessions", fails)
    async with client(store) as http:
        answer = await http.get("/api/sessions")
    assert error_of(answer) == (503, "The store does not answer; try again later.")

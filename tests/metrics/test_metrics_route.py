"""Who may read the metrics, and how."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from voiceagent.metrics.prometheus import Metrics
from voiceagent.metrics.route import routes
from voiceagent.security import Gate

LOCKED = Gate(host="0.0.0.0", token="correct horse")
OPEN = Gate(host="127.0.0.1")
BEARER = {"authorization": "Bearer correct horse"}


def client(gate: Gate, host: str = "localhost:8080") -> TestClient:
    app = FastAPI()
    app.include_router(routes(Metrics(), gate))
    return TestClient(app, base_url=f"http://{host}")


def test_a_scraper_without_an_origin_reads_them() -> None:
    answer = client(OPEN).get("/metrics")
    assert (answer.status_code, "voiceagent_ready 0.0" in answer.text) == (200, True)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    asked = client(OPEN).get("/metrics", headers={"accept": "application/openmetrics-text"})
    assert asked.text.endswith("# EOF\n")
    assert asked.headers["content-type"].startswith("application/openmetrics-text")


def test_head_is_answered() -> None:
    assert client(OPEN).head("/metrics").status_code == 200
    assert client(LOCKED).head("/metrics").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [(BEARER, 200), ({}, 401), ({"authorization": "Bearer wrong"}, 401)],
)
def test_with_a_token_only_who_has_it(headers: dict[str, str], status: int) -> None:
    answer = client(LOCKED, "voice.example").get("/metrics", headers=headers)
    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "refused"
        assert "voiceagent_" not in answer.text


def test_n14_neither_pages_from_elsewhere_nor_hostile_names() -> None:
    evil = {"origin": "http://evil.example"}
    assert client(OPEN).get("/metrics", headers=evil).status_code == 403
    assert client(LOCKED).get("/metrics", headers=evil | BEARER).status_code == 403
    assert client(OPEN, "evil.example").get("/metrics").status_code == 403

"""What a browser gets over HTTP."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kit.live_server import ScriptedEngine
from tests.kit.scripted import (
    ScriptedModel,
    ScriptedRecogniser,
    ScriptedVoice,
    routed,
    speech_detector,
)
from voiceagent.parts import Parts
from voiceagent.server import create_app
from voiceagent.settings import Settings


def engine(**fields: Any) -> ScriptedEngine:
    parts = Parts(
        speech_detector(), ScriptedRecogniser(["x"]), ScriptedVoice(), routed(ScriptedModel([[]]))
    )
    return ScriptedEngine(parts, **fields)


def browser(models: ScriptedEngine, **settings: Any) -> httpx.AsyncClient:
    app = create_app(models, Settings(**settings))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:8080")


async def test_the_page_and_every_file_it_names_are_served() -> None:
    async with browser(engine()) as client:
        page = await client.get("/")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        named = set(re.findall(r'(?:src|href)="(/web/[^"]+)"', page.text))
        assert named
        for path in named:
            assert (await client.get(path)).status_code == 200, path


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz"])
async def test_monitors_may_ask_without_the_body(path: str) -> None:
    async with browser(engine()) as client:
        answer = await client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


async def test_scripts_have_a_type_that_browsers_run() -> None:
    async with browser(engine()) as client:
        answer = await client.get("/web/app.js")
        assert "javascript" in answer.headers["content-type"]


@pytest.mark.parametrize("path", ["/", "/web/app.js", "/readyz", "/api/config", "/nowhere"])
async def test_every_answer_carries_the_security_headers(path: str) -> None:
    async with browser(engine()) as client:
        headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    file = path == "/" or path.startswith("/web/")
    assert headers["cache-control"] == ("no-cache" if file else "no-store")


async def test_d04_ready_only_when_warm() -> None:
    models = engine(ready=False, part_status={"voice": "loading"})
    async with browser(models) as client:
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()) == (
            503,
            {"ready": False, "parts": {"voice": "loading"}},
        )
        assert (await client.get("/healthz")).status_code == 200
        models.ready, models.part_status = True, {"voice": "warm"}
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)


async def test_the_configuration_tells_whether_a_token_is_needed_and_never_which() -> None:
    async with browser(engine(), token="secret-token", max_sessions=3) as client:
        answer = await client.get("/api/config")
        assert answer.json()["token_required"] is True
        assert answer.json()["limits"]["sessions"] == 3
        assert "secret-token" not in answer.text
    async with browser(engine()) as client:
        assert (await client.get("/api/config")).json()["token_required"] is False


@pytest.mark.parametrize(
    "path", ["/web/../pyproject.toml", "/web/%2e%2e/pyproject.toml", "/web//etc/passwd", "/docs"]
)
async def test_nothing_else_is_served(path: str) -> None:
    async with browser(engine()) as client:
        assert (await client.get(path)).status_code == 404


def test_the_page_loads_nothing_from_elsewhere() -> None:
    web = Path(__file__).parents[2] / "web"
    for file in [*web.glob("*.html"), *web.glob("*.css"), *web.glob("*.js")]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"(src|href)=\"https?://|@import|url\(\s*['\"]?https?://", text), file

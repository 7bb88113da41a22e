"""Sessions over the real server: what is kept, counted and reported of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from tests.kit.live_server import Live, live_server
from tests.kit.scripted import clip
from voiceagent.cli import app
from voiceagent.speaking_rate import ASSUMED, SpeakingRate

SAID = "Your boiler is covered until May. "


async def a_spoken_turn(live: Live, **query: Any) -> None:
    """One question and its answer, heard to the end by a client that reports nothing."""
    async with live.client() as client:
        await client.wait_for("session.created")
        await client.hear(clip("goforward.wav"))
        await client.quiet(1.0)
        await client.wait_for("response.done")
        await client.quiet(0.2)
    await live.until_empty(3.0)


async def the_session(web: httpx.AsyncClient) -> dict[str, Any]:
    """The one that is kept, once it is written to its end (behind the call, so a moment later)."""
    async with asyncio.timeout(5):
        while True:
            found = (await web.get("/api/sessions")).json()["sessions"]
            if found and found[0]["ended_at"]:
                (session,) = found
                return dict(session)
            await asyncio.sleep(0.01)


def kept_in(folder: Path, **settings: Any) -> dict[str, Any]:
    """Settings of a server that keeps its sessions there."""
    return {"home": folder, "store_url": f"sqlite:///{folder / 'kept.db'}", **settings}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """`voiceagent` with the same store, in a folder of its own."""
    monkeypatch.setenv("VOICEAGENT_HOME", str(tmp_path))
    monkeypatch.setenv("VOICEAGENT_STORE_URL", f"sqlite:///{tmp_path / 'kept.db'}")
    monkeypatch.chdir(tmp_path)
    return CliRunner()


async def test_a_session_is_kept_counted_and_reported(tmp_path: Path) -> None:
    async with live_server(answers=[[(0.02, SAID)]], **kept_in(tmp_path)) as live:
        await a_spoken_turn(live)
        async with httpx.AsyncClient(base_url=f"http://{live.address}") as web:
            session = await the_session(web)
            whole = (await web.get(f"/api/sessions/{session['id']}")).json()
            report = (await web.get(f"/api/sessions/{session['id']}/report")).json()
            page = await web.get(f"/api/sessions/{session['id']}/report?format=html")
            metrics = (await web.get("/metrics")).text
    (turn,) = whole["turns"]
    assert turn["kind"] == "spoken"
    assert turn["gap_ms"] > 0
    assert turn["user_text"] is None
    assert turn["reply_text"] is None
    assert SAID.strip() not in json.dumps(whole)
    assert report["rolled_up"]["gap"]["all"]["gap_ms"]["n"] == 1
    assert page.text.startswith("<!doctype html>")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert 'voiceagent_turns_total{kind="spoken",status="completed"} 1.0' in metrics
    assert session["details"]["backends"] == ["model 1"]


async def test_text_and_sound_are_kept_only_where_that_is_switched_on(tmp_path: Path) -> None:
    settings = kept_in(tmp_path, keep_text=True, keep_audio=True)
    async with live_server(answers=[[(0.02, SAID)]], **settings) as live:
        await a_spoken_turn(live)
        async with httpx.AsyncClient(base_url=f"http://{live.address}") as web:
            session = await the_session(web)
            (turn,) = (await web.get(f"/api/sessions/{session['id']}")).json()["turns"]
            folder = tmp_path / "audio" / session["id"]
            async with asyncio.timeout(5):  # written by a thread, and last of all
                while not (folder / "timeline.json").exists():  # noqa: ASYNC110 - a file
                    await asyncio.sleep(0.01)
            kept = {path.name for path in folder.iterdir()}
            await web.delete(f"/api/sessions/{session['id']}")
    assert turn["reply_text"] == SAID
    assert turn["user_text"] == "what is my balance"
    assert kept == {"input.wav", "reply-1.wav", "timeline.json"}
    assert not folder.exists()


def test_a_report_from_the_command_line(tmp_path: Path, command: CliRunner) -> None:
    async def talk() -> None:
        async with live_server(answers=[[(0.02, SAID)]], **kept_in(tmp_path)) as live:
            await a_spoken_turn(live)

    asyncio.run(talk())
    listed = command.invoke(app, ["report"])
    assert listed.exit_code == 0
    session = listed.output.split("\n")[1].split()[0]
    assert session.startswith("sess_")
    written = command.invoke(app, ["report", "--last"])
    assert written.output.strip() == f"Written to report-{session}.html"
    assert "Session report" in (tmp_path / f"report-{session}.html").read_text(encoding="utf-8")
    data = command.invoke(app, ["report", session, "--json"])
    assert json.loads(data.output)["session"]["id"] == session
    assert command.invoke(app, ["report", session, "--last"]).exit_code == 2


def test_where_nothing_is_kept_the_command_says_so(tmp_path: Path, command: CliRunner) -> None:
    for arguments in (["report"], ["report", "--last"], ["report", "sess_unknown"]):
        found = command.invoke(app, arguments)
        assert found.exit_code == 1
        assert "No session is kept yet: talk to the server first." in found.output


def test_the_rate_of_the_voice_is_measured() -> None:
    rate = SpeakingRate()
    assert rate.characters_per_second == ASSUMED
    for _ in range(100):
        rate.spoke(20, 24_000)
    assert rate.characters_per_second == pytest.approx(20, abs=0.5)
    rate.spoke(5, 0)
    assert rate.characters_per_second == pytest.approx(20, abs=0.5)

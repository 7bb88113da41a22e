"""How the application is put together: warming, stopping, recording."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.kit.live_server import ScriptedEngine, live_server
from tests.kit.scripted import (
    ScriptedModel,
    ScriptedRecogniser,
    ScriptedVoice,
    routed,
    speech_detector,
)
from tests.kit.virtual_time import virtual
from voiceagent.parts import Parts
from voiceagent.server import create_app
from voiceagent.settings import load_settings


class MovingEngine(ScriptedEngine):
    """An engine that takes its time, or fails (a simulation)."""

    def __init__(
        self, *, warm_after: float = 0.0, error: str = "", stop_after: float = 0.0
    ) -> None:
        parts = Parts(
            speech_detector(),
            ScriptedRecogniser(["x"]),
            ScriptedVoice(),
            routed(ScriptedModel([[]])),
        )
        super().__init__(parts, ready=False)
        self.warm_after, self.error, self.stop_after = warm_after, error, stop_after

    async def start(self) -> None:
        await asyncio.sleep(self.warm_after)
        if self.error:
            self.part_status = {"voice": f"failed: {self.error}"}
            raise RuntimeError(self.error)
        self.ready = True

    async def stop(self) -> None:
        await asyncio.sleep(self.stop_after)
        self.stopped = True


async def life(engine: MovingEngine, seconds: float) -> tuple[list[str], float]:
    """What was announced in a life of this length, and how long its end took."""
    told: list[str] = []
    app = create_app(engine, load_settings(), announce=told.append)
    loop = asyncio.get_running_loop()
    async with app.router.lifespan_context(app):
        assert loop.time() < 1_000.1  # the start waits for nothing (the clock begins at 1000)
        await asyncio.sleep(seconds)
        began = loop.time()
    return told, loop.time() - began


@virtual
async def test_the_engine_warms_while_the_server_is_up_and_is_stopped_with_it() -> None:
    engine = MovingEngine(warm_after=5)
    told, _ = await life(engine, 6)
    assert told == ["Ready: open the page and talk."]
    assert engine.stopped


@virtual
async def test_a_model_that_cannot_be_loaded_is_told_and_the_server_stays_up() -> None:
    engine = MovingEngine(warm_after=1, error="the weight file model.onnx is corrupt")
    told, _ = await life(engine, 2)
    assert told == ["Not ready: the weight file model.onnx is corrupt"]
    assert not engine.ready
    assert engine.stopped


@virtual
async def test_c07_c13_an_engine_that_warms_or_stops_for_ever_does_not_hold_the_end() -> None:
    told, took = await life(MovingEngine(warm_after=3_600, stop_after=3_600), 1)
    assert told == []
    assert took <= 1.5


async def test_sessions_are_recorded_where_the_settings_say(tmp_path: Path) -> None:
    async with live_server(record_dir=tmp_path / "calls") as live:
        async with live.client() as client:
            await client.send("response.create")
            await client.wait_for("response.created")
        await live.until_empty()
    (recording,) = (tmp_path / "calls").glob("*.jsonl")
    events = [json.loads(line) for line in recording.read_text(encoding="utf-8").splitlines()]
    kinds = [step["event"]["type"] for step in events[1:]]
    assert kinds[0] == "SessionOpened"
    assert "ReplyRequested" in kinds
    assert kinds[-1] == "SessionClosed"


async def test_a_folder_that_cannot_be_written_costs_the_recording_and_not_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with caplog.at_level(logging.ERROR):
        async with live_server(record_dir=tmp_path / "file") as live, live.client() as client:
            await client.send("response.create")
            await client.wait_for("response.created")
    assert [record.getMessage()[:28] for record in caplog.records] == [
        "no recording of this session"
    ]


async def test_a_session_that_cannot_be_made_is_closed_and_its_slot_is_free() -> None:
    def broken(connection: object, greet: bool) -> Any:
        raise RuntimeError("no")

    async with live_server(new_session=broken, max_sessions=1) as live:
        for _ in range(2):
            async with live.client() as client:
                assert await client.wait_closed() == 1011
            await live.until_empty()


async def test_an_unknown_address_is_no_websocket() -> None:
    async with live_server() as live:
        with pytest.raises(InvalidStatus):
            async with connect(f"ws://{live.address}/v1/nowhere"):
                pass

"""The real server on a free port, with scripted models behind it; and clients for it.

    async with live_server(answers=[[(0.1, "Forty nine dollars.")]]) as live:
        async with live.client() as client:
            await client.send("response.create")
            await client.wait_for("response.done")

HTTP, WebSocket, protocol and session are the real ones, in real time.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.kit.scripted import (
    ScriptedModel,
    ScriptedRecogniser,
    ScriptedVoice,
    routed,
    speech_detector,
)
from voiceagent.conversation.rules import Rules, Script
from voiceagent.parts import Parts
from voiceagent.server import Server, create_app, listen, server_config
from voiceagent.settings import Settings
from voiceagent.transports.endpoint import NewSession, RealtimeEndpoint

HZ = 24_000
Event = dict[str, Any]


@dataclass
class ScriptedEngine:
    """An engine whose models are scripted; warm from the start unless told otherwise."""

    parts: Parts
    ready: bool = True
    stopped: bool = False
    part_status: dict[str, str] = field(default_factory=lambda: {"voice": "warm"})

    def status(self) -> dict[str, str]:
        return self.part_status

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        self.stopped = True


@dataclass
class Live:
    """A running server."""

    port: int
    engine: ScriptedEngine
    endpoint: RealtimeEndpoint
    server: uvicorn.Server
    model: ScriptedModel
    recogniser: ScriptedRecogniser

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def client(
        self, query: str = "", headers: dict[str, str] | None = None, **options: Any
    ) -> AsyncIterator[Client]:
        """A connected client."""
        url = f"ws://{self.address}/v1/realtime?model=voiceagent{query}"
        options = {"compression": None, "max_size": None, **options}
        async with connect(url, additional_headers=headers, **options) as socket:
            client = Client(socket)
            try:
                yield client
            finally:
                await client.stop()

    async def until_empty(self, within: float = 1.0) -> None:
        """Wait until no session is live; the bound is part of what is tested."""
        async with asyncio.timeout(within):
            while self.endpoint.sessions:  # noqa: ASYNC110 - an end that nobody announces
                await asyncio.sleep(0.01)


class Client:
    """Keeps every event that came, and waits for those it is asked for."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.events: list[Event] = []
        self.closed: ConnectionClosed | None = None
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for message in self.socket:
                async with self._news:
                    self.events.append(json.loads(message))
                    self._news.notify_all()
            await self.socket.recv()  # a clean close: raises what it was
        except ConnectionClosed as closed:
            async with self._news:
                self.closed = closed
                self._news.notify_all()

    async def stop(self) -> None:
        """Read no more."""
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def send(self, kind: str, /, **fields: Any) -> None:
        """Send one event."""
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def hear(self, pcm: NDArray[np.int16]) -> None:
        """Send audio (24 kHz) in frames of 40 ms, in real time."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        for start in range(0, len(pcm), 960):
            audio = base64.b64encode(pcm[start : start + 960].astype("<i2").tobytes()).decode()
            await self.send("input_audio_buffer.append", audio=audio)
            await asyncio.sleep(max(0.0, began + (start + 960) / HZ - loop.time()))

    async def quiet(self, seconds: float) -> None:
        """Send silence."""
        await self.hear(np.zeros(int(seconds * HZ), np.int16))

    async def wait_for(self, kind: str, *, nth: int = 1, within: float = 10.0) -> Event:
        """The nth event of this type, now or later."""
        await self.wait_until(lambda: len(self.of(kind)) >= nth, within)
        found = self.of(kind)
        assert len(found) >= nth, f"closed ({self.closed}) with {self.types()}"
        return found[nth - 1]

    async def wait_until(self, done: Callable[[], Any], within: float = 10.0) -> None:
        """Until ``done()``, looked at whenever something arrives; or the connection is closed."""
        async with asyncio.timeout(within), self._news:
            await self._news.wait_for(lambda: done() or self.closed)

    async def wait_closed(self, within: float = 10.0) -> int:
        """The code that the connection was closed with; 1006 when it was cut."""
        await self.wait_until(lambda: False, within)
        assert self.closed
        return self.closed.rcvd.code if self.closed.rcvd else 1006

    def of(self, kind: str) -> list[Event]:
        """The events of one type so far."""
        return [event for event in self.events if event["type"] == kind]

    def types(self) -> list[str]:
        """The types so far, in order."""
        return [event["type"] for event in self.events]


@contextlib.asynccontextmanager
async def live_server(
    *,
    texts: Sequence[str] = ("what is my balance",),
    answers: Sequence[Sequence[tuple[float, str | Exception]]] = (((0.02, "Yes."),),),
    script: Script | None = None,
    rules: Rules | None = None,
    ready: bool = True,
    parts: dict[str, Any] | None = None,
    new_session: NewSession | None = None,
    uvicorn_options: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Live]:
    """Serve until the block ends. ``settings`` are fields of ``Settings``."""
    recogniser, model = ScriptedRecogniser(texts, 0.02), ScriptedModel(answers)
    fields: dict[str, Any] = {
        "vad": speech_detector(),
        "recogniser": recogniser,
        "voice": ScriptedVoice(),
        "router": routed(model),
        "script": script or Script(),
        "rules": rules or Rules(idle_prompts=0),
        **(parts or {}),
    }
    engine = ScriptedEngine(Parts(**fields), ready)
    configured = Settings(port=0, **{"store_url": "off", **settings})
    app = create_app(engine, configured, new_session=new_session)
    bound = listen("127.0.0.1", 0)
    config = server_config(app, configured)
    for name, value in (uvicorn_options or {}).items():
        setattr(config, name, value)
    listening = asyncio.Event()
    server = _Quiet(config, listening.set)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    await listening.wait()
    port = bound.getsockname()[1]
    try:
        yield Live(port, engine, app.state.endpoint, server, model, recogniser)
    finally:
        server.should_exit = True
        await serving


class _Quiet(Server):
    """The server without its handlers of signals, which belong to the test runner here."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield

"""A simulation of the server for tests of the page: real HTTP and WebSocket, scripted answers.

It serves ``web/`` under the headers of the real server and speaks its protocol, but knows no model:
the test says which events are sent, and sees which came. It runs in a thread of its own, because
the tests that drive a browser are synchronous.
"""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import uvicorn
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from voiceagent.pages import SecurityHeaders, web_folder

WEB = web_folder()
WIRE_RATE = 24_000
FRAME = 1_920

Event = dict[str, Any]


class PageServer:
    """One simulated server on 127.0.0.1; on a free port, if none is given."""

    def __init__(self, port: int = 0) -> None:
        self.parts = {"recogniser": "warm", "voice": "warm", "language model": "warm"}
        self.ready = True
        self.token: str | None = None
        self.full = False
        self.events: list[Event] = []
        """What the page sent, in order, without its audio."""
        self.heard: list[NDArray[np.int16]] = []
        """The page's audio, 24 kHz."""
        self.protocols: list[list[str]] = []
        """The subprotocols that each connection offered."""
        self.queries: list[dict[str, str]] = []
        """What each connection asked for in its address."""
        self._news = threading.Condition()
        self._socket: WebSocket | None = None
        self._outbox: asyncio.Queue[str | int] = asyncio.Queue()
        config = uvicorn.Config(self._app(), "127.0.0.1", port, log_level="error", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port = port
        """The port it listens on, once it has started."""

    # --- life ----------------------------------------------------------------------------------

    def start(self) -> PageServer:
        """Serve; returns when the port is known."""
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            if time.monotonic() > deadline:
                raise TimeoutError("the simulated server did not start")
            time.sleep(0.01)
        self.port = int(self._server.servers[0].sockets[0].getsockname()[1])
        return self

    def stop(self) -> None:
        """Stop serving; open connections are cut."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(5)

    def _serve(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}/"

    # --- to the page ---------------------------------------------------------------------------

    def send(self, type: str, **fields: Any) -> None:
        """Send one event to the page that is connected now."""
        self.raw(json.dumps({"type": type, **fields}))

    def raw(self, text: str) -> None:
        """Send any text."""
        self._post(text)

    def close(self, code: int = 1000) -> None:
        """Close the page's connection."""
        self._post(code)

    def audio(self, item: str, pcm: NDArray[np.int16]) -> None:
        """Send 24 kHz audio of an item, all at once, in messages of 80 ms."""
        for start in range(0, len(pcm), FRAME):
            delta = base64.b64encode(pcm[start : start + FRAME].astype("<i2").tobytes()).decode()
            self.send("response.output_audio.delta", item_id=item, delta=delta)

    def _post(self, message: str | int) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._outbox.put_nowait, message)

    # --- from the page -------------------------------------------------------------------------

    def wait(self, done: Callable[[], Any], timeout: float = 10.0) -> Any:
        """Wait until ``done()`` is true; it is looked at whenever something arrives."""
        with self._news:
            if not self._news.wait_for(done, timeout):
                kinds = [event["type"] for event in self.events]
                raise TimeoutError(f"the page did not do it; it sent {kinds}")
            return done()

    def wait_for(self, type: str, timeout: float = 10.0, **fields: Any) -> Event:
        """The first event of this type (and these fields) that the page has sent, or will."""
        event: Event = self.wait(lambda: self.sent(type, **fields), timeout)[0]
        return event

    def sent(self, type: str, **fields: Any) -> list[Event]:
        """The events of this type that the page sent so far."""
        wanted = {"type": type, **fields}.items()
        return [event for event in self.events if wanted <= event.items()]

    def report(self, kind: str, timeout: float = 10.0, **fields: Any) -> Event:
        """The page's first playout report of this kind."""
        return self.wait_for("voiceagent.playout.report", timeout, kind=kind, **fields)

    @property
    def heard_seconds(self) -> float:
        """How much audio the page has sent."""
        return sum(map(len, self.heard)) / WIRE_RATE

    # --- the application -----------------------------------------------------------------------

    def _app(self) -> ASGIApp:
        routes = [
            Route("/", self._index),
            Route("/readyz", self._readyz),
            Route("/healthz", lambda _: JSONResponse({})),
            Route("/api/config", self._config),
            WebSocketRoute("/v1/realtime", self._realtime),
            Mount("/web", StaticFiles(directory=WEB)),
        ]
        return SecurityHeaders(Starlette(routes=routes))

    async def _index(self, _request: Request) -> Response:
        return FileResponse(WEB / "index.html")

    async def _readyz(self, _request: Request) -> Response:
        body = {"ready": self.ready, "parts": self.parts}
        return JSONResponse(body, 200 if self.ready else 503)

    async def _config(self, _request: Request) -> Response:
        return JSONResponse({"version": "simulated", "token_required": self.token is not None})

    async def _realtime(self, socket: WebSocket) -> None:
        offered = list(socket.scope["subprotocols"])
        self.protocols.append(offered)
        self.queries.append(dict(socket.query_params))
        if self.token and f"openai-insecure-api-key.{self.token}" not in offered:
            await socket.close()  # before accept: HTTP 403
            return
        await socket.accept(subprotocol="realtime" if "realtime" in offered else None)
        if self.full or not self.ready:
            error = {"code": "too_many_sessions", "message": "All 4 sessions are in use."}
            await socket.send_json({"type": "error", "error": error})
            await socket.close(1013)
            return
        self._socket, self._outbox = socket, asyncio.Queue()
        await socket.send_json({"type": "session.created", "session": {"id": "sess_simulated"}})
        sending = asyncio.create_task(self._send_all(socket, self._outbox))
        try:
            while True:
                self._take(json.loads(await socket.receive_text()))
        except WebSocketDisconnect:
            self._take({"type": "simulation.closed"})
        finally:
            sending.cancel()

    async def _send_all(self, socket: WebSocket, outbox: asyncio.Queue[str | int]) -> None:
        while True:
            message = await outbox.get()
            if isinstance(message, int):
                await socket.close(message)
                return
            await socket.send_text(message)

    def _take(self, event: Event) -> None:
        with self._news:
            if event["type"] == "input_audio_buffer.append":
                self.heard.append(np.frombuffer(base64.b64decode(event["audio"]), "<i2"))
            else:
                self.events.append(event)
            self._news.notify_all()

"""A simulation of an OpenAI-compatible chat server, scripted, over a real socket (HTTP/1.1).

    from tests.kit.llm_script import say, status, ...

    async with LlmTwin() as twin:                       # listens on 127.0.0.1, any port
        twin.will(say("Forty nine dollars."))           # the next request gets this
        twin.will(status(429, retry_after=30), say("Sorry."))          # and then these
        twin.always(say("Hello.", every=0.02))          # when nothing is queued (a script, or
                                                        # a function from the request's body)
        backend = Backend(twin.config())
        ...
        asked = await twin.request(0)                   # waits for the first request
        assert asked.body["max_tokens"] == 256
        await asked.disconnected.wait()                 # the client hung up

A script is a list of steps; ``say``, ``reply`` and ``status`` make the usual ones:

    [role(), *words("One two three."), Hold("here"), *words(" Four."), finish(), usage(12, 6), DONE]

    Send(bytes)        these bytes of the event stream (``event({...})`` makes one event)
    Wait(seconds)      time, by the twin's ``sleep`` (asyncio's; give it a virtual one if you like)
    Hold(name)         stand still until ``twin.release(name)``; ``await twin.reached(name)`` first
    Cut()              close the connection in the middle (``reset=True``: with a RST)
    Head(status, ...)  the head of the answer; without it, 200 and text/event-stream
    IgnoreClose()      do not react when the client hangs up: keep the connection until the end

Each request to ``/chat/completions`` (and only those) takes a script and is kept in
``twin.requests``; its ``disconnected`` event tells that the client hung up before the end, and
``twin.log`` holds what happened, in order: "request 0", "sent 0:3", "disconnected 0", "answered 0".
Nothing here waits in real time unless a script says ``Wait``. Never use this outside tests.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from routing.backend_config import BackendConfig
from tests.kit.llm_script import Cut, Head, Hold, IgnoreClose, Script, Send, Wait, say
from tests.kit.llm_wire import Connection, CutOff, Request, http_head, http_json


class LlmTwin:
    """The server. See the top of this file."""

    def __init__(self, *, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep) -> None:
        self.requests: list[Request] = []
        self.log: list[str] = []
        self.connections = 0
        self.paths: list[str] = []
        self._sleep = sleep
        self._scripts: deque[Script] = deque()
        self._default: Callable[[dict[str, Any]], Script] = lambda _body: say("Hello.")
        self._gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._held: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._starting: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    # --- the script ------------------------------------------------------------------------------

    def will(self, *scripts: Script) -> None:
        """Queue scripts for the coming requests."""
        self._scripts.extend(scripts)

    def always(self, script: Script | Callable[[dict[str, Any]], Script]) -> None:
        """What a request gets when nothing is queued."""
        self._default = script if callable(script) else lambda _body: script

    def release(self, name: str = "hold") -> None:
        """Let every script go on that stands, or will stand, at ``Hold(name)``."""
        self._gates[name].set()

    async def reached(self, name: str = "hold") -> None:
        """Wait until a script stands at ``Hold(name)``."""
        await self._held[name].wait()

    async def request(self, number: int) -> Request:
        """Wait for the request with this number, from 0."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) > number)
        return self.requests[number]

    # --- the server ------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def config(self, **changes: Any) -> BackendConfig:
        """A backend's configuration that leads here."""
        return BackendConfig(**{"name": "twin", "url": self.url, "model": "simulated"} | changes)

    async def __aenter__(self) -> LlmTwin:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen; after ``stop``, on the same port again."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """From now on nobody listens, and every connection is broken."""
        if self._server is not None:
            self._server.close()
        self._server = None
        for task in tuple(self._tasks):
            task.cancel()

    def listen_again(self) -> None:
        """After ``refuse``: listen on the same port, from this moment."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        listening.listen()  # who connects before the server runs waits for it
        self._starting = asyncio.ensure_future(self._serve(listening))

    async def _serve(self, listening: socket.socket) -> None:
        self._server = await asyncio.start_server(self._accept, sock=listening)

    async def stop(self) -> None:
        """Stop listening, and break every connection."""
        if self._starting is not None:
            await self._starting
        self.refuse()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        connection = Connection(self.connections, reader, writer)
        self.connections += 1
        try:
            while await self._serve_one(connection):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except CutOff as cut:
            if cut.reset:
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        finally:
            writer.close()

    async def _serve_one(self, connection: Connection) -> bool:
        """Serve one request; False when the connection is at its end."""
        path, headers, body = await connection.read_request()
        self.paths.append(path)
        if not path.endswith("/chat/completions"):
            found = path.endswith("/models")
            connection.writer.write(
                http_json(200 if found else 404, {"data": [{"id": "simulated"}]})
            )
            return True
        request = Request(len(self.requests), connection.number, headers, json.loads(body))
        script = self._scripts.popleft() if self._scripts else self._default(request.body)
        self.requests.append(request)
        self.log.append(f"request {request.number}")
        async with self._arrived:
            self._arrived.notify_all()
        await _Answer(self, request, connection).play(script)
        return headers.get("connection", "").lower() != "close"

    async def _hold(self, name: str) -> None:
        self._held[name].set()
        await self._gates[name].wait()


class _Answer:
    """One script, played to one client, while an eye is kept on whether it hangs up."""

    def __init__(self, twin: LlmTwin, request: Request, connection: Connection) -> None:
        self._twin, self._request, self._connection = twin, request, connection
        self._writer = connection.writer
        self._head: Head | None = None
        self._deaf = False

    async def play(self, script: Script) -> None:
        number, log = self._request.number, self._twin.log
        playing = asyncio.ensure_future(self._play(script))
        watching = asyncio.ensure_future(self._connection.hung_up())
        try:
            await asyncio.wait({playing, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done() and not playing.done():
                self._hung_up()
                if not self._deaf:
                    raise ConnectionResetError
            try:
                await playing
            except OSError:
                self._hung_up()
                raise
            log.append(f"answered {number}")
            self._request.answered.set()
        finally:
            for task in (playing, watching):
                task.cancel()
            await asyncio.gather(playing, watching, return_exceptions=True)

    def _hung_up(self) -> None:
        if not self._request.disconnected.is_set():
            self._request.disconnected.set()
            self._twin.log.append(f"disconnected {self._request.number}")

    async def _play(self, script: Script) -> None:
        for index, step in enumerate(script):
            match step:
                case Head():
                    self._begin(step)
                case Send(data):
                    self._begin(Head())
                    self._write(data)
                    await self._writer.drain()
                    self._twin.log.append(f"sent {self._request.number}:{index}")
                case Wait(seconds):
                    await self._twin._sleep(seconds)
                case Hold(name):
                    await self._twin._hold(name)
                case IgnoreClose():
                    self._deaf = True
                case Cut(reset):
                    raise CutOff(reset)
        self._begin(Head())
        if self._head is not None and self._head.length is None:
            self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def _begin(self, head: Head) -> None:
        if self._head is not None:
            return
        self._head = head
        framing = ("Content-Length", str(head.length))
        if head.length is None:
            framing = ("Transfer-Encoding", "chunked")
        self._writer.write(http_head(head.status, (*head.headers, framing)))

    def _write(self, data: bytes) -> None:
        if self._head is not None and self._head.length is None:
            data = f"{len(data):x}\r\n".encode() + data + b"\r\n" if data else b""
        self._writer.write(data)

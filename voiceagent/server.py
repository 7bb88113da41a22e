"""The HTTP application: routes, wiring, and the process that serves them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

import uvicorn
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from voiceagent.api import api_routes
from voiceagent.keeping import Keeping, keeping_of
from voiceagent.metrics.route import routes as metrics_routes
from voiceagent.pages import SecurityHeaders, routes, web_folder
from voiceagent.parts import Parts
from voiceagent.recording import Recorder
from voiceagent.report.figures import report
from voiceagent.security import Gate
from voiceagent.session import Session, new_session_id
from voiceagent.settings import Settings
from voiceagent.transports.endpoint import NewSession, RealtimeEndpoint
from voiceagent.transports.uvicorn_protocol import BoundedWebSocketProtocol
from voiceagent.transports.websocket import LARGEST_MESSAGE, Connection

log = logging.getLogger(__name__)

GRACE_S = 1
"""For connections to end when the server is told to; then they are cancelled."""
STOP_BOUND_S = 1.0
PING_EVERY_S, PONG_WITHIN_S = 10.0, 10.0


class Engine(Protocol):
    """The shared models; see ``voiceagent.engine.Engine``."""

    @property
    def ready(self) -> bool: ...

    @property
    def parts(self) -> Parts: ...

    def status(self) -> dict[str, str]: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


def create_app(
    engine: Engine,
    settings: Settings,
    *,
    announce: Callable[[str], None] | None = None,
    new_session: NewSession | None = None,
    keeping: Keeping | None = None,
) -> FastAPI:
    """The application. The engine warms in the background while the page is already served.

    ``announce`` is told when it is warm, or why it is not. ``new_session`` replaces how sessions
    are made, ``keeping`` what is kept of them (tests).
    """
    kept = keeping or keeping_of(settings)
    token = settings.token.get_secret_value() if settings.token else None
    gate = Gate(host=settings.host, token=token, allowed_origins=settings.allowed_origins)
    endpoint = RealtimeEndpoint(
        gate,
        new_session or _sessions_of(engine, settings, kept),
        lambda: engine.ready,
        settings.max_sessions,
    )

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        tasks = {
            asyncio.create_task(_open(kept, announce or log.info)),
            asyncio.create_task(_warm(engine, kept, announce or log.info)),
            asyncio.create_task(kept.watch_lag()),
        }
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=STOP_BOUND_S / 2)
            await _stop(engine)
            await kept.close()

    app = FastAPI(
        title="voiceagent", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    app.add_middleware(SecurityHeaders)
    app.include_router(
        routes(
            engine.status,
            lambda: engine.ready,
            token_required=token is not None,
            max_sessions=settings.max_sessions,
        )
    )
    app.include_router(metrics_routes(kept.metrics, gate))
    app.include_router(
        api_routes(gate, lambda: kept.store, report=report, report_html=kept.report_html)
    )
    app.mount("/web", StaticFiles(directory=web_folder()), name="web")

    @app.websocket("/v1/realtime")
    async def realtime(websocket: WebSocket) -> None:
        await endpoint.serve(websocket)

    app.state.endpoint = endpoint
    return app


async def _open(kept: Keeping, announce: Callable[[str], None]) -> None:
    await kept.open()
    if kept.trouble:
        announce(f"No session is kept: {kept.trouble}")


async def _warm(engine: Engine, kept: Keeping, announce: Callable[[str], None]) -> None:
    try:
        await engine.start()
    except Exception as error:  # the page shows which part; the server stays up to say so
        log.error("the models could not be loaded: %s", error)
        announce(f"Not ready: {error}")
        return
    kept.metrics.set_ready(True)
    announce("Ready: open the page and talk.")


async def _stop(engine: Engine) -> None:
    try:
        async with asyncio.timeout(STOP_BOUND_S):
            await engine.stop()
    except Exception as error:
        log.error("the models could not be released: %s", error or type(error).__name__)


def _sessions_of(engine: Engine, settings: Settings, kept: Keeping) -> NewSession:
    def new_session(connection: Connection, greet: bool) -> Session:
        parts = engine.parts
        name = new_session_id()
        recorder = _recorder(settings, parts, name)
        keeper = kept.session(
            name,
            reports_playout=connection.reports_playout,
            details={"backends": parts.router.names},
        )
        return Session(
            parts, connection, greet=greet, session_id=name, recorder=recorder, keeper=keeper
        )

    return new_session


def _recorder(settings: Settings, parts: Parts, name: str) -> Recorder | None:
    if settings.record_dir is None:
        return None
    try:
        return Recorder(
            settings.record_dir, name, parts.script, parts.rules, audio=settings.record_audio
        )
    except OSError as error:  # a full or read-only disk costs the recording, not the call
        log.error("no recording of this session: %s", error)
        return None


class Server(uvicorn.Server):
    """uvicorn, telling when it listens, and ending on a signal with exit code 0."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the base class, then tell."""
        await super().startup(sockets)
        self._listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Unlike the base class, do not raise the signal once more after a clean end."""
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How the application is served: bounded, quiet, and over before anyone loses patience."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        ws=BoundedWebSocketProtocol,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=PING_EVERY_S,
        ws_ping_timeout=PONG_WITHIN_S,
        ws_per_message_deflate=False,
        limit_concurrency=settings.max_sessions + 64,
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,  # addresses may hold a token
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
    )


def listen(host: str, port: int) -> socket.socket:
    """A bound socket. Raises SystemExit with one sentence when that cannot be."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        busy = error.errno == errno.EADDRINUSE
        why = "is in use by another program" if busy else f"cannot be used: {error}"
        message = f"error: {host} port {port} {why}. Choose another with VOICEAGENT_PORT."
        raise SystemExit(message) from None
    return bound


def serve(settings: Settings, engine: Engine | None = None) -> None:
    """Serve until SIGINT or SIGTERM. Prints the address once listening, and when it is ready.

    ``engine`` replaces the real models (tests). Raises SystemExit with one sentence when the
    address cannot be used.
    """
    if settings.exposed:
        raise SystemExit(f"error: {settings.exposed}")
    configure_logging(settings.log_level)
    bound = listen(settings.host, settings.port)
    if engine is None:
        from voiceagent.engine import Engine as Models  # slow to import, and not needed for an app

        engine = Models(settings)
    open_at = settings.model_copy(update={"port": bound.getsockname()[1]}).url
    app = create_app(engine, settings, announce=_say)
    server = Server(
        server_config(app, settings),
        lambda: _say(f"Listening. Open {open_at} (the models are warming up; Ctrl-C ends)."),
    )
    try:
        server.run(sockets=[bound])
    finally:
        bound.close()


def configure_logging(level: str) -> None:
    """Our own messages at ``level``; of the libraries only what is wrong."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for package in ("voiceagent", "routing", "audio"):
        logging.getLogger(package).setLevel(level.upper())


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()

"""What a browser gets over HTTP: the page, its files, and how the server is."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import MutableHeaders
from starlette.responses import FileResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voiceagent.transports.websocket import LARGEST_MESSAGE

HEADERS = {
    # Nothing from elsewhere and nothing inline: what a page may run is in files that we ship.
    "content-security-policy": (
        "default-src 'self'; connect-src 'self' ws: wss:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "referrer-policy": "no-referrer",  # the address of a page may hold a token
    "x-content-type-options": "nosniff",
}


_READ = ["GET", "HEAD"]  # monitors ask with HEAD


def web_folder() -> Path:
    """Where the page's files are: in the package, or beside it in a checkout."""
    here = Path(__file__).parent
    folder = next((path for path in (here / "web", here.parent / "web") if path.is_dir()), None)
    if folder is None:
        raise FileNotFoundError("the page's files are missing; install voiceagent again")
    return folder


class SecurityHeaders:
    """Middleware: the headers that every HTTP answer carries."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)  # a report brings a stricter policy of its own
                # Files may be kept if they are still the same; what the server says may not.
                files = scope["path"] == "/" or scope["path"].startswith("/web/")
                headers["cache-control"] = "no-cache" if files else "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)


def routes(
    status: Callable[[], dict[str, str]],
    ready: Callable[[], bool],
    *,
    token_required: bool,
    max_sessions: int,
) -> APIRouter:
    """``/``, ``/healthz``, ``/readyz`` and ``/api/config``."""
    router = APIRouter()
    index = web_folder() / "index.html"

    @router.api_route("/", methods=_READ)
    async def page() -> FileResponse:
        return FileResponse(index, media_type="text/html")

    @router.api_route("/healthz", methods=_READ)
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @router.api_route("/readyz", methods=_READ)
    async def readyz() -> JSONResponse:
        is_ready = ready()
        body = {"ready": is_ready, "parts": status()}
        return JSONResponse(body, 200 if is_ready else 503)

    @router.get("/api/config")
    async def config() -> dict[str, Any]:
        return {
            "version": version("voiceagent"),
            "token_required": token_required,
            "limits": {"sessions": max_sessions, "message_bytes": LARGEST_MESSAGE},
        }

    return router

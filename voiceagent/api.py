"""The read API: the sessions that are kept, and a report on each. For whoever may also talk."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import re
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Protocol

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from voiceagent.realtime.server_events import error
from voiceagent.security import Gate, caller_of_request
from voiceagent.store.errors import StoreError
from voiceagent.store.upkeep import is_session_id
from voiceagent.turn_record import SessionRecord, TurnRecord

MOST, USUAL = 200, 50
"""Sessions in one answer: at most, and unless asked otherwise."""

Report = Callable[[SessionRecord, Sequence[TurnRecord]], dict[str, Any]]
ReportHtml = Callable[[SessionRecord, Sequence[TurnRecord]], str]


class Kept(Protocol):
    """What is read from; see ``voiceagent.store.store.Store``."""

    async def sessions(self, limit: int, before: datetime | None) -> list[SessionRecord]: ...

    async def session(self, session_id: str) -> SessionRecord | None: ...

    async def turns(self, session_id: str) -> list[TurnRecord]: ...

    async def delete(self, session_id: str) -> bool: ...


class _Failed(Exception):
    """The request cannot be answered; says why, for the client."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def api_routes(
    gate: Gate, store: Callable[[], Kept | None], *, report: Report, report_html: ReportHtml
) -> APIRouter:
    """``/api/sessions`` and what lies below it, for callers that ``gate`` lets in.

    ``store`` returns None where nothing is kept. Times in answers are milliseconds.
    """
    router = APIRouter(prefix="/api/sessions", route_class=_guarded(gate))

    def kept() -> Kept:
        found = store()
        if found is None:
            raise _Failed(404, "nothing_kept", "This server keeps no sessions.")
        return found

    async def one(session_id: str) -> tuple[SessionRecord, list[TurnRecord]]:
        found = await kept().session(_id(session_id))
        if found is None:
            raise _no_session()
        return found, await kept().turns(session_id)

    aside_thread = ThreadPoolExecutor(1, thread_name_prefix="reports")

    async def aside(make: Callable[[], Response]) -> Response:
        """Off the loop, on which live calls run: a long session takes a while."""
        return await asyncio.get_running_loop().run_in_executor(aside_thread, make)

    @router.get("")
    async def sessions(limit: str = str(USUAL), before: str | None = None) -> JSONResponse:
        found = await kept().sessions(_limit(limit), _before(before))
        return JSONResponse({"sessions": [outside(session) for session in found]})

    @router.get("/{session_id}")
    async def session(session_id: str) -> Response:
        found, turns = await one(session_id)
        return await aside(lambda: _whole(found, turns))

    @router.get("/{session_id}/report")
    async def session_report(session_id: str, format: str = "json") -> Response:
        if format not in ("json", "html"):
            raise _Failed(400, "bad_format", "The format of a report is json or html.")
        found, turns = await one(session_id)
        if format == "json":
            return await aside(lambda: JSONResponse(report(found, turns)))
        return await aside(lambda: _page(report_html(found, turns)))

    @router.delete("/{session_id}")
    async def delete(session_id: str) -> Response:
        if not await kept().delete(_id(session_id)):
            raise _no_session()
        return Response(status_code=204)

    return router


def _whole(session: SessionRecord, turns: Sequence[TurnRecord]) -> Response:
    return JSONResponse({"session": outside(session), "turns": [outside(turn) for turn in turns]})


def _page(page: str) -> Response:
    return HTMLResponse(page, headers={"content-security-policy": report_policy(page)})


def report_policy(page: str) -> str:
    """The Content-Security-Policy of a report: its own inline style and scripts, and no more.

    Nothing from elsewhere, no attribute that is code or style, no connection.
    """
    style, script = (
        " ".join(_hash(text) for text in re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.S))
        for tag in ("style", "script")
    )
    return (
        f"default-src 'none'; style-src {style or _NONE}; script-src {script or _NONE}; "
        "img-src data:; media-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


_NONE = "'none'"


def _hash(text: str) -> str:
    # As the browser has it, which reads every line end as a single one.
    plain = text.replace("\r\n", "\n").replace("\r", "\n").encode()
    return f"'sha256-{base64.b64encode(hashlib.sha256(plain).digest()).decode()}'"


def outside(value: Any) -> Any:
    """A record as JSON data: times in milliseconds and named so, moments in ISO 8601."""
    if is_dataclass(value):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return dict(_outside(name, inner) for name, inner in named)
    if isinstance(value, datetime):
        return value.isoformat()
    return [outside(inner) for inner in value] if isinstance(value, tuple) else value


def _outside(name: str, value: Any) -> tuple[str, Any]:
    if name == "parts":
        return name, [{"name": part, "ms": us / 1_000} for part, us in value]
    if not name.endswith("_us"):
        return name, outside(value)
    return f"{name.removesuffix('_us')}_ms", None if value is None else value / 1_000


def _guarded(gate: Gate) -> type[APIRoute]:
    """Routes that check their caller before anything else, and fail in JSON."""

    class Guarded(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def guarded(request: Request) -> Response:
                refusal = gate.check(caller_of_request(request))
                if refusal:
                    return _error(refusal.status, "refused", refusal.message)
                try:
                    return await handle(request)
                except _Failed as failed:
                    return _error(failed.status, failed.code, failed.message)
                except StoreError as why:
                    return _error(503, "store_unavailable", str(why))

            return guarded

    return Guarded


def _error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": error(message, code=code)["error"]}, status)


def _id(text: str) -> str:
    if not is_session_id(text):
        raise _no_session()
    return text


def _no_session() -> _Failed:
    return _Failed(404, "session_not_found", "There is no session of this id.")


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= MOST):
        raise _Failed(400, "bad_limit", f"The limit is a whole number from 1 to {MOST}.")
    return int(text)


def _before(text: str | None) -> datetime | None:
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        # A plus that was not escaped in the address has become a space.
        moment = datetime.fromisoformat(text.replace(" ", "+"))
        if moment.tzinfo is not None:
            return moment
    raise _Failed(400, "bad_time", "Before is a time with its zone, as in 2026-01-31T09:30:00Z.")

"""``GET /v1/realtime``: who is let in, and how many at once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from voiceagent.realtime import server_events as out
from voiceagent.security import Gate, Refusal, caller_of_request
from voiceagent.transports.websocket import CLOSE_BOUND_S, Connection, Running

log = logging.getLogger(__name__)

SUBPROTOCOL = "realtime"
TRY_LATER = 1013

NewSession = Callable[[Connection, bool], Running]
"""Makes a session for a connection; the flag says whether it greets."""


class RealtimeEndpoint:
    """Callers are checked before their WebSocket is accepted; only then is a session made."""

    def __init__(
        self,
        gate: Gate,
        new_session: NewSession,
        ready: Callable[[], bool],
        max_sessions: int,
    ) -> None:
        self._gate, self._new_session, self._ready = gate, new_session, ready
        self._max_sessions = max_sessions
        self.sessions = 0
        """How many are live."""

    async def serve(self, websocket: WebSocket) -> None:
        """One connection, from its request to its end."""
        refusal = self._gate.check(caller_of_request(websocket)) or _not_offered(websocket)
        if refusal:
            log.info("connection refused: %d %s", refusal.status, refusal.message)
            await _deny(websocket, refusal)
            return
        offered = websocket.scope.get("subprotocols") or []
        if not self._ready() or self.sessions >= self._max_sessions:
            await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
            await self._turn_away(websocket)
            return
        self.sessions += 1
        try:
            await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
            await self._converse(websocket)
        finally:
            self.sessions -= 1

    async def _converse(self, websocket: WebSocket) -> None:
        extensions = "voiceagent" in websocket.query_params.get("extensions", "").split(",")
        # A greeting that no one asked for would surprise a stock client; our own expect it.
        greet = websocket.query_params.get("greet", "1" if extensions else "0") == "1"
        connection = Connection(websocket, extensions=extensions)
        await connection.run(lambda client: self._new_session(client, greet))

    async def _turn_away(self, websocket: WebSocket) -> None:
        """An error event and close code 1013: why there is no session now; try again later."""
        if not self._ready():
            code, message = "warming_up", "The server is still warming up. Try again in a moment."
        else:
            code = "too_many_sessions"
            message = f"All {self._max_sessions} sessions are in use. Try again later."
        log.info("connection turned away: %s", code)
        event = {"event_id": "event_1", **out.error(message, code=code, kind="server_error")}
        with contextlib.suppress(Exception):  # gone already: then it needs no explanation
            async with asyncio.timeout(CLOSE_BOUND_S):
                await websocket.send_text(json.dumps(event))
                await websocket.close(TRY_LATER, message)


def _not_offered(websocket: WebSocket) -> Refusal | None:
    if websocket.query_params.get("intent") == "transcription":
        return Refusal(400, "Transcription sessions are not supported.")
    if "call_id" in websocket.query_params:
        return Refusal(400, "Joining a call is not supported.")
    return None


async def _deny(websocket: WebSocket, refusal: Refusal) -> None:
    error = out.error(refusal.message, code="refused")["error"]
    await websocket.receive()  # the connect event, which must be taken first
    await websocket.send_denial_response(JSONResponse({"error": error}, refusal.status))

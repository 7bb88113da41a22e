"""One client on a WebSocket: frames in, frames out, and an end that always comes.

The receive loop only reads, parses and hands over; everything that goes out passes one bounded
queue and one writer. Whichever of reader, writer and session ends first ends the others, within a
bound, whatever the peer or a library does. A broken connection is worth one line in the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from starlette.websockets import WebSocket

from voiceagent.conversation.actions import Action
from voiceagent.conversation.events import WordSpan
from voiceagent.listener_clock import ListenerClock
from voiceagent.realtime.client_events import parse
from voiceagent.realtime.dispatch import Conversing, Dispatcher
from voiceagent.realtime.encoder import Encoder
from voiceagent.realtime.errors import ProtocolError
from voiceagent.realtime.server_events import ServerEvent
from voiceagent.transports.limits import AudioAllowance, Pace
from voiceagent.transports.outbox import Outbox

log = logging.getLogger(__name__)

LARGEST_MESSAGE = 256 * 1024
"""Bytes of one message; four seconds of audio and then some."""
BURST, PER_SECOND, COST_BYTES = 2_000, 600, 1_024
"""A message costs one, and one more for each ``COST_BYTES``: six times what live audio needs."""
SESSION_BOUND_S, DRAIN_BOUND_S, CLOSE_BOUND_S = 0.5, 0.2, 0.2
"""How long each step of the end may take: together under a second."""
SERVICE_RESTART = 1012
_YIELD_EVERY = 16


class Running(Conversing, Protocol):
    """What a connection needs of a session; see ``voiceagent.session.Session``."""

    id: str
    clock: ListenerClock

    async def run(self) -> None: ...

    def close(self) -> None: ...


class Connection:
    """A session's client (``voiceagent.session.Client``) on an accepted WebSocket."""

    def __init__(self, websocket: WebSocket, *, extensions: bool) -> None:
        self.reports_playout = extensions
        self.audio_allowance = AudioAllowance()
        self._websocket = websocket
        self._outbox = Outbox(websocket.send_text)
        self._pace = Pace(BURST, PER_SECOND)
        self._loop = asyncio.get_running_loop()
        self._code, self._reason = 1000, ""
        self._told_of_drops = False
        self._session: Running
        self._encoder: Encoder
        self._dispatcher: Dispatcher

    # --- what the session tells its client -----------------------------------------------------

    def tell(self, action: Action) -> None:
        """Send the events that tell of ``action``."""
        self._send_all(self._encoder.action(action, self._session.now_us()))

    def audio(self, reply: int, item: str, pcm: NDArray[np.int16]) -> None:
        """Send the next samples (24 kHz) of a reply."""
        self._send_all(self._encoder.audio(reply, pcm))

    def clause(
        self,
        reply: int,
        item: str,
        clause: int,
        text: str,
        first: int,
        samples: int,
        words: tuple[WordSpan, ...],
    ) -> None:
        """A clause will sound from sample ``first`` of the reply on."""
        self._send_all(self._encoder.clause(reply, clause, text, first, samples, words))

    def ask_clock(self, number: int) -> None:
        """Ask what the client's clock reads."""
        self._send(self._encoder.ask_clock(number))

    def close(self, code: int, reason: str) -> None:
        """End the connection, without what is still queued; the first reason counts."""
        if self._code == 1000:
            self._code, self._reason = code, reason
        self._outbox.close(discard=True)

    # --- the connection's life -----------------------------------------------------------------

    async def run(self, new_session: Callable[[Connection], Running]) -> None:
        """Converse until either side ends; leaves no task behind and raises nothing."""
        began = self._loop.time()
        try:
            session = self._session = new_session(self)
        except Exception:
            log.exception("no session could be made")
            await self._hang_up(1011, "internal error")
            return
        self._encoder = Encoder(session.id, session.clock.position, extensions=self.reports_playout)
        self._dispatcher = Dispatcher(session, self._encoder, self._send, self._admit)
        self._send(self._encoder.session("created"))
        tasks = {
            "reader": asyncio.create_task(self._read()),
            "writer": asyncio.create_task(self._outbox.run()),
            "session": asyncio.create_task(session.run()),
        }
        try:
            ended, _ = await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
            if any(task.exception() for task in ended):
                self.close(1011, "internal error")
        finally:
            session.close()
            await self._end(tasks)
            self._log(tasks, self._loop.time() - began)

    async def _end(self, tasks: dict[str, asyncio.Task[None]]) -> None:
        """Each step is bounded, and none depends on the one before having succeeded."""
        try:
            await asyncio.wait({tasks["session"]}, timeout=SESSION_BOUND_S)
            self._outbox.close()
            await asyncio.wait({tasks["writer"]}, timeout=DRAIN_BOUND_S)
        finally:
            for task in tasks.values():
                task.cancel()
        await asyncio.wait(tasks.values(), timeout=CLOSE_BOUND_S)
        await self._hang_up(self._code, self._reason)

    async def _hang_up(self, code: int, reason: str) -> None:
        with contextlib.suppress(Exception):  # the peer may be gone: then it is closed
            async with asyncio.timeout(CLOSE_BOUND_S):
                await self._websocket.close(code, reason)

    def _log(self, tasks: dict[str, asyncio.Task[None]], seconds: float) -> None:
        ended = [task for task in tasks.values() if task.done() and not task.cancelled()]
        crash = next((task.exception() for task in ended if task.exception()), None)
        stuck = [name for name, task in tasks.items() if not task.done()]
        level = logging.ERROR if crash else logging.WARNING if stuck else logging.INFO
        log.log(
            level,
            "session %s over after %.1f s: code %d%s%s%s",
            self._session.id,
            seconds,
            self._code,
            f", {self._reason}" if self._reason else "",
            f", {self.audio_allowance.dropped} samples refused"
            if self.audio_allowance.dropped
            else "",
            f", still running: {', '.join(stuck)}" if stuck else "",
            exc_info=crash,
        )

    # --- coming in -----------------------------------------------------------------------------

    async def _read(self) -> None:
        received = 0
        while True:
            try:
                message = await self._websocket.receive()
            except Exception:  # whatever a broken connection raises, it is broken
                message = {"type": "websocket.disconnect", "code": 1006}
            if message["type"] == "websocket.disconnect":
                self._gone(message["code"])
                return
            frame: str | bytes = message.get("text") or message.get("bytes") or ""
            wait = self._pace.wait(1 + len(frame) // COST_BYTES, self._loop.time())
            received += 1
            if wait > 0 or received % _YIELD_EVERY == 0:
                await asyncio.sleep(wait)  # a flood waits in the peer's own buffers
            self._receive(frame)

    def _receive(self, frame: str | bytes) -> None:
        try:
            if len(frame) > LARGEST_MESSAGE:
                raise ProtocolError(
                    f"A message may have {LARGEST_MESSAGE} bytes", code="message_too_large"
                )
            self._dispatcher.handle(parse(frame, extensions=self.reports_playout))
        except ProtocolError as error:
            self._send(self._encoder.refusal(error))

    def _admit(self, samples: int) -> bool:
        if self.audio_allowance.admit(samples, self._loop.time()):
            return True
        if not self._told_of_drops:
            self._told_of_drops = True
            message = "Audio comes faster than twice real time; some of it was dropped"
            self._send(self._encoder.refusal(ProtocolError(message, code="audio_too_fast")))
        return False

    def _gone(self, code: int) -> None:
        if self._code == 1000:
            by_us = code == SERVICE_RESTART
            self._code = code
            self._reason = "the server is ending" if by_us else "closed by the peer"
        self._outbox.close(discard=True)

    # --- going out -----------------------------------------------------------------------------

    def _send_all(self, events: list[ServerEvent]) -> None:
        for event in events:
            self._send(event)

    def _send(self, event: ServerEvent) -> None:
        text = json.dumps(event, allow_nan=False, separators=(",", ":"))
        if not self._outbox.put(text) and not self._outbox.closed:
            self.close(1013, "the client does not keep up")

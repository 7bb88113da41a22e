"""Sends a session's audio a little ahead of the listener, and estimates what was heard."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voiceagent.conversation.events import PlayoutKind
from voiceagent.conversation.rules import to_us

FRAME = 1_920
"""Samples a message: 80 ms at 24 kHz."""
_FIRST_FRAME = 480
"""The first message of a reply is 20 ms, so that it leaves at once."""
_REPORT_EVERY_US = 100_000


@dataclass(slots=True)
class _Piece:
    reply: int
    item: str
    pcm: NDArray[np.int16]
    start: int = 0
    """First unsent sample of ``pcm``."""


class Pacer:
    """One stream of audio to one listener.

    Kernel and client buffers can hold seconds of sound, which an interruption would have to wait
    for; so no more than ``lead`` microseconds are ever under way. ``report`` is called with the
    estimated position of the reply (its number, what happened, samples heard, when), as a player
    would report it.
    """

    def __init__(
        self,
        send: Callable[[int, str, NDArray[np.int16]], None],
        report: Callable[[int, PlayoutKind, int, int], None],
        now: Callable[[], int],
        lead: int = 400_000,
    ) -> None:
        self._send, self._report, self._now, self._lead = send, report, now, lead
        self._pieces: deque[_Piece] = deque()
        self._more = asyncio.Event()
        self._ends_at = 0
        """When the listener will have heard all that was sent, if nothing delays it."""
        self._reply, self._sent = 0, 0

    def play(self, reply: int, item: str, pcm: NDArray[np.int16]) -> None:
        """Queue the next samples (24 kHz) of a reply."""
        if len(pcm):
            self._pieces.append(_Piece(reply, item, pcm))
            self._more.set()

    def flush(self, reply: int) -> int:
        """Forget what was not sent of a reply; returns the estimate of its heard samples."""
        self._pieces = deque(piece for piece in self._pieces if piece.reply != reply)
        if reply != self._reply:
            return 0
        heard = self._heard()
        self._ends_at, self._sent = min(self._ends_at, self._now()), heard
        self._more.set()
        return heard

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            self._more.clear()
            now = self._now()
            if self._pieces and self._ends_at - now <= self._lead - to_us(FRAME):
                self._send_frame(now)
                continue
            sounding = self._ends_at > now
            if sounding:
                self._report(self._reply, "playing", self._heard(), now)
            await self._sleep(now, sounding)
            if sounding and self._ends_at <= self._now():
                self._report(self._reply, "underrun", self._sent, self._ends_at)

    async def _sleep(self, now: int, sounding: bool) -> None:
        """Until there is more to send, room for it, or a position to report."""
        if not sounding:
            await self._more.wait()
            return
        until = min(now + _REPORT_EVERY_US, self._ends_at)
        if self._pieces:
            until = min(until, max(self._ends_at - self._lead + to_us(FRAME), now) + 1_000)
            await asyncio.sleep((until - now) / 1e6)
            return
        try:
            await asyncio.wait_for(self._more.wait(), (until - now) / 1e6)
        except TimeoutError:
            return

    def _send_frame(self, now: int) -> None:
        piece = self._pieces[0]
        first = piece.reply != self._reply
        size = _FIRST_FRAME if first else FRAME
        frame = piece.pcm[piece.start : piece.start + size]
        piece.start += len(frame)
        if piece.start >= len(piece.pcm):
            self._pieces.popleft()
        if first:
            self._reply, self._sent = piece.reply, 0
        if first or self._ends_at < now:
            kind: PlayoutKind = "started" if first else "playing"
            self._report(self._reply, kind, self._sent, max(now, self._ends_at))
        self._sent += len(frame)
        self._ends_at = max(now, self._ends_at) + to_us(len(frame))
        self._send(piece.reply, piece.item, frame)

    def _heard(self) -> int:
        ahead = max(0, self._ends_at - self._now()) * 24 // 1_000
        return max(0, self._sent - ahead)

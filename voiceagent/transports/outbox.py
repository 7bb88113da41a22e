"""What is on its way to a client: one bounded queue, emptied by one task, in one order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

MOST_MESSAGES = 1_024
MOST_BYTES = 4 * 1024 * 1024
SEND_BOUND_S = 5.0
"""A peer that takes nothing for this long is gone."""


class Outbox:
    """``send`` delivers one message and raises when the peer is gone."""

    def __init__(
        self,
        send: Callable[[str], Awaitable[None]],
        most_messages: int = MOST_MESSAGES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._send = send
        self._most_messages, self._most_bytes = most_messages, most_bytes
        self._queue: deque[str] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._closed = False
        self.failure: BaseException | None = None
        """What ended delivery, if the peer did."""

    @property
    def closed(self) -> bool:
        """Nothing more is taken."""
        return self._closed

    def put(self, message: str) -> bool:
        """Queue a message; False when there is no room, or the peer is gone. Never blocks."""
        if self._closed:
            return False
        full = len(self._queue) >= self._most_messages
        if full or self._bytes + len(message) > self._most_bytes:
            return False
        self._queue.append(message)
        self._bytes += len(message)
        self._more.set()
        return True

    def close(self, *, discard: bool = False) -> None:
        """Take nothing more; ``run`` ends when what is queued has left (or was discarded)."""
        self._closed = True
        if discard:
            self._queue.clear()
        self._more.set()

    async def run(self) -> None:
        """Deliver until closed or the peer is gone. Raises nothing for a peer's fault."""
        try:
            while await self._filled():
                message = self._queue.popleft()
                self._bytes -= len(message)
                async with asyncio.timeout(SEND_BOUND_S):
                    await self._send(message)
        except Exception as error:  # whatever a broken connection raises, it is broken
            self.failure = error
        finally:
            self.close(discard=True)

    async def _filled(self) -> bool:
        while not self._queue:
            if self._closed:
                return False
            self._more.clear()
            await self._more.wait()
        return True

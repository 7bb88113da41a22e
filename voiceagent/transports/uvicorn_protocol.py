"""uvicorn's WebSocket protocol with an end that does not depend on the peer.

As it is, a closing connection waits ten seconds for the peer's answer, and one whose peer takes
nothing more waits until the kernel gives up (about a quarter of an hour): closing a transport first
sends what is buffered. Here a connection that should be over is cut after a second.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

CUT_AFTER_S = 1.0


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """For ``uvicorn.Config(ws=…)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.close_timeout = CUT_AFTER_S

    async def send(self, message: Any) -> None:
        """As the base class; but a close does not wait for a peer that takes nothing."""
        closing = message["type"] == "websocket.close"
        if closing:
            self.writable.set()
        await super().send(message)
        if closing:
            self._cut_later()

    def keepalive_timeout(self) -> None:
        """The peer did not answer a ping in time."""
        super().keepalive_timeout()
        self._cut_later()

    def shutdown(self) -> None:
        """The server is ending."""
        super().shutdown()
        self._cut_later()

    def _cut_later(self) -> None:
        self.loop.call_later(CUT_AFTER_S, self.transport.abort)

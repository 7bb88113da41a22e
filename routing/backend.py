"""A client for one OpenAI-compatible chat server. A backend is a URL, the embedded model too."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from routing.backend_config import BackendConfig
from routing.bounds import ContentBound
from routing.chat_stream import ChatStream
from routing.chunks import Chunk
from routing.connections import Connections
from routing.errors import BackendError
from routing.messages import ChatRequest
from routing.rate_limits import RateLimits

__all__ = ["Backend", "BackendConfig"]

_CHECK_S = 3.0
_WARM_S = 60.0
"""Servers drop idle connections sooner than they say; asking once a minute costs nothing."""
_WITHOUT_LIST = (404, 405, 501)


def monotonic_us() -> int:
    """Microseconds of the monotonic clock."""
    return time.monotonic_ns() // 1000


class Backend:
    """Streams answers. Nothing is retried here; see ``Connections`` for the one counted exception.

    ::

        async with backend.stream(request) as chunks:
            async for chunk in chunks:
                ...
    """

    def __init__(self, config: BackendConfig, *, now_us: Callable[[], int] = monotonic_us) -> None:
        """``now_us`` stamps the chunks."""
        self.config = config
        self._now_us = now_us
        self._connections = Connections(config)
        self._warm_until = 0
        self.limits: RateLimits | None = None
        """What the last answer with such headers told of the rate limits."""

    @property
    def reconnects(self) -> int:
        """How often a kept connection was found dead, and replaced."""
        return self._connections.reconnects

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]:
        """An answer, chunk by chunk. Entering, or a step, raises ``BackendError``."""
        return self._chat(self.config, request)

    async def prefill(self, messages: Sequence[dict[str, Any]]) -> None:
        """Let the server read a prompt ahead, so that a request that begins like it starts sooner.

        Where the backend does not gain from it, its connection is opened, so that the answer need
        not wait for that. Raises ``BackendError``.
        """
        if self.config.prefill_s is None:
            self._warm()
            return
        patient = replace(self.config, first_content_s=self.config.prefill_s)
        if messages and messages[-1]["role"] != "user":  # the next turn's first tokens as well
            messages = [*messages, {"role": "user", "content": ""}]
        request = ChatRequest(messages=tuple(messages), max_tokens=1)
        async with self._chat(patient, request) as chunks:
            async for _ in chunks:
                pass

    def _warm(self) -> None:
        """Open a connection, if the last one is likely to be gone, without waiting for it."""
        now = self._now_us()
        if self.config.keep_alive_s > 0 and now >= self._warm_until:
            self._warm_until = now + int(min(self.config.keep_alive_s, _WARM_S) * 1_000_000)
            self._connections.warm_soon(_CHECK_S)

    async def check(self) -> None:
        """Return if the server is there and takes the key; raise ``BackendError`` if not."""
        bound = ContentBound(_CHECK_S, 0, 0)
        try:
            response = await bound.wait(self._connections.open("GET", "/models", None))
            self._connections.close_soon(response, response.aiter_raw())
            if response.status_code != 200 and response.status_code not in _WITHOUT_LIST:
                raise self.config.dialect.error(response.status_code, response.headers, b"")
            return
        except BackendError as error:
            failure = error.with_message(f"{self.config.name}: {error.message}")
        raise failure

    def _chat(self, config: BackendConfig, request: ChatRequest) -> ChatStream:
        return ChatStream(config, self._connections, request, self._now_us, self._take_limits)

    def _take_limits(self, headers: Mapping[str, str]) -> None:
        self.limits = self.config.dialect.limits(headers) or self.limits

    async def aclose(self) -> None:
        """Close the connections. Streams that still run end with an error."""
        await self._connections.aclose()

"""The connections to one backend: kept, bounded, and never waited for when they are closed."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Coroutine
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx

from routing.backend_config import BackendConfig, is_loopback
from routing.errors import BackendError
from routing.http_errors import error_of_exception

_CLOSE_S = 1.0
_DRAIN_S = 0.25
_LOST = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


class Connections:
    """HTTP/1.1 to one server, without redirects, cookies or retries.

    One exception, which is counted: a kept connection that turns out to be dead before anything was
    received is replaced by a new one, at once and once. Servers drop idle connections, and
    llama.cpp's closes after every stream without saying so.
    """

    def __init__(self, config: BackendConfig) -> None:
        self._config = config
        self._clients: dict[bool, httpx.AsyncClient] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False
        self.reconnects = 0

    async def open(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        """The answer's head; its body is still to be read. Raises ``BackendError``."""
        if self._closed:
            raise BackendError("unavailable", "this client is closed", retryable=False)
        kept = self._config.keep_alive_s > 0
        connected = False

        async def trace(event: str, _info: object) -> None:
            nonlocal connected
            connected = connected or event == "connection.connect_tcp.started"

        try:
            try:
                return await self._send(method, path, body, kept, trace)
            except _LOST:
                if connected:
                    raise
                self.reconnects += 1
                return await self._send(method, path, body, False, trace)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise error_of_exception(error) from None

    async def _send(
        self, method: str, path: str, body: dict[str, Any] | None, kept: bool, trace: Any
    ) -> httpx.Response:
        client = self._client(kept)
        request = client.build_request(
            method, self._config.base_url() + path, json=body, extensions={"trace": trace}
        )
        return await client.send(request, stream=True)

    def _client(self, kept: bool) -> httpx.AsyncClient:
        if kept not in self._clients:
            self._clients[kept] = _new_client(self._config, kept)
        return self._clients[kept]

    def close_soon(self, response: httpx.Response, content: AsyncIterator[bytes]) -> None:
        """Drop an answer that is not wanted any more. Begins at once, and waits for nothing."""
        self._in_background(_close(response, content))

    def release_soon(self, response: httpx.Response, content: AsyncIterator[bytes]) -> None:
        """Read the last bytes of an answer that is whole, so that its connection can be kept."""
        self._in_background(_drain(response, content))

    def warm_soon(self, within_s: float) -> None:
        """Open a connection and keep it for the next request; a failure is not told."""
        self._in_background(self._warm(within_s))

    async def _warm(self, within_s: float) -> None:
        with contextlib.suppress(BackendError, TimeoutError):
            async with asyncio.timeout(within_s):
                response = await self.open("GET", "/models", None)
                await _drain(response, response.aiter_raw())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Close everything, within a few seconds at most."""
        self._closed = True
        if self._closing:
            await asyncio.wait(tuple(self._closing), timeout=2 * _CLOSE_S)
        for client in self._clients.values():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await client.aclose()
        self._clients.clear()


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Shared, since reading the certificates takes 25 ms, in which the event loop stands still."""
    return httpx.create_ssl_context(trust_env=trust_env)


def _new_client(config: BackendConfig, kept: bool) -> httpx.AsyncClient:
    trust_env = not is_loopback(config.base_url())
    headers = {"Accept-Encoding": "identity", "User-Agent": "voiceagent"}
    if config.api_key:
        headers["Authorization"] = f"Bearer {config.api_key}"
    if not kept:
        headers["Connection"] = "close"
    client = httpx.AsyncClient(
        headers=headers,
        http2=False,
        follow_redirects=False,
        # The times of an answer are bounded where it is read: see bounds.py.
        timeout=httpx.Timeout(None, connect=config.connect_s, pool=config.connect_s),
        limits=httpx.Limits(
            max_connections=config.max_connections,
            max_keepalive_connections=config.max_connections if kept else 0,
            # httpx's own default drops idle connections after 5 s, between two turns of a call.
            keepalive_expiry=config.keep_alive_s,
        ),
        verify=_certificates(trust_env),
        trust_env=trust_env,
    )
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return client


async def _close(response: httpx.Response, content: AsyncIterator[bytes]) -> None:
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_CLOSE_S):
            await response.aclose()
            # httpx nests generators, and closing the outer one leaves the others to the garbage
            # collector. Read from a closed connection, they all end.
            async for _ in content:
                pass


async def _drain(response: httpx.Response, content: AsyncIterator[bytes]) -> None:
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_DRAIN_S):
            async for _ in content:
                pass
    await _close(response, content)

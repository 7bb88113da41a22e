"""One streamed answer: asked for on entering, read chunk by chunk, closed on leaving."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any

import httpx

from routing.backend_config import BackendConfig
from routing.bounds import ContentBound
from routing.chunks import Chunk, Finished, TextDelta, ToolDelta
from routing.connections import Connections
from routing.errors import BackendError, StreamBroken
from routing.http_errors import error_of_exception, hide
from routing.messages import ChatRequest, request_body, tool_names
from routing.stream import ChatStreamParser
from routing.text_tools import TextToolCalls

MAX_ANSWER_BYTES = 32 << 20
_MAX_ERROR_BYTES = 64 << 10
_ERROR_BODY_S = 1.0
_STREAM_TYPES = ("", "text/event-stream", "application/json", "text/plain")


class ChatStream:
    """An async context manager and iterator of chunks; raises ``BackendError``.

    Leaving it (or being cancelled in it) closes the connection of an answer that is not whole, at
    once and in the background: a peer that ignores the close holds nobody up.
    """

    def __init__(
        self,
        config: BackendConfig,
        connections: Connections,
        request: ChatRequest,
        now_us: Callable[[], int],
        on_head: Callable[[Mapping[str, str]], None] = lambda _headers: None,
    ) -> None:
        """``on_head`` is given the headers of the answer, whatever its status."""
        self._config, self._connections, self._now_us = config, connections, now_us
        self._request = request
        self._bound = ContentBound(config.first_content_s, config.between_chunks_s, config.tail_s)
        self._parser = ChatStreamParser(dialect=config.dialect)
        names = tool_names(request)
        self._written_calls = TextToolCalls(names) if names else None
        self._on_head = on_head
        self._ready: deque[Chunk] = deque()
        self._response: httpx.Response | None = None
        self._bytes: AsyncIterator[bytes] | None = None
        self._size = 0

    async def __aenter__(self) -> AsyncIterator[Chunk]:
        try:
            await self._open()
        except BackendError as error:
            failure = self._named(error)
        except BaseException:
            self._drop()
            raise
        else:
            return self
        self._drop()
        raise failure  # here, so that it does not hold on to what it was made from

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._drop()

    def __aiter__(self) -> AsyncIterator[Chunk]:
        return self

    async def __anext__(self) -> Chunk:
        try:
            while not self._ready:
                if self._bytes is None:
                    raise StopAsyncIteration
                await self._read(self._bytes)
            return self._ready.popleft()
        except BackendError as error:
            failure = self._named(error)
        self._drop()
        raise failure

    async def _open(self) -> None:
        opening = self._connections.open("POST", "/chat/completions", self._body())
        self._response = await self._bound.wait(opening)
        self._bytes = self._response.aiter_raw()
        self._on_head(self._response.headers)
        await self._check_head(self._response, self._bytes)

    def _body(self) -> dict[str, Any]:
        config = self._config
        body = config.dialect.body(request_body(self._request, config.model, {}))
        if config.priority is not None and config.abilities.priority:
            body["priority"] = config.priority
        return body | dict(config.extra_body)

    async def _read(self, content: AsyncIterator[bytes]) -> None:
        """Wait for the next bytes, and turn them into chunks that are ready."""
        if (failure := self._parser.failure) is not None:
            raise failure.with_message(failure.message)  # a copy: it would hold on to this frame
        if self._parser.done:
            self._release()
            return
        try:
            data = await self._bound.wait(anext(content, None))
        except (httpx.HTTPError, BackendError) as error:
            if not self._parser.finished:
                raise (
                    error if isinstance(error, BackendError) else error_of_exception(error)
                ) from None
            self._drop()  # the answer is whole; only its end was missing
            return
        at_us = self._now_us()
        if data is None:
            self._take(self._parser.close())
            self._release()
            return
        self._size += len(data)
        if self._size > MAX_ANSWER_BYTES:
            raise StreamBroken("the answer is too large")
        self._take(self._parser.feed(data, at_us))

    def _take(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            if isinstance(chunk, TextDelta | ToolDelta):
                self._bound.content_came()
            elif isinstance(chunk, Finished):
                self._bound.finish_came()
        if self._written_calls is None:
            self._ready.extend(chunks)
            return
        for chunk in chunks:
            self._ready.extend(self._written_calls.feed(chunk))

    def _release(self) -> None:
        response, content = self._response, self._bytes
        self._response = self._bytes = None
        if response is not None and content is not None:
            self._connections.release_soon(response, content)

    def _drop(self) -> None:
        response, content = self._response, self._bytes
        self._response = self._bytes = None
        self._ready.clear()
        if response is not None and content is not None:
            self._connections.close_soon(response, content)

    async def _check_head(self, response: httpx.Response, content: AsyncIterator[bytes]) -> None:
        """Raise unless this is the head of a stream."""
        if response.status_code != 200:
            body = await _bounded_body(content)
            raise self._config.dialect.error(
                response.status_code, response.headers, body, model=self._config.model
            )
        media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media not in _STREAM_TYPES:
            raise StreamBroken(f"it answered with {media}, which is no stream of a chat model")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise StreamBroken("it compressed the stream, though it was asked not to")

    def _named(self, error: BackendError) -> BackendError:
        """The error with the backend's name, and without the key or what people said."""
        text = hide(error.message, self._config.api_key)
        head, _, told = text.partition(": ")
        if told and _repeats(told, self._request):
            text = head
        return error.with_message(f"{self._config.name}: {text}")


async def _bounded_body(content: AsyncIterator[bytes]) -> bytes:
    """The beginning of an error's body, as much as comes at once."""
    body = b""
    bound = ContentBound(_ERROR_BODY_S, 0, 0)
    with contextlib.suppress(httpx.HTTPError, BackendError):
        while len(body) < _MAX_ERROR_BYTES:
            data = await bound.wait(anext(content, None))
            if data is None:
                break
            body += data
    return body[:_MAX_ERROR_BYTES]


def _repeats(told: str, request: ChatRequest, run: int = 20) -> bool:
    """Does a server's message quote the conversation? Then it is not fit for logs."""
    asked = json.dumps(request.messages, ensure_ascii=False, default=str)
    return any(told[i : i + run] in asked for i in range(max(len(told) - run + 1, 0)))

"""Runs the language model for a session: a request becomes text events, and can be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from routing.chunks import TextDelta
from routing.errors import BackendError
from routing.messages import ChatRequest
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.parts import Answers

log = logging.getLogger(__name__)

_PREFILL_WAIT_S = 0.3


class Answering:
    """At most one generation for each reply, and one prefill."""

    def __init__(
        self,
        backend: Answers,
        post: Callable[[ev.Event], None],
        now: Callable[[], int],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        self._backend, self._post, self._now, self._start = backend, post, now, start
        self._running: dict[int, asyncio.Task[None]] = {}
        self._prefill: asyncio.Task[None] | None = None

    def generate(self, action: act.Generate) -> None:
        """Stream an answer as events."""
        self.cancel(action.reply)
        task = self._running[action.reply] = self._start(self._stream(action))
        task.add_done_callback(lambda done: self._forget(action.reply, done))

    def cancel(self, reply: int) -> None:
        """Stop the stream; the backend closes its upstream connection."""
        task = self._running.pop(reply, None)
        if task:
            task.cancel()

    def _forget(self, reply: int, done: asyncio.Task[None]) -> None:
        if self._running.get(reply) is done:
            del self._running[reply]

    def prefill(self, messages: tuple[dict[str, Any], ...]) -> None:
        """Let the backend read ahead; only the latest prefill counts."""
        if self._prefill and not self._prefill.done():
            self._prefill.cancel()
        self._prefill = self._start(self._read_ahead(messages))

    async def _read_ahead(self, messages: tuple[dict[str, Any], ...]) -> None:
        with contextlib.suppress(BackendError):  # only a hint; the reply will tell of the trouble
            await self._backend.prefill(messages)

    async def _prefilled(self) -> None:
        """Let a prefill end that is nearly through: this answer begins where it stops.

        Beside it the answer would be given another slot of the server, and read everything anew.
        """
        prefill = self._prefill
        if prefill and not prefill.done():
            await asyncio.wait({prefill}, timeout=_PREFILL_WAIT_S)
            prefill.cancel()

    async def _stream(self, action: act.Generate) -> None:
        request = ChatRequest(messages=action.messages, max_tokens=action.max_tokens)
        await self._prefilled()
        try:
            async with self._backend.stream(request) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, TextDelta):
                        self._post(ev.TextArrived(self._now(), action.reply, chunk.text))
        except BackendError as error:
            log.warning("reply failed: %s (%s)", error.kind, error)
            failed = ev.TextFailed(self._now(), action.reply, error.kind, error.retryable)
            self._post(failed)
            return
        except Exception:
            log.exception("reply failed")
            self._post(ev.TextFailed(self._now(), action.reply, "internal", retryable=False))
            return
        self._post(ev.TextFinished(self._now(), action.reply))

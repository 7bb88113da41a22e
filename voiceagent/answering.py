"""Runs the language model for a session: a request becomes text events, and can be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from routing.answer import Interrupted, RoutedAnswer
from routing.chunks import TextDelta, UsageReported
from routing.decision import Decision
from routing.errors import BackendError
from routing.messages import ChatRequest
from routing.router import Router
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev

log = logging.getLogger(__name__)

_PREFILL_WAIT_S = 0.3
_TOLD = ("backend", "badge", "reason", "first_content_ms", "hedged", "failed_over", "handed_over")
"""What clients are told of a routing decision."""


class Answering:
    """At most one generation for each reply, and one prefill."""

    def __init__(
        self,
        router: Router,
        call: str,
        post: Callable[[ev.Event], None],
        now: Callable[[], int],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        decided: Callable[[int, Decision], None] = lambda _reply, _decision: None,
    ) -> None:
        """``call`` names the session whose budget the answers count against. ``decided`` is told
        of each request's decision, by its reply, once all that came of it is known."""
        self._router, self._call = router, call
        self._post, self._now, self._start, self._decided = post, now, start, decided
        self._running: dict[int, asyncio.Task[None]] = {}
        self._answers: dict[int, RoutedAnswer] = {}
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

    def go_on(self, action: act.ContinueFrom) -> None:
        """Another backend goes on from what the voice was given."""
        if answer := self._answers.get(action.reply):
            answer.resume(action.said)

    def speech_until(self, action: act.SpeechUntil) -> None:
        """The router weighs a stall against the speech that is left."""
        if answer := self._answers.get(action.reply):
            answer.speech_until(action.when)

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
            await self._router.prefill(messages)

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
        answer = self._router.answer(request, call=self._call)
        self._answers[action.reply] = answer
        try:
            async with answer:
                usage = await self._pass_on(action.reply, answer)
        except BackendError as error:
            log.warning("reply failed: %s (%s)", error.kind, error)
            failed = ev.TextFailed(self._now(), action.reply, error.kind, error.retryable)
            self._post(failed)
        except Exception:
            log.exception("reply failed")
            self._post(ev.TextFailed(self._now(), action.reply, "internal", retryable=False))
        else:
            self._post(ev.TextFinished(self._now(), action.reply, usage))
        finally:
            if self._answers.get(action.reply) is answer:
                del self._answers[action.reply]
            if answer.accounted:
                self._decided(action.reply, answer.decision)

    async def _pass_on(self, reply: int, answer: RoutedAnswer) -> tuple[int, int, int] | None:
        """Post what comes as events; returns the tokens used, if somebody counted."""
        usage, badge = None, ""
        async for chunk in answer:
            match chunk:
                case TextDelta(at_us=arrived, text=text, tokens=tokens):
                    self._post(ev.TextArrived(self._now(), reply, text, arrived, tokens))
                case Interrupted():
                    self._post(ev.TextInterrupted(self._now(), reply))
                case UsageReported():
                    usage = chunk.prompt_tokens, chunk.cached_tokens or 0, chunk.completion_tokens
            if isinstance(chunk, TextDelta) and badge != (badge := answer.decision.badge()):
                told = answer.decision.to_dict()
                route = {name: told[name] for name in _TOLD}
                self._post(ev.TextRouted(self._now(), reply, route))
        return usage

"""One routed answer: carries out what ``race.py`` decides, over the real streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from routing.candidate import Candidate
from routing.chunks import Chunk, Finished, ReasoningDelta, TextDelta, ToolDelta, UsageReported
from routing.continuation import Seam, continued
from routing.decision import Decision
from routing.errors import BackendError
from routing.health import Health, Pace, longest_gap
from routing.messages import ChatRequest
from routing.race import Action, Close, Lead, Open, Over, Pause, Race, Wake
from routing.spending import Spent

_CHARS_PER_TOKEN = 4
_NOT_SERVED: frozenset[str] = frozenset(
    {"rate_limited", "unavailable", "refused", "auth", "bad_request", "quota"}
)
"""Ends of an attempt that nobody charges for, unless something had come."""


class Desk(Protocol):
    """What an answer needs of its router; see ``routing.router.Router``."""

    def now_us(self) -> int: ...
    def plan(self, request: ChatRequest, call: str, now: int) -> tuple[Race, Decision]: ...
    def candidate(self, name: str) -> Candidate: ...
    def health(self, name: str) -> Health: ...
    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]: ...
    def starved(self, arrivals: Sequence[tuple[int, int]], /) -> int: ...
    def decided(self, decision: Decision) -> None: ...
    def log_failure(self, name: str, error: Exception) -> None: ...


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The answer broke off or stalled, and somebody else can go on with it.

    Call ``resume`` with the text of it that is in use; nothing more comes before.
    """

    at_us: int
    why: str


Item: TypeAlias = Chunk | Interrupted


@dataclass(slots=True)
class _Stream:
    """One attempt's stream: what it brought, and what it used."""

    candidate: Candidate
    request: ChatRequest
    seam: Seam | None
    task: asyncio.Task[None] | None = None
    held: list[Chunk] = field(default_factory=list)
    """What came before it was known whether it leads."""
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """(microseconds, characters) of each piece of text."""
    characters: int = 0
    """Of text, thoughts and tool calls: all that the server made."""
    speakable_at: int | None = None
    usage: UsageReported | None = None


class RoutedAnswer:
    """An async context manager and iterator of chunks; raises ``BackendError`` when nobody answers.

    ::

        async with router.answer(request, call="sess_1") as answer:
            async for chunk in answer:
                if isinstance(chunk, Interrupted):
                    answer.resume(text_given_to_the_voice)

    Leaving it closes every stream at once.
    """

    def __init__(self, router: Desk, request: ChatRequest, call: str) -> None:
        self._router, self._request, self._call = router, request, call
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[Item | BackendError | None] = asyncio.Queue()
        self._streams: dict[int, _Stream] = {}
        self._wake: asyncio.TimerHandle | None = None
        self._leading: int | None = None
        self._said = ""
        self._closed = False
        self._race: Race
        self.decision: Decision

    async def __aenter__(self) -> RoutedAnswer:
        now = self._router.now_us()
        self._race, self.decision = self._router.plan(self._request, self._call, now)
        self.decision.attempts = self._race.attempts
        self._do(self._race.begin(now))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._do(self._race.cancel(self._router.now_us()))
        self._end()

    @property
    def accounted(self) -> bool:
        """It was begun and is over: the decision holds all that came of it."""
        return self._closed

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        item = await self._items.get()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, BackendError):
            raise item
        return item

    # --- what the caller tells -----------------------------------------------------------------

    def resume(self, said: str) -> None:
        """After ``Interrupted``: ``said`` was given to the voice and stands; go on from there."""
        self._said = said
        self._do(self._race.resume(bool(said.strip()), self._router.now_us()))

    def speech_until(self, until: int | None) -> None:
        """The listener has speech to hear until then (router's clock); None: nothing to hear."""
        now = self._router.now_us()
        if self._leading is not None:
            stream = self._streams[self._leading]
            stream.speakable_at = stream.speakable_at or now
            if self.decision.first_speakable_us is None:
                self.decision.first_speakable_us = now - self.decision.at_us
        self._do(self._race.speech(until, now))

    # --- carrying out --------------------------------------------------------------------------

    def _do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Open(number, backend, purpose):
                    self._open(number, self._router.candidate(backend), purpose == "handover")
                case Close(number):
                    self._close(number)
                case Wake(at):
                    self._wake_at(at)
                case Lead(number):
                    self._lead(number)
                case Pause(why):
                    self._items.put_nowait(Interrupted(self._router.now_us(), why))
                case Over(error):
                    self._items.put_nowait(error)

    def _open(self, number: int, candidate: Candidate, rest: bool) -> None:
        request, seam = self._request, None
        if rest:
            request = continued(request, self._said, prefixes=candidate.continues)
            seam = Seam(self._said, exact=candidate.continues)
        stream = self._streams[number] = _Stream(candidate, request, seam)
        self._router.health(candidate.name).breaker.asked(self._router.now_us())
        stream.task = self._router.start(self._read(number, stream))

    def _close(self, number: int) -> None:
        stream, attempt = self._streams[number], self._race.attempts[number]
        if stream.task:
            stream.task.cancel()
        breaker = self._router.health(attempt.backend.name).breaker
        hung = attempt.late and attempt.first_content is None
        if attempt.outcome == "timeout" or hung:
            breaker.failed(self._router.now_us(), BackendError("timeout", "late"))
        else:
            breaker.given_up()

    def _wake_at(self, at: int) -> None:
        if self._wake:
            self._wake.cancel()
        self._wake = self._loop.call_at(at / 1_000_000, self._woke)

    def _woke(self) -> None:
        self._do(self._race.woke(self._router.now_us()))

    def _lead(self, number: int) -> None:
        self._leading = number
        stream = self._streams[number]
        self.decision.leader = self._race.leader
        for chunk in stream.held:
            self._items.put_nowait(chunk)
        stream.held.clear()

    # --- reading -------------------------------------------------------------------------------

    async def _read(self, number: int, stream: _Stream) -> None:
        """Read one stream to its end."""
        backend = stream.candidate
        try:
            async with backend.stream(stream.request) as chunks:
                async for chunk in chunks:
                    self._got(number, stream, chunk)
        except BackendError as failure:
            error = failure
        except Exception as failure:
            self._router.log_failure(backend.name, failure)
            error = BackendError("unavailable", f"{backend.name}: it could not be asked")
        else:
            error = BackendError("broken_stream", f"{backend.name}: the answer is empty")
            self._keep(number, stream, self._rest_of(stream))
            self._do(self._race.ended(number, self._router.now_us()))
        self._over(number, stream, error)

    def _over(self, number: int, stream: _Stream, error: BackendError) -> None:
        """The stream is over: well, if the race says so, or else with this error."""
        now, attempt = self._router.now_us(), self._race.attempts[number]
        self._do(self._race.failed(number, now, error))  # nothing, if it ended well
        breaker = self._router.health(stream.candidate.name).breaker
        if attempt.outcome == "answered":
            breaker.worked()
        elif attempt.outcome != "cancelled":
            breaker.failed(now, error)

    def _got(self, number: int, stream: _Stream, chunk: Chunk) -> None:
        if isinstance(chunk, UsageReported):
            stream.usage = chunk
        stream.characters += _made(chunk)
        content = isinstance(chunk, TextDelta | ToolDelta)
        if content and not stream.arrivals:
            self._router.health(stream.candidate.name).breaker.began()
        if isinstance(chunk, TextDelta):
            stream.arrivals.append((chunk.at_us, len(chunk.text)))
            self._keep(number, stream, _through(stream.seam, chunk))
        elif isinstance(chunk, Finished):
            self._do(self._race.finished(number, self._router.now_us()))
        else:
            self._keep(number, stream, [chunk])
        if content:
            tool = isinstance(chunk, ToolDelta)
            self._do(self._race.content(number, self._router.now_us(), tool=tool))

    def _rest_of(self, stream: _Stream) -> list[Chunk]:
        rest = stream.seam.close() if stream.seam else ""
        return [TextDelta(self._router.now_us(), rest)] if rest else []

    def _keep(self, number: int, stream: _Stream, chunks: list[Chunk]) -> None:
        if self._leading == number:
            for chunk in chunks:
                self._items.put_nowait(chunk)
        else:
            stream.held.extend(chunks)

    # --- the end -------------------------------------------------------------------------------

    def _end(self) -> None:
        if self._wake:
            self._wake.cancel()
        now = self._router.now_us()
        for attempt in self._race.attempts:
            stream = self._streams[attempt.number]
            if stream.task:
                stream.task.cancel()
            health = self._router.health(attempt.backend.name)
            lost = attempt.first_content is None and self._leading is not None
            if attempt.outcome == "cancelled" and lost and attempt.ended is not None:
                health.outrun(now, attempt.ended - attempt.at)
            elif attempt.outcome == "answered":
                health.answered(self._pace(stream, attempt.at, now))
            elif attempt.outcome != "cancelled":
                health.failures += 1
            self.decision.spent.append(self._spent(stream, attempt.purpose, attempt.outcome))
        outcomes = [attempt.outcome for attempt in self._race.attempts]
        self.decision.outcome = "answered" if "answered" in outcomes else outcomes[-1]
        self._closed = True
        self._router.decided(self.decision)

    def _pace(self, stream: _Stream, asked: int, now: int) -> Pace:
        times = [at for at, _ in stream.arrivals]
        first = stream.speakable_at or (times[0] if times else now)
        starved = self._router.starved(stream.arrivals)
        return Pace(now, max(0, first - asked), starved, longest_gap(times))

    def _spent(self, stream: _Stream, purpose: str, outcome: str) -> Spent:
        used = stream.usage
        cached = 0
        if used is None:
            asked = sum(len(str(m.get("content") or "")) for m in stream.request.messages)
            prompt = asked // _CHARS_PER_TOKEN
            completion = stream.characters // _CHARS_PER_TOKEN
            if outcome in _NOT_SERVED and not completion:
                prompt = 0
        else:
            prompt, completion = used.prompt_tokens, used.completion_tokens
            cached = used.cached_tokens or 0
        return Spent(
            self._call,
            stream.candidate.name,
            purpose,
            outcome,
            prompt,
            completion,
            cached,
            used is None,
            stream.candidate.cost(prompt, cached, completion),
        )


def _made(chunk: Chunk) -> int:
    """Characters that the server made for this."""
    match chunk:
        case TextDelta(text=text) | ReasoningDelta(text=text):
            return len(text)
        case ToolDelta():
            return len(chunk.name or "") + len(chunk.arguments or "")
    return 0


def _through(seam: Seam | None, chunk: TextDelta) -> list[Chunk]:
    """Text without what was said already."""
    if seam is None:
        return [chunk]
    text = seam.push(chunk.text)
    if not text:
        return []
    return [chunk if text == chunk.text else TextDelta(chunk.at_us, text)]

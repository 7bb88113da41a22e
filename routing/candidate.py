"""A backend as the router sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from routing.chunks import Chunk
from routing.messages import ChatRequest

Cost = Callable[[int, int, int], float | None]
"""US dollars for (prompt, cached, completion) tokens; None: no price is known."""


def free(_prompt: int, _cached: int, _completion: int) -> float:
    """Our own machine."""
    return 0.0


class Streams(Protocol):
    """What the router needs of a backend; see ``routing.backend.Backend``."""

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]: ...

    async def prefill(self, messages: Sequence[dict[str, Any]]) -> None: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend that may answer."""

    name: str
    backend: Streams
    assumed_first: int = 500_000
    """Microseconds to its first speakable text, an assumption until it was measured."""
    continues: bool = False
    """It goes on with a last message of the assistant."""
    cost: Cost = free
    reserve: bool = False
    """It stands in for those that the record decided on, when none of them can be asked."""

    def stream(self, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[Chunk]]:
        """Ask it."""
        return self.backend.stream(request)

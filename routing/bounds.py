"""How long an answer may keep its listener waiting. Only content renews the patience."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from routing.errors import BackendError

T = TypeVar("T")


class ContentBound:
    """The time left until the next content. It runs only while somebody waits for bytes.

    So a reader that was busy elsewhere does not count against the server.
    """

    def __init__(self, first_content_s: float, between_chunks_s: float, tail_s: float) -> None:
        self._left = first_content_s
        self._between, self._tail = between_chunks_s, tail_s
        self._late = f"no content within {first_content_s:g} s"

    async def wait(self, work: Awaitable[T]) -> T:
        """The result of ``work``; raises ``BackendError`` (timeout) when the time runs out."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._left) as bound:
                return await work
        except TimeoutError:
            if not bound.expired():
                raise
            raise BackendError("timeout", self._late) from None
        finally:
            self._left -= loop.time() - began

    def content_came(self) -> None:
        """Text or a tool call came: the next one may take as long as between two chunks."""
        self._left = self._between
        self._late = f"the answer stood still for {self._between:g} s"

    def finish_came(self) -> None:
        """The answer is whole: only the usage may follow."""
        self._left = self._tail

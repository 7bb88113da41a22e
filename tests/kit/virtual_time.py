"""An event loop whose clock jumps: whole conversations run in milliseconds, in a fixed order.

    @virtual
    async def test_something():
        await asyncio.sleep(3600)      # takes no time at all

Time advances only when nothing is ready to run. If nothing is ready and nothing is scheduled, the
test would wait for ever, and says so instead. Threads are outside this clock: use scripted parts.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any


class NothingLeft(RuntimeError):
    """The virtual world has come to rest while the test still waits."""


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise NothingLeft("nothing is scheduled, and the test still waits")
            self.now += max(timeout, 0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Deterministic: timers of one instant run in the order in which they were set."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """Virtual seconds."""
        return self._jumping.now


def run_virtually(main: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine on a virtual clock; tasks that it leaves behind are an error."""
    loop = VirtualLoop()
    problems: list[str] = []
    loop.set_exception_handler(lambda _loop, context: problems.append(str(context)))
    try:
        result = loop.run_until_complete(main)
        left = [task for task in asyncio.all_tasks(loop) if not task.done()]
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        assert not left, f"tasks left behind: {left}"
        assert not problems, problems
        return result
    finally:
        loop.close()


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Decorator: run an async test on a virtual clock."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        run_virtually(test(*args, **kwargs))

    return run

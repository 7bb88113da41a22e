"""The real server with scripted models, in a thread of its own, for tests that drive a browser.

    with live_thread(answers=[[(0.1, "Forty nine dollars.")]]) as live:
        page.goto(live.url)

See ``live_server``; ``answers`` and the rest are passed on.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.kit.live_server import Live, live_server


@dataclass
class LiveThread:
    """A server that runs in another thread."""

    live: Live

    @property
    def url(self) -> str:
        """The page."""
        return f"http://{self.live.address}/"


@contextlib.contextmanager
def live_thread(**options: Any) -> Iterator[LiveThread]:
    """Serve until the block ends."""
    ready, over = threading.Event(), asyncio.Event()
    found: list[Live] = []
    failed: list[BaseException] = []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        try:
            async with live_server(**options) as live:
                found.append(live)
                ready.set()
                await over.wait()
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    if not ready.wait(30) or not found:
        raise RuntimeError("the server did not start") from (failed[0] if failed else None)
    try:
        yield LiveThread(found[0])
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(15)

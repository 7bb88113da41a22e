"""Writes behind: jobs wait in bounded queues, and one task writes them in transactions.

A database that fails costs records and never a call. It is tried again with growing waits while
the queues hold what they can; then the oldest go. A job that the database takes in no state (its
session was deleted, a number is too large) is dropped alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from voiceagent.store.errors import StoreError
from voiceagent.store.jobs import Job, Turned

log = logging.getLogger(__name__)

MOST_SESSIONS, MOST_TURNS = 1_000, 2_000
"""Jobs that may wait; those of sessions are kept apart, since a turn needs its session."""
BATCH = 50
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 60.0
FAILURES = (SQLAlchemyError, OSError, TimeoutError, StoreError)
"""What a database that cannot be used raises."""

Pause = Callable[[float], Awaitable[None]]


class Writer:
    """``prepare`` is called before the first write (again while it fails); ``pause`` waits."""

    def __init__(
        self,
        engine: AsyncEngine,
        prepare: Callable[[], Awaitable[None]],
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._engine, self._prepare, self._pause = engine, prepare, pause
        self._sessions: deque[Job] = deque()
        self._turns: deque[Job] = deque()
        self._filled, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._writing = asyncio.Lock()
        self.dropped = 0
        """Jobs that were given up."""

    def put(self, job: Job) -> None:
        """Queue a job; over the bound the oldest of its kind is dropped."""
        queue = self._turns if isinstance(job, Turned) else self._sessions
        queue.append(job)
        self._bound()
        self._idle.clear()
        self._filled.set()

    async def flushed(self) -> None:
        """Wait until all that was queued is written or dropped."""
        await self._idle.wait()

    def abandon(self) -> int:
        """Drop all that waits; how much that was."""
        left = len(self._sessions) + len(self._turns)
        self._sessions.clear()
        self._turns.clear()
        self.dropped += left
        self._idle.set()
        return left

    @contextlib.asynccontextmanager
    async def without(self, session_id: str) -> AsyncIterator[None]:
        """Forget what waits of a session, and write nothing meanwhile."""
        async with self._writing:
            for queue in (self._sessions, self._turns):
                kept = [job for job in queue if job.session_id != session_id]
                queue.clear()
                queue.extend(kept)
            yield

    async def run(self) -> None:
        """Write until cancelled."""
        wait = 0.0
        while True:
            await self._filled.wait()
            try:
                async with self._writing:
                    await self._write_batch()
            except Exception as error:  # whatever it is, the next attempt may do better
                if not wait:
                    log.error("the store cannot be written: %s", _in_words(error))
                wait = min(LONGEST_WAIT_S, 2 * wait or FIRST_WAIT_S)
                await self._pause(wait)
                continue
            if wait:
                log.warning("the store can be written again; %d records lost", self.dropped)
            wait = 0.0
            if not self._sessions and not self._turns:
                self._filled.clear()
                self._idle.set()

    async def _write_batch(self) -> None:
        """Sessions first: a turn needs its own. What could not be written waits again."""
        sessions, turns = _take(self._sessions), _take(self._turns)
        try:
            await self._prepare()
            await self._write_all([*sessions, *turns])
        except BaseException:
            self._sessions.extendleft(reversed(sessions))
            self._turns.extendleft(reversed(turns))
            self._bound()
            raise

    async def _write_all(self, jobs: list[Job]) -> None:
        try:
            async with self._engine.begin() as connection:
                await _write(connection, jobs)
        except Exception as error:
            if not _is_refused(error):
                raise
            await self._write_singly(jobs)

    async def _write_singly(self, jobs: list[Job]) -> None:
        for job in jobs:
            try:
                async with self._engine.begin() as connection:
                    await _write(connection, [job])
            except Exception as error:
                if not _is_refused(error):
                    raise
                self.dropped += 1
                log.debug("a record was refused: %s", _in_words(error))

    def _bound(self) -> None:
        for queue, most in ((self._sessions, MOST_SESSIONS), (self._turns, MOST_TURNS)):
            while len(queue) > most:
                queue.popleft()
                self.dropped += 1


def _take(queue: deque[Job]) -> list[Job]:
    return [queue.popleft() for _ in range(min(BATCH, len(queue)))]


async def _write(connection: AsyncConnection, jobs: list[Job]) -> None:
    for job in jobs:
        await job.write(connection)


def _is_refused(error: Exception) -> bool:
    """It is the record's fault: written again it would fail again."""
    if isinstance(error, DBAPIError):
        # SQLAlchemy has no class of its own for asyncpg's errors of data.
        cause = error.orig.__cause__ if error.orig else None
        names = {kind.__name__ for kind in type(cause).__mro__}
        return isinstance(error, DataError | IntegrityError) or "DataError" in names
    return isinstance(error, StatementError) or not isinstance(error, FAILURES)


def _in_words(error: BaseException) -> str:
    """Its kind, and the system's words where they hold no address."""
    inner = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(error, StoreError):
        return str(error)
    if inner is not None and type(inner).__module__ == "sqlite3":
        return str(inner)  # such as "database is locked"; PostgreSQL's may name a user
    return type(inner or error).__name__

"""The store: what the program calls to keep sessions, and to read them back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from voiceagent.store.database import open_engine
from voiceagent.store.errors import StoreError, StoreUnavailable
from voiceagent.store.jobs import Began, Ended, Turned
from voiceagent.store.reading import read_session, read_sessions, read_turns
from voiceagent.store.schema import migrate
from voiceagent.store.upkeep import (
    delete_folder,
    delete_session,
    end_cut_off,
    folders_before,
    past_their_time,
)
from voiceagent.store.writer import FAILURES, Pause, Writer
from voiceagent.turn_record import SessionRecord, TurnRecord

log = logging.getLogger(__name__)

FLUSH_S, CLOSE_S = 2.0, 1.0
DAY_S = 24 * 3600.0


def _now() -> datetime:
    return datetime.now(UTC)


class Store:
    """Open one with ``Store.open``. Telling it something never blocks and never raises.

    ``keep_text``: also keep what was said; else those texts are written as NULL. ``keep_days``:
    sessions older than that are deleted at the opening and once a day, with their folder in
    ``audio``; 0: never. ``server`` names who keeps sessions here: what it left open is ended. None
    is for one who only reads.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        keep_text: bool = False,
        keep_days: int = 0,
        audio: Path | None = None,
        server: str | None = None,
        now: Callable[[], datetime] = _now,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._engine, self._keep_text, self._keep_days = engine, keep_text, keep_days
        self._audio, self._server, self._now = audio, server, now
        self._prepared = False
        self._preparing = asyncio.Lock()
        self._writer = Writer(engine, self._prepare, pause)
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def open(
        cls,
        address: str,
        *,
        keep_text: bool = False,
        keep_days: int = 0,
        audio: Path | None = None,
        server: str | None = None,
        now: Callable[[], datetime] = _now,
        pause: Pause = asyncio.sleep,
    ) -> Store:
        """The store at ``sqlite:///PATH`` or ``postgresql://...``, brought up to date.

        Raises StoreError where it can never be used so: a wrong address, a missing package, a
        database of a newer version. One that does not answer now is tried again later.
        """
        engine = open_engine(address)
        store = cls(
            engine,
            keep_text=keep_text,
            keep_days=keep_days,
            audio=audio,
            server=server,
            now=now,
            pause=pause,
        )
        try:
            await store._prepare()
            await store.delete_old()
        except StoreUnavailable as error:
            log.error("old sessions could not be deleted: %s", error)
        except StoreError:
            await engine.dispose()
            raise
        except FAILURES as error:
            log.error("the store does not answer, and is tried again: %s", type(error).__name__)
        store._tasks = [
            asyncio.create_task(store._writer.run()),
            asyncio.create_task(store._delete_old_daily()),
        ]
        return store

    # --- what sessions tell --------------------------------------------------------------------

    def session_began(self, session: SessionRecord) -> None:
        """A session is there; call this before its turns."""
        self._writer.put(Began(session))

    def turn(self, session_id: str, turn: TurnRecord) -> None:
        """A turn is over, or is known better: it replaces the one of its number."""
        self._writer.put(Turned(session_id, turn, self._keep_text))

    def session_ended(
        self, session_id: str, ended_at: datetime, characters_per_second: float | None = None
    ) -> None:
        """A session is over; by now the speaking rate of its voice may be known better."""
        self._writer.put(Ended(session_id, ended_at, characters_per_second))

    @property
    def dropped(self) -> int:
        """Records that could not be kept."""
        return self._writer.dropped

    # --- reading; raises StoreUnavailable ------------------------------------------------------

    async def sessions(
        self, limit: int = 50, before: datetime | None = None
    ) -> list[SessionRecord]:
        """The latest ``limit`` sessions that began ``before`` a time (UTC), newest first."""
        async with self._connection() as connection:
            return await read_sessions(connection, limit, before)

    async def session(self, session_id: str) -> SessionRecord | None:
        """One session; None where there is no such."""
        async with self._connection() as connection:
            return await read_session(connection, session_id)

    async def turns(self, session_id: str) -> list[TurnRecord]:
        """Its turns, in their order."""
        async with self._connection() as connection:
            return await read_turns(connection, session_id)

    async def latest(self) -> SessionRecord | None:
        """The session that began last; None where there is none."""
        return next(iter(await self.sessions(1)), None)

    # --- deleting, and the end -----------------------------------------------------------------

    async def delete(self, session_id: str) -> bool:
        """Delete a session, what waits of it and its sound; whether it was there.

        What a live session tells later is dropped. Raises StoreUnavailable.
        """
        async with self._writer.without(session_id), self._connection() as connection:
            return await delete_session(connection, session_id, self._audio)

    async def delete_old(self) -> int:
        """Delete the sessions that are past their time; how many. Raises StoreUnavailable."""
        if not self._keep_days:
            return 0
        before = self._now() - timedelta(days=self._keep_days)
        async with self._connection() as connection:
            old = await past_their_time(connection, before)
        for session_id in old:
            await self.delete(session_id)
        await self._delete_orphans(before)
        return len(old)

    async def _delete_orphans(self, before: datetime) -> None:
        """Sounds of that age whose session was never written."""
        if self._audio is None:
            return
        for session_id in await asyncio.to_thread(folders_before, self._audio, before):
            if await self.session(session_id) is None:
                await asyncio.to_thread(delete_folder, self._audio / session_id)

    async def flushed(self) -> None:
        """Wait until all that was told is written, or given up."""
        await self._writer.flushed()

    async def aclose(self) -> None:
        """Write what waits, within two seconds, and close. Raises nothing."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_S):
                await self.flushed()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)
        if left := self._writer.abandon():
            log.error("the store was closed with %d records unwritten", left)
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._engine.dispose()
        except FAILURES as error:
            log.warning("the store could not be closed: %s", type(error).__name__)

    # --- inside --------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        """Once: bring the schema up to date, and end what this server left open."""
        async with self._preparing:
            if self._prepared:
                return
            async with self._engine.begin() as connection:
                await connection.run_sync(migrate)
                if self._server is not None:
                    await end_cut_off(connection, self._server)
            self._prepared = True

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection]:
        """In a transaction."""
        try:
            await self._prepare()
            async with self._engine.begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            log.debug("the store does not answer: %s", type(error).__name__)
            raise StoreUnavailable("The store does not answer; try again later.") from error

    async def _delete_old_daily(self) -> None:
        while True:
            await asyncio.sleep(DAY_S)
            try:
                await self.delete_old()
            except StoreError as error:
                log.error("old sessions could not be deleted: %s", error)

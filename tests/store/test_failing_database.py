"""A database that fails costs records, never a call."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit.turn_records import STARTED_AT, a_session
from tests.store.conftest import OpenStore
from voiceagent.store import writer
from voiceagent.store.errors import StoreUnavailable
from voiceagent.store.store import Store
from voiceagent.turn_record import SessionRecord, TurnRecord


class Waits:
    """Stands in for sleep: writes down the waits, and each lasts until it is let go."""

    def __init__(self) -> None:
        self.lasted: list[float] = []
        self._began, self._go = asyncio.Event(), asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.lasted.append(seconds)
        self._began.set()
        await self._go.wait()
        self._go.clear()

    async def until_next(self) -> None:
        """The writer failed, and waits."""
        await self._began.wait()
        self._began.clear()

    def let_go(self) -> None:
        self._go.set()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "v.db"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voiceagent.store.database.LOCKED_S", 0.01)


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program on the same file."""
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


async def test_what_waited_is_written_when_the_database_can_be_again(
    path: Path, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    waits = Waits()
    session, records = a_session(4)
    store = await Store.open(f"sqlite:///{path}", pause=waits)
    other.execute("BEGIN EXCLUSIVE")
    store.session_began(session)
    for record in records:
        store.turn(session.id, record)
    for _ in range(9):
        await waits.until_next()
        waits.let_go()
    await waits.until_next()
    assert waits.lasted == [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    other.execute("ROLLBACK")
    waits.let_go()
    await store.flushed()
    assert await store.turns(session.id) == records
    told = [line.message for line in caplog.records if line.levelno >= logging.WARNING]
    assert told == [
        "the store cannot be written: database is locked",
        "the store can be written again; 0 records lost",
    ]
    await store.aclose()
    assert store.dropped == 0


async def test_over_the_bound_the_oldest_turns_go_and_are_counted(
    path: Path, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_TURNS", 3)
    waits = Waits()
    session, records = a_session(8)
    store = await Store.open(f"sqlite:///{path}", pause=waits)
    other.execute("BEGIN EXCLUSIVE")
    store.session_began(session)
    store.turn(session.id, records[0])
    await waits.until_next()
    for record in records[1:]:
        store.turn(session.id, record)
    assert store.dropped == 5
    other.execute("ROLLBACK")
    waits.let_go()
    await store.flushed()
    assert await store.session(session.id) == session  # its turns would be nothing without it
    assert await store.turns(session.id) == records[5:]
    await store.aclose()


async def test_one_record_that_cannot_be_kept_costs_no_other(open_store: OpenStore) -> None:
    store = await open_store()
    session, records = a_session(3)
    store.session_began(session)
    store.session_began(session)  # twice
    store.turn("nobody's", records[0])
    store.turn(session.id, replace(records[0], number=2**70))
    store.turn(session.id, replace(records[0], number=77, decision={"a": float("nan")}))
    store.turn(session.id, replace(records[0], number=78, decision={"a": object()}))
    store.session_began(SessionRecord("no zone", STARTED_AT.replace(tzinfo=None)))
    for record in records:
        store.turn(session.id, record)
    await store.flushed()
    assert await store.turns(session.id) == records
    assert store.dropped == 6


async def test_no_log_holds_what_was_said(
    path: Path, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    waits = Waits()
    with caplog.at_level(logging.DEBUG, "voiceagent"):
        store = await Store.open(f"sqlite:///{path}", pause=waits, keep_text=True)
        other.execute("BEGIN EXCLUSIVE")
        store.turn("nobody's", TurnRecord(1, "spoken", user_text="a secret of mine"))
        await waits.until_next()
        other.execute("ROLLBACK")
        waits.let_go()
        await store.flushed()
        await store.aclose()
    assert "a record was refused" in caplog.text
    assert "secret" not in caplog.text


async def test_it_closes_within_its_bound_and_counts_what_is_lost(
    path: Path, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voiceagent.store.store.FLUSH_S", 0.05)
    store = await Store.open(f"sqlite:///{path}", pause=Waits())
    other.execute("BEGIN EXCLUSIVE")
    store.session_began(SessionRecord("s", STARTED_AT))
    store.turn("s", TurnRecord(1, "spoken"))
    async with asyncio.timeout(3):
        await store.aclose()
    assert store.dropped == 2


async def test_a_database_that_is_away_at_the_opening_is_tried_again(
    path: Path, other: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    waits = Waits()
    other.execute("BEGIN EXCLUSIVE")
    store = await Store.open(f"sqlite:///{path}", pause=waits)
    with pytest.raises(StoreUnavailable):
        await store.sessions()
    session = SessionRecord("s", STARTED_AT)
    store.session_began(session)
    await waits.until_next()
    other.execute("ROLLBACK")
    waits.let_go()
    await store.flushed()
    assert await store.latest() == session
    await store.aclose()


async def test_a_server_that_is_not_there_is_no_error_and_its_password_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    waits = Waits()
    with caplog.at_level(logging.DEBUG, "voiceagent"):
        store = await Store.open("postgresql://me:s3cret@127.0.0.1:9/name", pause=waits)
        store.session_began(SessionRecord("s", STARTED_AT))
        await waits.until_next()
        with pytest.raises(StoreUnavailable) as raised:
            await store.latest()
    assert "s3cret" not in f"{caplog.text} {raised.value} {store!r}"
    assert waits.lasted == [0.5]
    await store.aclose()
    assert store.dropped == 1

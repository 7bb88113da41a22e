"""What is written is read back, on both databases."""

from __future__ import annotations

import itertools
import os
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.kit.turn_records import STARTED_AT, a_session
from tests.store.any_records import sessions, turns
from tests.store.conftest import OpenStore
from voiceagent.store.store import Store
from voiceagent.store.tables import TurnRow
from voiceagent.turn_record import SessionRecord, TurnRecord

TEXTS = {"user_text": None, "reply_text": None, "heard_text": None}


async def keep(store: Store, session: SessionRecord, records: list[TurnRecord]) -> None:
    store.session_began(session)
    for record in records:
        store.turn(session.id, record)
    await store.flushed()


def content(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


class TestRoundTrip:
    async def test_a_session_is_read_back_as_it_was(self, open_store: OpenStore) -> None:
        session, records = a_session(text=True)
        store = await open_store(keep_text=True)
        await keep(store, session, records)
        assert await store.session(session.id) == session
        assert await store.turns(session.id) == records
        assert store.dropped == 0

    async def test_any_record_is_read_back_as_it_was(self, open_store: OpenStore) -> None:
        store = await open_store(keep_text=True)
        loop_safe = settings(
            max_examples=30,
            deadline=None,
            suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        )
        examples: list[tuple[SessionRecord, TurnRecord]] = []

        @loop_safe
        @given(sessions, turns)
        def collect(session: SessionRecord, turn: TurnRecord) -> None:
            named = replace(session, id=f"{len(examples)} {session.id}")
            examples.append((named, turn))

        collect()
        for session, turn in examples:
            await keep(store, session, [turn])
            assert await store.session(session.id) == session
            assert await store.turns(session.id) == [turn]
        assert store.dropped == 0

    async def test_what_no_database_takes_in_a_text_is_replaced(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store()
        session = SessionRecord("s", STARTED_AT, version="a\0b\ud800")
        await keep(store, session, [])
        found = await store.session("s")
        assert found is not None
        assert found.version == "a\ufffdb?"

    async def test_a_turn_replaces_the_one_of_its_number(self, open_store: OpenStore) -> None:
        session, records = a_session(3)
        store = await open_store()
        await keep(store, session, records)
        corrected = replace(records[1], pauses=(), costs=(), arrivals=(), decision=None)
        store.turn(session.id, corrected)
        await store.flushed()
        assert await store.turns(session.id) == [records[0], corrected, records[2]]

    async def test_a_session_ends(self, open_store: OpenStore) -> None:
        store = await open_store()
        session = SessionRecord("s", STARTED_AT)
        await keep(store, session, [])
        ended = STARTED_AT + timedelta(minutes=3)
        store.session_ended("s", ended)
        await store.flushed()
        assert await store.session("s") == replace(session, ended_at=ended)

    async def test_sessions_come_newest_first_and_page_by_page(self, open_store: OpenStore) -> None:
        store = await open_store()
        kept = [
            SessionRecord(f"s{day}", STARTED_AT + timedelta(days=day), STARTED_AT)
            for day in range(5)
        ]
        for session in kept:
            store.session_began(session)
        await store.flushed()
        assert await store.latest() == kept[4]
        first = await store.sessions(2)
        assert first == [kept[4], kept[3]]
        assert await store.sessions(9, first[-1].started_at) == [kept[2], kept[1], kept[0]]

    async def test_an_empty_store_has_nothing(self, open_store: OpenStore) -> None:
        store = await open_store()
        assert (await store.latest(), await store.session("s"), await store.turns("s")) == (
            None,
            None,
            [],
        )


class TestText:
    async def test_unless_it_is_kept_no_text_is_written(self, open_store: OpenStore) -> None:
        session, records = a_session(text=True)
        assert records[1].user_text
        store = await open_store()
        await keep(store, session, records)
        found = await store.turns(session.id)
        assert found == [replace(record, **TEXTS) for record in records]

    async def test_no_word_is_in_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "kept.db"
        session, records = a_session(text=True)
        store = await Store.open(f"sqlite:///{path}")
        await keep(store, session, records)
        await store.aclose()
        raw = content(tmp_path)
        assert session.id.encode() in raw
        assert b"When is my next" not in raw


class TestSessionsOfAnEarlierProcess:
    async def test_one_that_never_ended_gets_its_last_turns_time(
        self, open_store: OpenStore
    ) -> None:
        session, records = a_session(6)
        session = replace(session, ended_at=None, details=session.details | {"server": "a:1"})
        first = await open_store(server="a:1")
        await keep(first, session, records)
        await first.aclose()
        found = await (await open_store(server="a:1")).session(session.id)
        assert found is not None
        last = max(
            time
            for record in records
            for time in (record.ended_us, record.user_end_us)
            if time is not None
        )
        assert found.ended_at == session.started_at + timedelta(microseconds=last)
        assert found.details == session.details | {"cut_off": True}

    async def test_without_turns_it_ended_as_it_began(self, open_store: OpenStore) -> None:
        details = {"server": "a:1"}
        first = await open_store(server="a:1")
        await keep(first, SessionRecord("s", STARTED_AT, details=details), [])
        await first.aclose()
        found = await (await open_store(server="a:1")).session("s")
        assert found is not None
        assert (found.ended_at, found.details) == (STARTED_AT, details | {"cut_off": True})

    async def test_who_only_reads_and_another_server_leave_live_sessions_alone(
        self, open_store: OpenStore
    ) -> None:
        first = await open_store(server="a:1")
        await keep(first, SessionRecord("s", STARTED_AT, details={"server": "a:1"}), [])
        for reader in (await open_store(), await open_store(server="b:1")):
            found = await reader.session("s")
            assert found is not None
            assert found.ended_at is None

    async def test_one_that_goes_on_after_all_was_not_cut_off(self, open_store: OpenStore) -> None:
        first = await open_store(server="a:1")
        await keep(first, SessionRecord("s", STARTED_AT, details={"server": "a:1"}), [])
        second = await open_store(server="a:1")  # the same name twice, by mistake
        first.session_ended("s", STARTED_AT + timedelta(hours=1))
        await first.flushed()
        found = await second.session("s")
        assert found is not None
        assert found.ended_at == STARTED_AT + timedelta(hours=1)
        assert found.details == {"server": "a:1"}


class TestDeleting:
    async def test_a_session_goes_with_all_of_it_and_its_sound(
        self, open_store: OpenStore, tmp_path: Path
    ) -> None:
        store = await open_store(audio=tmp_path)
        session, records = a_session(8)
        other, others = a_session(8, seed=1)
        for one in (session, other):
            (tmp_path / one.id).mkdir()
            (tmp_path / one.id / "user.wav").write_bytes(b"sound")
        await keep(store, session, records)
        await keep(store, other, others)
        assert await store.delete(session.id)
        assert not await store.delete(session.id)
        assert await store.session(session.id) is None
        assert await store.turns(session.id) == []
        assert await store.turns(other.id) == others
        assert not (tmp_path / session.id).exists()
        assert (tmp_path / other.id / "user.wav").exists()

    async def test_what_waits_and_what_comes_later_is_not_kept(self, open_store: OpenStore) -> None:
        store = await open_store()
        session, records = a_session(3)
        store.session_began(session)
        store.turn(session.id, records[0])
        await store.delete(session.id)
        store.turn(session.id, records[1])
        store.session_ended(session.id, STARTED_AT)
        await store.flushed()
        assert await store.session(session.id) is None
        assert await store.turns(session.id) == []

    @pytest.mark.parametrize("name", ["..", "../other", "/etc", ""])
    async def test_only_a_sessions_folder_is_ever_deleted(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "audio").mkdir()
        (tmp_path / "other").mkdir()
        store = await Store.open(f"sqlite:///{tmp_path / 'v.db'}", audio=tmp_path / "audio")
        assert not await store.delete(name)
        await store.aclose()
        assert (tmp_path / "audio").is_dir()
        assert (tmp_path / "other").is_dir()

    async def test_old_sessions_go_at_the_opening(
        self, open_store: OpenStore, tmp_path: Path
    ) -> None:
        first = await open_store()
        for name, age in (("old", 31), ("young", 29)):
            await keep(first, SessionRecord(name, STARTED_AT - timedelta(days=age)), [])
        (tmp_path / "old").mkdir()
        for_ever = await open_store(keep_days=0, now=lambda: STARTED_AT)
        assert await for_ever.delete_old() == 0
        second = await open_store(keep_days=30, now=lambda: STARTED_AT, audio=tmp_path)
        assert [session.id for session in await second.sessions()] == ["young"]
        assert not (tmp_path / "old").exists()

    async def test_sound_without_a_session_goes_when_it_is_as_old(
        self, open_store: OpenStore, tmp_path: Path
    ) -> None:
        for name, age in (("lost", 31), ("fresh", 29)):
            (tmp_path / name).mkdir()
            moment = (STARTED_AT - timedelta(days=age)).timestamp()
            os.utime(tmp_path / name, (moment, moment))
        await open_store(keep_days=30, now=lambda: STARTED_AT, audio=tmp_path)
        assert not (tmp_path / "lost").exists()
        assert (tmp_path / "fresh").exists()

    async def test_the_end_brings_the_rate_that_is_known_by_then(
        self, open_store: OpenStore
    ) -> None:
        store = await open_store()
        await keep(store, SessionRecord("s", STARTED_AT), [])
        store.session_ended("s", STARTED_AT, 18.5)
        await store.flushed()
        found = await store.session("s")
        assert found is not None
        assert found.characters_per_second == 18.5


class TestLargeSessions:
    async def test_each_turn_costs_the_same_few_statements(self, tmp_path: Path) -> None:
        store = await Store.open(f"sqlite:///{tmp_path / 'v.db'}")
        session, (_, record, *_) = a_session(2)
        chunks = tuple(itertools.islice(itertools.cycle(record.arrivals), 60))
        records = [replace(record, number=number, arrivals=chunks) for number in range(1, 501)]
        await keep(store, session, records)
        assert await store.turns(session.id) == records
        await store.aclose()
        plan = sqlite3.connect(tmp_path / "v.db")
        for table in ("decisions", "arrivals", "pauses", "costs"):
            key = f"SELECT * FROM {table} WHERE session_id = ? AND turn = ?"
            (*_, how) = plan.execute(f"EXPLAIN QUERY PLAN {key}", ("s", 1)).fetchone()
            assert "SEARCH" in how, how  # what a replaced turn takes with it is found by its key
        plan.close()


def test_records_hold_only_what_has_a_column() -> None:
    """A field that is new in the contract needs a column and a migration."""
    apart = {"pauses", "arrivals", "decision", "costs"}
    fields = set(TurnRecord.__dataclass_fields__) - apart
    assert fields | {"session_id"} == set(TurnRow.__table__.columns.keys())

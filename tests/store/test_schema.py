"""The schema that the migrations make, and databases that cannot be used."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from tests.kit.turn_records import STARTED_AT
from tests.store.conftest import OpenStore
from voiceagent.store import database
from voiceagent.store.database import open_engine
from voiceagent.store.errors import StoreError
from voiceagent.store.schema import migrate
from voiceagent.store.store import Store
from voiceagent.store.tables import Base
from voiceagent.turn_record import SessionRecord


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, Base.metadata))


async def test_the_migrations_make_what_the_program_expects(address: str) -> None:
    engine = open_engine(address)
    async with engine.begin() as connection:
        missing = await connection.run_sync(differences)
        await connection.run_sync(migrate)
        await connection.run_sync(migrate)  # once more is harmless
        there = await connection.run_sync(differences)
    await engine.dispose()
    assert len(missing) >= len(Base.metadata.tables)
    assert there == []


async def test_a_database_of_a_newer_version_is_one_clear_error(
    address: str, open_store: OpenStore
) -> None:
    await (await open_store()).aclose()
    engine = open_engine(address)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    with pytest.raises(StoreError, match=r"newer version of voiceagent \(9999\): update"):
        await open_store()


async def test_what_was_kept_is_there_after_a_restart(open_store: OpenStore) -> None:
    first = await open_store()
    session = SessionRecord("s", STARTED_AT, STARTED_AT)
    first.session_began(session)
    await first.aclose()
    assert await (await open_store()).latest() == session


async def test_the_file_is_for_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "v.db"
    store = await Store.open(f"sqlite:///{path}")
    store.session_began(SessionRecord("s", STARTED_AT))
    await store.flushed()
    files = {name: tmp_path / "new" / name for name in ("v.db", "v.db-wal", "v.db-shm")}
    assert {
        name: stat.S_IMODE(file.stat().st_mode) for name, file in files.items()
    } == dict.fromkeys(files, 0o600)
    await store.aclose()


@pytest.mark.parametrize(
    "address",
    ["mysql://me:s3cret@host/name", "s3cret", "sqlite://", "sqlite:///:memory:", "x://s3cret:y/z"],
)
async def test_a_wrong_address_is_one_sentence_without_it(address: str) -> None:
    with pytest.raises(StoreError, match="VOICEAGENT_STORE_URL") as raised:
        await Store.open(address)
    assert "s3cret" not in str(raised.value)


async def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be kept in"):
        await Store.open(f"sqlite:///{tmp_path / 'file' / 'v.db'}")


async def test_postgres_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "find_spec", lambda name: None)
    with pytest.raises(StoreError, match=r"install voiceagent\[postgres\]"):
        await Store.open("postgresql://me:secret@127.0.0.1/name")

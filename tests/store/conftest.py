"""Both databases: a test that takes ``address`` runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.kit.postgres import postgres
from voiceagent.store.store import Store

OpenStore = Callable[..., Any]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def address(request: Any, tmp_path: Path) -> str:
    """Of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'kept' / 'voiceagent.db'}"
    server: str = request.getfixturevalue("postgres_server")
    connection = await asyncpg.connect(server)
    name = f"test_{secrets.token_hex(8)}"
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return server.replace("/postgres", f"/{name}")


@pytest.fixture
async def open_store(address: str) -> AsyncIterator[OpenStore]:
    """``Store.open`` on that database; what it opened is closed at the end."""
    opened = []

    async def open_one(**options: Any) -> Store:
        store = await Store.open(address, **options)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.aclose()

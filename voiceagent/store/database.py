"""An address to an engine: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

import json
import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from voiceagent.store.errors import StoreError

LOCKED_S = 1.0
"""How long a statement waits for another program that writes to the same SQLite file."""
CONNECT_S, STATEMENT_S = 5.0, 10.0

_to_json = partial(json.dumps, allow_nan=False, separators=(",", ":"))


def open_engine(address: str) -> AsyncEngine:
    """The engine for ``sqlite:///PATH`` or ``postgresql://...``; connects to nothing yet.

    Makes the file of SQLite, for this user alone. Raises StoreError.
    """
    url = _url(address)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    if find_spec("asyncpg") is None:
        raise StoreError("PostgreSQL needs a further package: install voiceagent[postgres].")
    limits = {"timeout": CONNECT_S, "command_timeout": STATEMENT_S}
    return _engine(url.set(drivername="postgresql+asyncpg"), limits, pool_pre_ping=True)


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise StoreError("VOICEAGENT_STORE_URL is no address of a database.") from None
    if url.drivername in ("sqlite", "postgresql", "postgres"):
        return url
    raise StoreError("VOICEAGENT_STORE_URL takes sqlite:///PATH or postgresql://USER@HOST/NAME.")


def _sqlite(url: URL) -> AsyncEngine:
    if not url.database or url.database == ":memory:":
        raise StoreError("VOICEAGENT_STORE_URL names no file: write sqlite:///PATH.")
    path = Path(url.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"The store cannot be kept in {path}: {error.strerror}.") from None
    engine = _engine(url.set(drivername="sqlite+aiosqlite"), {"timeout": LOCKED_S})
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    return engine


def _engine(url: URL, connecting: dict[str, Any], **options: Any) -> AsyncEngine:
    return create_async_engine(
        url,
        connect_args=connecting,
        json_serializer=_to_json,
        hide_parameters=True,  # errors are logged, and rows may hold what people said
        **options,
    )


def _set_up_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()

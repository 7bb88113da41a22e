"""Reads sessions and turns back from the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from voiceagent.store.rows import Values, session_record, turn_records
from voiceagent.store.tables import (
    ArrivalsRow,
    Base,
    CostRow,
    DecisionRow,
    PauseRow,
    SessionRow,
    TurnRow,
)
from voiceagent.turn_record import SessionRecord, TurnRecord

_NEWEST_FIRST = (SessionRow.started_at.desc(), SessionRow.id.desc())


async def read_sessions(
    connection: AsyncConnection, limit: int, before: datetime | None = None
) -> list[SessionRecord]:
    """The latest ``limit`` sessions, newest first; only those that began ``before`` that time."""
    query = select(SessionRow.__table__).order_by(*_NEWEST_FIRST).limit(limit)
    if before is not None:
        query = query.where(SessionRow.started_at < before)
    return [session_record(row) for row in await _all(connection, query)]


async def read_session(connection: AsyncConnection, session_id: str) -> SessionRecord | None:
    """One session; None where there is no such."""
    query = select(SessionRow.__table__).where(SessionRow.id == session_id)
    rows = await _all(connection, query)
    return session_record(rows[0]) if rows else None


async def read_turns(connection: AsyncConnection, session_id: str) -> list[TurnRecord]:
    """All turns of a session in their order: one query for each table."""
    query = select(TurnRow.__table__).where(TurnRow.session_id == session_id)
    turns = await _all(connection, query.order_by(TurnRow.number))
    children: dict[type[Base], list[Values]] = {
        table: await _all(connection, select(table.__table__).where(table.session_id == session_id))
        for table in (DecisionRow, ArrivalsRow)
    }
    for listed in (PauseRow, CostRow):
        rows = select(listed.__table__).where(listed.session_id == session_id)
        children[listed] = await _all(connection, rows.order_by(listed.turn, listed.position))
    return turn_records(turns, children)


async def _all(connection: AsyncConnection, query: Select[Any]) -> list[Values]:
    return [row._asdict() for row in await connection.execute(query)]

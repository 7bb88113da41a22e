"""What is to be written: one job for each thing that a session tells the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from voiceagent.store.rows import session_row, turn_rows
from voiceagent.store.tables import SessionRow, TurnRow
from voiceagent.turn_record import SessionRecord, TurnRecord

CUT_OFF = "cut_off"
"""The detail of a session whose end nobody told: the program ended before it did."""


@dataclass(frozen=True, slots=True)
class Began:
    """A session is there."""

    session: SessionRecord

    @property
    def session_id(self) -> str:
        """Whose job it is."""
        return self.session.id

    async def write(self, connection: AsyncConnection) -> None:
        """Insert it."""
        await connection.execute(insert(SessionRow), [session_row(self.session)])


@dataclass(frozen=True, slots=True)
class Ended:
    """A session is over."""

    session_id: str
    ended_at: datetime
    characters_per_second: float | None = None

    async def write(self, connection: AsyncConnection) -> None:
        """Note when. It was not cut off after all if another program thought so."""
        this = SessionRow.id == self.session_id
        details = await connection.scalar(select(SessionRow.details).where(this))
        kept = {name: value for name, value in (details or {}).items() if name != CUT_OFF}
        values: dict[str, Any] = {"ended_at": self.ended_at, "details": kept}
        if self.characters_per_second is not None:
            values["characters_per_second"] = self.characters_per_second
        await connection.execute(update(SessionRow).where(this).values(**values))


@dataclass(frozen=True, slots=True)
class Turned:
    """A turn is there, or is corrected."""

    session_id: str
    turn: TurnRecord
    keep_text: bool

    async def write(self, connection: AsyncConnection) -> None:
        """Put it in the place of the one with its number, if there is one."""
        rows = turn_rows(self.session_id, self.turn, keep_text=self.keep_text)
        of_session = TurnRow.session_id == self.session_id
        await connection.execute(
            delete(TurnRow).where(of_session, TurnRow.number == self.turn.number)
        )
        for table, values in rows.by_table():
            await connection.execute(insert(table), values)


Job: TypeAlias = Began | Ended | Turned

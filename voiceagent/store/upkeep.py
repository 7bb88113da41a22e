"""What is done to old sessions: those that never ended get an end, those past their time go."""

from __future__ import annotations

import asyncio
import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from voiceagent.store.jobs import CUT_OFF
from voiceagent.store.tables import SessionRow, TurnRow

SERVER = "server"
"""The detail of a session that names who served it."""
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TIMES = (
    *(TurnRow.ended_us, TurnRow.sounded_us, TurnRow.requested_us, TurnRow.committed_us),
    *(TurnRow.user_end_us, TurnRow.user_onset_us),
)


def is_session_id(text: str) -> bool:
    """Could a session have this id? Others are in no path and no query."""
    return _SESSION_ID.fullmatch(text) is not None


async def end_cut_off(connection: AsyncConnection, server: str) -> None:
    """Sessions that ``server`` (their detail of that name) had left open when it went down: they
    get their last turn's time as their end, and the detail ``cut_off``."""
    open_ended = select(SessionRow.id, SessionRow.started_at, SessionRow.details)
    for row in await connection.execute(open_ended.where(SessionRow.ended_at.is_(None))):
        if row.details.get(SERVER) != server:  # another server's, and maybe going on
            continue
        latest = select(*(func.max(time) for time in _TIMES)).where(TurnRow.session_id == row.id)
        times = (await connection.execute(latest)).one()
        lasted = max((time for time in times if time is not None), default=0)
        await connection.execute(
            update(SessionRow)
            .where(SessionRow.id == row.id)
            .values(
                ended_at=row.started_at + timedelta(microseconds=max(0, lasted)),
                details=row.details | {CUT_OFF: True},
            )
        )


async def past_their_time(connection: AsyncConnection, before: datetime) -> list[str]:
    """The ids of the sessions that began before a time."""
    return list(
        await connection.scalars(select(SessionRow.id).where(SessionRow.started_at < before))
    )


async def delete_session(
    connection: AsyncConnection, session_id: str, audio: Path | None = None
) -> bool:
    """Delete a session with all of it; its sound first, so that none is left without a session.

    ``audio`` is the folder that holds a folder for each session. Returns whether it was there.
    Raises OSError where its sound cannot be deleted.
    """
    if audio is not None and is_session_id(session_id):
        await asyncio.to_thread(delete_folder, audio / session_id)
    gone = await connection.execute(delete(SessionRow).where(SessionRow.id == session_id))
    return gone.rowcount > 0


def delete_folder(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)


def folders_before(audio: Path, before: datetime) -> list[str]:
    """The sessions whose sound was last written before that time."""
    if not audio.is_dir():
        return []
    found = (path for path in audio.iterdir() if path.is_dir() and is_session_id(path.name))
    return [path.name for path in found if path.stat().st_mtime < before.timestamp()]

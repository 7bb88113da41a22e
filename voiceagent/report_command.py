"""`voiceagent report`: what a session was like, as a page or as data, from what was kept of it."""

from __future__ import annotations

import asyncio
import json
import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url

from voiceagent.console import fail, settings_with
from voiceagent.report.figures import report
from voiceagent.report.html import report_html
from voiceagent.settings import Settings
from voiceagent.sound_kept import clips
from voiceagent.store.errors import StoreError
from voiceagent.store.store import Store
from voiceagent.turn_record import SessionRecord, TurnRecord

LISTED = 20
NONE = "No session is kept yet: talk to the server first."

Found = tuple[SessionRecord, Sequence[TurnRecord]]


def report_command(
    session: Annotated[
        str | None, typer.Argument(help="The session's id; without it, what there is.")
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="The session that began last.")] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the data instead of writing the page.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the page. [report-SESSION.html]"),
    ] = None,
) -> None:
    """Report on a session: its timeline, its pauses and why, its cost."""
    if session and last:
        fail("Give a session or --last, not both.", 2)
    settings = settings_with()
    if not (session or last):
        _list(asyncio.run(_sessions(_address(settings))))
        return
    found, turns = asyncio.run(_one(_address(settings), session))
    if as_json:
        typer.echo(json.dumps(report(found, turns), allow_nan=False, indent=2))
        return
    path = output or Path(f"report-{found.id}.html")
    sound = clips(settings.home / "audio" / found.id, turns)
    _write(path, report_html(found, turns, sound))
    typer.echo(f"Written to {path}")
    if open_page and not webbrowser.open(path.absolute().as_uri()):
        fail(f"No browser could be opened; the page is in {path}.")


async def _sessions(address: str) -> list[SessionRecord]:
    store = await _opened(address)
    try:
        return await store.sessions(LISTED)
    except StoreError as error:
        fail(str(error))
    finally:
        await store.aclose()


async def _one(address: str, session: str | None) -> Found:
    """The session of this id, or the last one. Ends the program where there is none."""
    store = await _opened(address)
    try:
        found = await (store.session(session) if session else store.latest())
        if found is None:
            fail(f"There is no session {session}." if session else NONE)
        return found, await store.turns(found.id)
    except StoreError as error:
        fail(str(error))
    finally:
        await store.aclose()


def _address(settings: Settings) -> str:
    """Of a database that is there."""
    address = settings.database
    if address is None:
        fail("Nothing is kept: VOICEAGENT_STORE_URL is off.", 2)
    url = make_url(address)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        fail(NONE)
    return address


async def _opened(address: str) -> Store:
    try:
        return await Store.open(address)
    except StoreError as error:
        fail(str(error))


def _list(sessions: Sequence[SessionRecord]) -> None:
    if not sessions:
        typer.echo(NONE)
        return
    table = Table("session", "began", "lasted", box=None)
    for one in sessions:
        lasted = "" if one.ended_at is None else str(one.ended_at - one.started_at).split(".")[0]
        table.add_row(one.id, f"{one.started_at.astimezone():%Y-%m-%d %H:%M:%S}", lasted)
    Console().print(table)
    typer.echo("Report on one with `voiceagent report SESSION` or `voiceagent report --last`.")


def _write(path: Path, page: str) -> None:
    """For this user alone: it may hold what people said."""
    try:
        with open(path, "w", encoding="utf-8", opener=_private) as file:
            file.write(page)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}.")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)

"""Brings a database to the schema of this version."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from voiceagent.store.errors import StoreError

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 7_204_117
"""Any number of ours: two servers that start at once must not both migrate."""


def migrate(connection: Connection) -> None:
    """Apply the versions that ``connection``'s database lacks, in its transaction.

    Raises StoreError for a database that a newer version of the program has written.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    known = {version.revision for version in ScriptDirectory.from_config(config).walk_revisions()}
    there = set(MigrationContext.configure(connection).get_current_heads())
    if there - known:
        raise StoreError(
            "The store's database was made by a newer version of voiceagent "
            f"({', '.join(sorted(there - known))}): update voiceagent, or name another database "
            "in VOICEAGENT_STORE_URL."
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")

"""The first schema: sessions, their turns, and what belongs to a turn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("transport", sa.Text(), nullable=False),
        sa.Column("reports_playout", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("characters_per_second", sa.Double(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_started_at", "sessions", ["started_at"])
    _create_turns()
    _of_turn("decisions", sa.Column("decision", sa.JSON(), nullable=False))
    _of_turn("arrivals", sa.Column("chunks", sa.JSON(), nullable=False))
    _of_turn(
        "pauses",
        *_whole("position", "at_us", "duration_us"),
        *_text("place", "cause"),
        *_whole("underrun_us", "stretched_us", "sample"),
    )
    _of_turn(
        "costs",
        *_whole("position"),
        *_text("backend", "purpose", "outcome"),
        *_whole("prompt_tokens", "cached_tokens", "completion_tokens"),
        sa.Column("estimated", sa.Boolean(), nullable=False),
        sa.Column("usd", sa.Double()),
    )


def downgrade() -> None:
    """Drop the tables, and what they hold."""
    for table in ("costs", "pauses", "arrivals", "decisions", "turns", "sessions"):
        op.drop_table(table)


def _create_turns() -> None:
    op.create_table(
        "turns",
        sa.Column("session_id", sa.Text(), nullable=False),
        *_whole("number"),
        *_text("kind"),
        *_text("user_item", null=True),
        *_whole("user_onset_us", "user_end_us", "committed_us", null=True),
        *_text("dropped", null=True),
        *_whole("reply", null=True),
        *_text("item", null=True),
        *_whole("requested_us", "sounded_us", "audible_us", "ended_us", null=True),
        *_text("status", "trouble", null=True),
        sa.Column("measured", sa.Boolean(), nullable=False),
        *_whole("gap_us", null=True),
        sa.Column("parts", sa.JSON(), nullable=False),
        *_whole("speech_us", "underruns"),
        sa.Column("cushion_ms", sa.Double()),
        *_whole("stop_us", null=True),
        sa.Column("false_stop", sa.Boolean(), nullable=False),
        *_whole("characters", "heard_characters"),
        sa.Column("first_sentence_heard", sa.Boolean(), nullable=False),
        *_whole("written_us", "final_usage", null=True),
        sa.Column("anchors", sa.JSON(), nullable=False),
        *_text("user_text", "reply_text", "heard_text", null=True),
        sa.PrimaryKeyConstraint("session_id", "number", name="pk_turns"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_turns_sessions", ondelete="CASCADE"
        ),
    )


def _of_turn(table: str, *columns: sa.Column[object]) -> None:
    """A table whose rows go with their turn."""
    key = ["session_id", "turn"]
    more = [column.name for column in columns if column.name == "position"]
    op.create_table(
        table,
        *_text("session_id"),
        *_whole("turn"),
        *columns,
        sa.PrimaryKeyConstraint(*key, *more, name=f"pk_{table}"),
        sa.ForeignKeyConstraint(
            key,
            ["turns.session_id", "turns.number"],
            name=f"fk_{table}_turns",
            ondelete="CASCADE",
        ),
    )


def _text(*names: str, null: bool = False) -> list[sa.Column[object]]:
    return [sa.Column(name, sa.Text(), nullable=null) for name in names]


def _whole(*names: str, null: bool = False) -> list[sa.Column[object]]:
    return [sa.Column(name, sa.BigInteger(), nullable=null, autoincrement=False) for name in names]

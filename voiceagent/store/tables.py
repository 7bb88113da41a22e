"""The tables. Columns are named as the fields of ``voiceagent.turn_record``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    MetaData,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US = timedelta(microseconds=1)


class Moment(TypeDecorator[datetime]):
    """A time with its zone, kept as microseconds since 1970: exact, and the same everywhere."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Raises TypeError for a time without a zone."""
        return None if value is None else (value - _EPOCH) // _US

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """In UTC."""
        return None if value is None else _EPOCH + value * _US


class Base(DeclarativeBase):
    """What all tables share: the types, and names for constraints that a migration can use."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(referred_table_name)s",
            "ix": "ix_%(table_name)s_%(column_0_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - as SQLAlchemy wants it
        str: Text,
        int: BigInteger,
        float: Double,
        datetime: Moment,
        dict[str, Any]: JSON,
        list[Any]: JSON,
    }


class SessionRow(Base):
    """One session."""

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = mapped_column(index=True)
    ended_at: Mapped[datetime | None]
    transport: Mapped[str]
    reports_playout: Mapped[bool]
    version: Mapped[str]
    characters_per_second: Mapped[float]
    details: Mapped[dict[str, Any]]


class TurnRow(Base):
    """One turn, without what lies in the tables below."""

    __tablename__ = "turns"

    session_id: Mapped[str] = mapped_column(
        ForeignKey(SessionRow.id, ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    user_item: Mapped[str | None]
    user_onset_us: Mapped[int | None]
    user_end_us: Mapped[int | None]
    committed_us: Mapped[int | None]
    dropped: Mapped[str | None]
    reply: Mapped[int | None]
    item: Mapped[str | None]
    requested_us: Mapped[int | None]
    sounded_us: Mapped[int | None]
    audible_us: Mapped[int | None]
    ended_us: Mapped[int | None]
    status: Mapped[str | None]
    trouble: Mapped[str | None]
    measured: Mapped[bool]
    gap_us: Mapped[int | None]
    parts: Mapped[list[Any]]
    """[name, us] each."""
    speech_us: Mapped[int]
    underruns: Mapped[int]
    cushion_ms: Mapped[float | None]
    stop_us: Mapped[int | None]
    false_stop: Mapped[bool]
    characters: Mapped[int]
    heard_characters: Mapped[int]
    first_sentence_heard: Mapped[bool]
    written_us: Mapped[int | None]
    final_usage: Mapped[int | None]
    anchors: Mapped[list[Any]]
    """[sample, at_us] each."""
    user_text: Mapped[str | None]
    reply_text: Mapped[str | None]
    heard_text: Mapped[str | None]


class OfTurn:
    """The columns that name a turn."""

    session_id: Mapped[str] = mapped_column(primary_key=True)
    turn: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


def _belongs_to_its_turn() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["session_id", "turn"], [TurnRow.session_id, TurnRow.number], ondelete="CASCADE"
    )


class DecisionRow(OfTurn, Base):
    """Who answered a turn and why; none where nobody was asked."""

    __tablename__ = "decisions"
    __table_args__ = (_belongs_to_its_turn(),)

    decision: Mapped[dict[str, Any]]


class ArrivalsRow(OfTurn, Base):
    """All content chunks of a turn's answer; none where there were none."""

    __tablename__ = "arrivals"
    __table_args__ = (_belongs_to_its_turn(),)

    chunks: Mapped[list[Any]]
    """[t_us, tokens or null, characters] each."""


class PauseRow(OfTurn, Base):
    """One pause that the listener heard; ``position`` from 0 in the turn."""

    __tablename__ = "pauses"
    __table_args__ = (_belongs_to_its_turn(),)

    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at_us: Mapped[int]
    duration_us: Mapped[int]
    place: Mapped[str]
    cause: Mapped[str]
    underrun_us: Mapped[int]
    stretched_us: Mapped[int]
    sample: Mapped[int]


class CostRow(OfTurn, Base):
    """What one attempt used; ``position`` from 0 in the turn."""

    __tablename__ = "costs"
    __table_args__ = (_belongs_to_its_turn(),)

    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    backend: Mapped[str]
    purpose: Mapped[str]
    outcome: Mapped[str]
    prompt_tokens: Mapped[int]
    cached_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    estimated: Mapped[bool]
    usd: Mapped[float | None]

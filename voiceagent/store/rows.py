"""Records to rows of the tables, and back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.store.tables import ArrivalsRow, Base, CostRow, DecisionRow, PauseRow, TurnRow
from voiceagent.turn_record import (
    Anchor,
    ArrivalRecord,
    CostRecord,
    PauseRecord,
    SessionRecord,
    TurnRecord,
)

Values = dict[str, Any]

_APART = {"parts", "pauses", "arrivals", "decision", "costs", "anchors"}
_TEXTS = {"user_text", "reply_text", "heard_text"}
_SESSION = [field.name for field in fields(SessionRecord)]
_TURN = [field.name for field in fields(TurnRecord) if field.name not in _APART]
_PAUSE = [field.name for field in fields(PauseRecord)]
_COST = [field.name for field in fields(CostRecord)]


@dataclass(slots=True)
class TurnRows:
    """What the tables hold of one turn."""

    turn: Mapping[str, Any]
    decision: Mapping[str, Any] | None = None
    arrivals: Mapping[str, Any] | None = None
    pauses: list[Mapping[str, Any]] = field(default_factory=list)
    costs: list[Mapping[str, Any]] = field(default_factory=list)

    def by_table(self) -> list[tuple[type[Base], Sequence[Mapping[str, Any]]]]:
        """The rows of each table that has any, the turn itself first."""
        found: list[tuple[type[Base], Sequence[Mapping[str, Any]]]] = [
            (TurnRow, [self.turn]),
            (DecisionRow, [self.decision] if self.decision else []),
            (ArrivalsRow, [self.arrivals] if self.arrivals else []),
            (PauseRow, self.pauses),
            (CostRow, self.costs),
        ]
        return [(table, rows) for table, rows in found if rows]


def session_row(session: SessionRecord) -> Values:
    """The row of a session."""
    return _values(session, _SESSION)


def session_record(row: Mapping[str, Any]) -> SessionRecord:
    """The session of a row."""
    return SessionRecord(**{name: row[name] for name in _SESSION})


def turn_rows(session_id: str, turn: TurnRecord, *, keep_text: bool) -> TurnRows:
    """The rows of a turn; without ``keep_text`` its texts are left out, whatever it holds."""
    values = _values(turn, _TURN)
    if not keep_text:
        values |= dict.fromkeys(_TEXTS)
    values["session_id"] = session_id
    values["parts"] = [[_plain(name), us] for name, us in turn.parts]
    values["anchors"] = [[anchor.sample, anchor.at_us] for anchor in turn.anchors]
    key = {"session_id": session_id, "turn": turn.number}
    chunks = [[chunk.t_us, chunk.tokens, chunk.characters] for chunk in turn.arrivals]
    return TurnRows(
        values,
        None if turn.decision is None else key | {"decision": turn.decision},
        key | {"chunks": chunks} if chunks else None,
        _numbered(key, turn.pauses, _PAUSE),
        _numbered(key, turn.costs, _COST),
    )


def turn_record(rows: TurnRows) -> TurnRecord:
    """The turn of its rows; pauses and costs in their order."""
    turn = rows.turn
    return TurnRecord(
        **{name: turn[name] for name in _TURN},
        parts=tuple((name, us) for name, us in turn["parts"]),
        anchors=tuple(Anchor(*anchor) for anchor in turn["anchors"]),
        arrivals=_arrivals(rows.arrivals),
        decision=None if rows.decision is None else rows.decision["decision"],
        pauses=tuple(_pause(row) for row in rows.pauses),
        costs=tuple(CostRecord(**{name: row[name] for name in _COST}) for row in rows.costs),
    )


def turn_records(
    turns: Iterable[Values], children: Mapping[type[Base], Iterable[Values]]
) -> list[TurnRecord]:
    """The turns of one session in their order, put together from all rows of each table."""
    found = {row["number"]: TurnRows(row) for row in turns}
    for row in children[DecisionRow]:
        found[row["turn"]].decision = row
    for row in children[ArrivalsRow]:
        found[row["turn"]].arrivals = row
    for row in children[PauseRow]:
        found[row["turn"]].pauses.append(row)
    for row in children[CostRow]:
        found[row["turn"]].costs.append(row)
    return [turn_record(rows) for rows in found.values()]


def _numbered(key: Values, records: Iterable[Any], names: list[str]) -> list[Mapping[str, Any]]:
    return [
        key | {"position": position} | _values(record, names)
        for position, record in enumerate(records)
    ]


def _arrivals(row: Mapping[str, Any] | None) -> tuple[ArrivalRecord, ...]:
    chunks = row["chunks"] if row else []
    return tuple(ArrivalRecord(at, characters, tokens) for at, tokens, characters in chunks)


def _pause(row: Mapping[str, Any]) -> PauseRecord:
    values = {name: row[name] for name in _PAUSE}
    return PauseRecord(
        **values | {"place": Place(values["place"]), "cause": Cause(values["cause"])}
    )


def _values(record: Any, names: Iterable[str]) -> Values:
    return {name: _plain(getattr(record, name)) for name in names}


def _plain(value: Any) -> Any:
    """Enumerations by their value, and text without what no database takes in a text."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return value

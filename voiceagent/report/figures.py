"""The report of one session as plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from voiceagent.report.moments import Moment, moments
from voiceagent.report.session_figures import SessionFigures, cold_turn, session_figures
from voiceagent.report.turn_figures import TurnFigures, turn_figures
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.pauses import DEFAULT_CUTS, Cuts, Place
from voiceagent.rhythm.values import MISSING, NEGATIVE, Unknown, Value
from voiceagent.turn_record import SessionRecord, TurnRecord

_INNER = frozenset({"outcome", "arrived"})
"""What the figures of a turn hold for the roll-up only."""


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of one session, known or with the reason why not."""

    session: SessionRecord
    records: tuple[TurnRecord, ...]
    turns: tuple[TurnFigures, ...]
    """One for each record."""
    rolled_up: SessionFigures
    moments: tuple[Moment, ...]
    verdict: str


def figures_of(
    session: SessionRecord,
    turns: Sequence[TurnRecord],
    cuts: Mapping[Place, Cuts] = DEFAULT_CUTS,
) -> Figures:
    """Measure ``turns``; ``cuts`` say from when a pause is of which class."""
    cold = cold_turn(turns)
    measured = tuple(turn_figures(session, turn, cuts, cold=turn.number == cold) for turn in turns)
    rolled_up = session_figures(turns, measured, cuts)
    return Figures(
        session, tuple(turns), measured, rolled_up, moments(turns, measured), verdict(rolled_up)
    )


def report(
    session: SessionRecord,
    turns: Sequence[TurnRecord],
    cuts: Mapping[Place, Cuts] = DEFAULT_CUTS,
) -> dict[str, Any]:
    """The report as data for ``json.dumps(allow_nan=False)``: milliseconds, null where unknown.

    The reason for a null ``x`` is in ``x_reason``.
    """
    figures = figures_of(session, turns, cuts)
    data = {
        "verdict": figures.verdict,
        "session": _session(session),
        "rolled_up": figures.rolled_up,
        "moments": figures.moments,
        "turns": [
            _turn(turn, one) for turn, one in zip(figures.records, figures.turns, strict=True)
        ],
    }
    return cast(dict[str, Any], plain(data))


def verdict(rolled_up: SessionFigures) -> str:
    """The session in one line: "27 of 30 turns within a second; 3 awkward pauses"."""
    classes = rolled_up.gap.all.classes
    total = sum(classes.values())
    slow = classes["awkward"] + classes["bad"] + classes["broken"]
    turns = (
        f"{total - slow} of {total} {_turns(total)} within a second"
        if total
        else "No response gap is known"
    )
    awkward = rolled_up.awkward_pauses
    if rolled_up.speech_ms <= 0 and not awkward:
        return f"{turns}; no speech of the agent is recorded"
    return f"{turns}; {awkward or 'no'} awkward {'pause' if awkward == 1 else 'pauses'}"


def session_ms(session: SessionRecord) -> Value:
    """How long the session lasted."""
    if session.ended_at is None:
        return Unknown(MISSING)
    ms = (session.ended_at - session.started_at).total_seconds() * 1_000
    return ms if ms >= 0 else Unknown(NEGATIVE)


def _turns(n: int) -> str:
    return "turn" if n == 1 else "turns"


def _session(session: SessionRecord) -> dict[str, object]:
    return {
        "id": session.id,
        "started_at": session.started_at.isoformat(),
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
        "duration_ms": session_ms(session),
        "transport": session.transport,
        "reports_playout": session.reports_playout,
        "version": session.version,
        "characters_per_second": session.characters_per_second,
        "details": session.details,
    }


def _turn(turn: TurnRecord, one: TurnFigures) -> dict[str, object]:
    """The record's own facts, then its figures."""
    facts: dict[str, object] = {
        "number": turn.number,
        "kind": turn.kind,
        "user_item": turn.user_item,
        "item": turn.item,
        "reply": turn.reply,
        "status": turn.status,
        "trouble": turn.trouble,
        "dropped": turn.dropped,
        "measured_at_the_ear": turn.measured,
        "characters": turn.characters,
        "heard_characters": turn.heard_characters,
        "first_sentence_heard": turn.first_sentence_heard,
        "cushion_ms": turn.cushion_ms,
        "user_text": turn.user_text,
        "reply_text": turn.reply_text,
        "heard_text": turn.heard_text,
    }
    for name in ("user_onset", "user_end", "committed", "requested", "written"):
        facts[f"{name}_ms"] = _ms(getattr(turn, f"{name}_us"))
    for name in ("sounded", "audible", "ended"):
        facts[f"{name}_ms"] = _ms(getattr(turn, f"{name}_us"))
    figures = {f.name: getattr(one, f.name) for f in fields(one) if f.name not in _INNER}
    return {**facts, **figures, "costs": turn.costs, "decision": turn.decision}


def _ms(us: int | None) -> float | None:
    return None if us is None else us / 1_000

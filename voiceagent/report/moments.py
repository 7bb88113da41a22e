"""The moments of a session worth listening to: slow answers, and awkward pauses within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voiceagent.report.turn_figures import TurnFigures
from voiceagent.rhythm.gaps import NO_ANSWER, SLOW_MS
from voiceagent.rhythm.pauses import DISTURBING
from voiceagent.rhythm.values import Unknown, Value
from voiceagent.turn_record import TurnRecord


@dataclass(frozen=True, slots=True)
class Moment:
    """One silence that a listener will have found awkward."""

    kind: Literal["gap", "pause"]
    turn: int
    at_ms: Value
    """Since the session began, which is when its recording begins."""
    duration_ms: Value
    """Unknown for an answer that never came."""
    moment_class: str
    place: str
    """Where a pause lies in the text; "before the answer" for a gap."""
    cause: str
    """Of a gap, the longest of its parts."""
    pause_index: int | None = None


def moments(turns: Sequence[TurnRecord], figures: Sequence[TurnFigures]) -> tuple[Moment, ...]:
    """In the order in which they were heard; those without a time last."""
    found: list[Moment] = []
    for turn, one in zip(turns, figures, strict=True):
        gap = _slow_gap(turn, one)
        found += [gap] if gap else []
        found += [
            Moment(
                "pause",
                turn.number,
                pause.at_ms,
                pause.duration_ms,
                pause.pause_class.value,
                pause.place.value,
                pause.cause.value,
                pause.index,
            )
            for pause in one.pauses
            if not isinstance(pause.pause_class, Unknown) and pause.pause_class in DISTURBING
        ]
    return tuple(sorted(found, key=_when))


def _when(moment: Moment) -> float:
    return float("inf") if isinstance(moment.at_ms, Unknown) else moment.at_ms


def _slow_gap(turn: TurnRecord, one: TurnFigures) -> Moment | None:
    gap = one.gap_ms
    if isinstance(gap, Unknown) or gap < SLOW_MS or one.gap_class is None:
        return None
    since = turn.user_end_us if turn.user_end_us is not None else turn.committed_us
    return Moment(
        kind="gap",
        turn=turn.number,
        at_ms=Unknown("a time is missing") if since is None else since / 1_000,
        duration_ms=Unknown("no answer came") if gap == NO_ANSWER else gap,
        moment_class=one.gap_class,
        place="before the answer",
        cause=_cause(turn, gap),
    )


def _cause(turn: TurnRecord, gap: float) -> str:
    if gap == NO_ANSWER:
        return turn.trouble or turn.status or "no reply was begun"
    longest = max(turn.parts, key=lambda part: part[1], default=None)
    return "not recorded" if longest is None or longest[1] <= 0 else longest[0]

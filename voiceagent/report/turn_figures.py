"""The figures of one turn, each known or with the reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from voiceagent.report.stream_figures import (
    Measured,
    Predicted,
    StreamFigures,
    measured,
    predicted,
    stream_figures,
    stream_of,
)
from voiceagent.rhythm.barge_in import classify_stop, stop_ms
from voiceagent.rhythm.gaps import classify_gap
from voiceagent.rhythm.pauses import Cause, Cuts, Pause, PauseClass, Place, classify_pause
from voiceagent.rhythm.rollup import TurnOutcome, is_useful_turn, turn_faults
from voiceagent.rhythm.stream import Stream
from voiceagent.rhythm.values import MISSING, Unknown, Value, known
from voiceagent.rhythm.voice_to_voice import VoiceToVoice, voice_to_voice
from voiceagent.turn_gap import gap_ms, wait_ms
from voiceagent.turn_record import PauseRecord, SessionRecord, TurnRecord

ANSWERED = frozenset({"spoken", "typed"})
"""The kinds of turn that somebody waits for an answer to."""

NOT_SPOKEN = "not a spoken turn"
DROPPED = "nothing came of it"


@dataclass(frozen=True, slots=True)
class PauseFigures:
    """One silence inside the agent's turn."""

    index: int
    """Its place among the turn's pauses, from 0."""
    at_ms: float
    duration_ms: float
    place: Place
    cause: Cause
    pause_class: PauseClass | Unknown
    underrun_ms: float
    stretched_ms: float


@dataclass(frozen=True, slots=True)
class BargeIn:
    """The agent was stopped."""

    stop_ms: Value
    stop_class: str | None
    false_stop: bool


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """All that is measured of a turn."""

    gap_ms: Value
    """Response gap of a spoken turn; `NO_ANSWER` where none came."""
    gap_class: str | None
    wait_ms: Value
    """From a typed turn to the first sound of its answer; of a spoken one, its gap."""
    voice_to_voice: VoiceToVoice
    stream: StreamFigures | Unknown
    predicted: Predicted | Unknown
    measured: Measured | Unknown
    pauses: tuple[PauseFigures, ...]
    barge_in: BargeIn | None
    outcome: TurnOutcome | None
    """For the objective; None for a turn that nobody waits for an answer to."""
    faults: frozenset[str]
    useful: bool
    arrived: Stream


def turn_figures(
    session: SessionRecord, turn: TurnRecord, cuts: Mapping[Place, Cuts], *, cold: bool = False
) -> TurnFigures:
    """The figures of ``turn``; ``cold`` where it was the session's first answer."""
    stream = stream_of(turn, cold=cold)
    gap = gap_or_why(turn)
    waited = wait_ms(turn)
    wait = gap if waited is None else waited
    outcome = _outcome(turn, wait)
    faults = turn_faults(outcome, cuts) if outcome else frozenset()
    return TurnFigures(
        gap_ms=gap,
        gap_class=classify_gap(known(gap)),
        wait_ms=wait,
        voice_to_voice=voice_to_voice(turn.parts, turn.gap_us),
        stream=stream_figures(stream),
        predicted=predicted(turn, stream, session.characters_per_second),
        measured=measured(turn),
        pauses=tuple(_pause(index, pause, cuts) for index, pause in enumerate(turn.pauses)),
        barge_in=_barge_in(turn),
        outcome=outcome,
        faults=faults,
        useful=outcome is not None
        and is_useful_turn(first_sentence_heard=turn.first_sentence_heard, faults=faults),
        arrived=stream,
    )


def gap_or_why(turn: TurnRecord) -> Value:
    """The response gap; only a spoken turn has one."""
    gap = gap_ms(turn)
    if gap is not None:
        return gap
    return Unknown(DROPPED if turn.kind == "dropped" else NOT_SPOKEN)


def pauses_of(turn: TurnRecord) -> tuple[Pause, ...]:
    """The pauses of ``turn`` as the metrics take them."""
    return tuple(Pause(p.at_us, p.duration_us, p.place, p.cause) for p in turn.pauses)


def _outcome(turn: TurnRecord, wait: Value) -> TurnOutcome | None:
    if turn.kind not in ANSWERED or turn.status == "not_asked":
        return None
    return TurnOutcome(
        gap_ms=wait,
        pauses=pauses_of(turn),
        error=turn.status == "failed" or turn.trouble is not None,
        # It was heard while the user still spoke, by more than anybody takes for an answer.
        false_takeover=classify_gap(known(wait)) == "overlap",
    )


def _pause(index: int, pause: PauseRecord, cuts: Mapping[Place, Cuts]) -> PauseFigures:
    return PauseFigures(
        index=index,
        at_ms=pause.at_us / 1_000,
        duration_ms=pause.duration_us / 1_000,
        place=pause.place,
        cause=pause.cause,
        pause_class=classify_pause(pause.duration_us / 1_000, pause.place, cuts),
        underrun_ms=pause.underrun_us / 1_000,
        stretched_ms=pause.stretched_us / 1_000,
    )


def _barge_in(turn: TurnRecord) -> BargeIn | None:
    """A stop that was measured, one that was for nothing, or one of which only the end is known."""
    if turn.stop_us is None and not turn.false_stop and turn.status != "interrupted":
        return None
    stop = Unknown(MISSING) if turn.stop_us is None else stop_ms(0, turn.stop_us)
    return BargeIn(stop, classify_stop(known(stop)), turn.false_stop)

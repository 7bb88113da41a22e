"""The figures of a whole session: distributions, pauses, interruptions, the objective, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from voiceagent.report.costs import Costs, costs
from voiceagent.report.turn_figures import TurnFigures, pauses_of
from voiceagent.rhythm.barge_in import BargeIns, summarize_barge_ins
from voiceagent.rhythm.gaps import GapSummary, summarize_gaps
from voiceagent.rhythm.latency import Latencies, summarize_latencies
from voiceagent.rhythm.pauses import Cuts, Place, awkward_pauses_per_min
from voiceagent.rhythm.percentiles import Summary, percentile, summarize
from voiceagent.rhythm.rollup import TurnSlo, turn_slo
from voiceagent.rhythm.values import Unknown, Value, count_unknown
from voiceagent.turn_record import TurnRecord


@dataclass(frozen=True, slots=True)
class Gaps:
    """Response gaps of the spoken turns."""

    warm: GapSummary
    """Without the session's first answer."""
    cold: GapSummary
    """Of the first answer alone."""
    all: GapSummary


@dataclass(frozen=True, slots=True)
class Headroom:
    """Predicted reserve of speech, over all pieces of all answers but each one's first."""

    pieces: Summary
    p05_ms: Value
    by_turn_p05_ms: Summary


@dataclass(frozen=True, slots=True)
class PauseCount:
    """The pauses of one place, class and cause."""

    place: str
    pause_class: str
    cause: str
    n: int
    total_ms: float
    longest_ms: float


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """All that is rolled up over a session."""

    turns: dict[str, int]
    """How many of each kind."""
    cold_turn: int | None
    """The number of the turn with the first answer."""
    gap: Gaps
    parts: dict[str, Summary]
    """Each named part of the gaps, in the order in which they are waited for."""
    ttfat_ms: Latencies
    evenness: Summary
    headroom: Headroom
    predicted_underruns: int
    measured_underruns: int
    speech_ms: float
    awkward_pauses: int
    awkward_pauses_per_min: Value
    pauses: tuple[PauseCount, ...]
    barge_ins: BargeIns
    objective: TurnSlo
    costs: Costs
    unknown: dict[str, dict[str, int]]
    """For each figure how often it is not known, by reason."""


def cold_turn(turns: Iterable[TurnRecord]) -> int | None:
    """The number of the turn for which a language model was first asked; None where none was."""
    asked = (
        turn.number
        for turn in turns
        if turn.kind in ("spoken", "typed") and (turn.written_us is not None or turn.arrivals)
    )
    return next(asked, None)


def session_figures(
    turns: Sequence[TurnRecord], figures: Sequence[TurnFigures], cuts: Mapping[Place, Cuts]
) -> SessionFigures:
    """Roll up ``figures``, which belong to ``turns`` one by one."""
    pauses = [pause for turn in turns for pause in pauses_of(turn)]
    speech_us = sum(turn.speech_us for turn in turns)
    counts = _pauses(figures)
    cold = cold_turn(turns)
    streams = [one.stream for one in figures if not isinstance(one.stream, Unknown)]
    predictions = [one.predicted for one in figures if not isinstance(one.predicted, Unknown)]
    return SessionFigures(
        turns=dict(sorted(Counter(turn.kind for turn in turns).items())),
        cold_turn=cold,
        gap=_gaps(turns, figures, cold),
        parts=_parts(turns),
        ttfat_ms=summarize_latencies(
            (one.arrived, one.stream.ttfat_ms)
            for one in figures
            if not isinstance(one.stream, Unknown)
        ),
        evenness=summarize(stream.evenness for stream in streams),
        headroom=_headroom(figures),
        predicted_underruns=sum(one.underruns for one in predictions),
        measured_underruns=sum(turn.underruns for turn in turns),
        speech_ms=speech_us / 1_000,
        awkward_pauses=sum(one.n for one in counts if one.pause_class in ("awkward", "severe")),
        awkward_pauses_per_min=awkward_pauses_per_min(pauses, speech_us, cuts),
        pauses=counts,
        barge_ins=_barge_ins(figures),
        objective=turn_slo([one.outcome for one in figures if one.outcome], cuts),
        costs=costs(turns, figures),
        unknown=_unknown(turns, figures),
    )


def _gaps(turns: Sequence[TurnRecord], figures: Sequence[TurnFigures], cold: int | None) -> Gaps:
    spoken = [
        (turn.number, one.gap_ms)
        for turn, one in zip(turns, figures, strict=True)
        if turn.kind == "spoken"
    ]
    return Gaps(
        warm=summarize_gaps(gap for number, gap in spoken if number != cold),
        cold=summarize_gaps(gap for number, gap in spoken if number == cold),
        all=summarize_gaps(gap for _, gap in spoken),
    )


def _parts(turns: Iterable[TurnRecord]) -> dict[str, Summary]:
    found: dict[str, list[Value]] = {}
    for turn in turns:
        for name, us in turn.parts:
            found.setdefault(name, []).append(
                us / 1_000 if us >= 0 else Unknown("negative duration")
            )
    return {name: summarize(values) for name, values in found.items()}


def _headroom(figures: Iterable[TurnFigures]) -> Headroom:
    predictions = [one.predicted for one in figures if not isinstance(one.predicted, Unknown)]
    pieces = [ms for one in predictions for ms in one.headroom_ms]
    return Headroom(
        pieces=summarize(pieces),
        p05_ms=percentile(pieces, 5),
        by_turn_p05_ms=summarize(one.headroom_p05_ms for one in predictions),
    )


def _pauses(figures: Iterable[TurnFigures]) -> tuple[PauseCount, ...]:
    found: dict[tuple[str, str, str], list[float]] = {}
    for pause in (pause for one in figures for pause in one.pauses):
        name = "unknown" if isinstance(pause.pause_class, Unknown) else pause.pause_class.value
        key = (pause.place.value, name, pause.cause.value)
        found.setdefault(key, []).append(pause.duration_ms)
    return tuple(
        PauseCount(*key, n=len(all_ms), total_ms=sum(all_ms), longest_ms=max(all_ms))
        for key, all_ms in sorted(found.items())
    )


def _barge_ins(figures: Iterable[TurnFigures]) -> BargeIns:
    stops = [one.barge_in for one in figures if one.barge_in]
    return summarize_barge_ins(
        (stop.stop_ms for stop in stops if not stop.false_stop),
        sum(stop.false_stop for stop in stops),
    )


def _unknown(
    turns: Sequence[TurnRecord], figures: Sequence[TurnFigures]
) -> dict[str, dict[str, int]]:
    """Where a figure is wanted and missing; a typed turn's gap is not wanted."""
    streams = [one.stream for one in figures if not isinstance(one.stream, Unknown)]
    answered = [
        one for turn, one in zip(turns, figures, strict=True) if turn.kind in ("spoken", "typed")
    ]
    values: dict[str, list[Value]] = {
        "gap_ms": [
            one.gap_ms for turn, one in zip(turns, figures, strict=True) if turn.kind == "spoken"
        ],
        "stream": [one.stream for one in answered if isinstance(one.stream, Unknown)],
        "predicted": [one.predicted for one in answered if isinstance(one.predicted, Unknown)],
        "measured": [one.measured for one in answered if isinstance(one.measured, Unknown)],
        "ttfat_ms": [stream.ttfat_ms for stream in streams],
        "evenness": [stream.evenness for stream in streams],
        "stop_ms": [one.barge_in.stop_ms for one in figures if one.barge_in],
    }
    counted = {name: count_unknown(each) for name, each in values.items()}
    return {name: reasons for name, reasons in counted.items() if reasons}

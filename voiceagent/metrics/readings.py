"""What a turn record says, as values of ``voiceagent.rhythm``. Pure.

None is: this turn has no such thing (a greeting has no response gap). An `Unknown` is: it has one,
and it is not known.
"""

from __future__ import annotations

import math
from itertools import pairwise

from voiceagent.rhythm.barge_in import stop_ms
from voiceagent.rhythm.speech_clock import SpeechClock, speech_underrun
from voiceagent.rhythm.stream import Arrival, Counted, Stream, pieces
from voiceagent.rhythm.values import MISSING, NEGATIVE, Unknown, Value, duration_ms
from voiceagent.turn_record import PauseRecord, TurnRecord

SEVERAL = "several"
"""In place of a backend: one went on with the answer of another, and their times are mixed."""


def stop_of(record: TurnRecord) -> Value | None:
    """How long the agent spoke on, in milliseconds, when it was really interrupted."""
    if record.false_stop or (record.stop_us is None and record.status != "interrupted"):
        return None
    return stop_ms(0, record.stop_us)


def pause_of(pause: PauseRecord) -> Value:
    """How long a pause was, in milliseconds."""
    return duration_ms(0, pause.duration_us)


def stream_of(record: TurnRecord) -> Stream | None:
    """The answer as it came from the language model; None where none was asked."""
    if not record.arrivals and record.requested_us is None and record.written_us is None:
        return None
    return Stream(
        tuple(Arrival(each.t_us, each.tokens, each.characters) for each in record.arrivals),
        written_us=record.written_us,
        final_usage=record.final_usage,
        cancelled=_request_cancelled(record),
    )


def chunk_gaps_of(counted: Counted) -> list[Value]:
    """Milliseconds from each chunk to the next."""
    return [duration_ms(before.t_us, after.t_us) for before, after in pairwise(counted.chunks)]


def speech_clock_of(stream: Stream, characters_per_second: float) -> SpeechClock | Unknown:
    """What a listener would hear of this stream. The voice's lead moves all of it and changes
    neither headroom nor underruns, so it is taken as 0."""
    return speech_underrun(pieces(stream), characters_per_second, 0)


def backend_of(record: TurnRecord) -> str | None:
    """Whose times the stream shows; None where that is not known."""
    decision = record.decision or {}
    if decision.get("handed_over") or any(cost.purpose == "handover" for cost in record.costs):
        return SEVERAL
    backend = decision.get("backend")
    if isinstance(backend, str):
        return backend
    answered = {cost.backend for cost in record.costs if cost.outcome == "answered"}
    return answered.pop() if len(answered) == 1 else None


def usd_of(record: TurnRecord) -> Value | None:
    """US dollars for every attempt at this turn's answer, heard or not."""
    if not record.costs:
        return None
    total = 0.0
    for cost in record.costs:
        if cost.usd is None:
            return Unknown(MISSING)
        total += cost.usd
    if not math.isfinite(total):
        return Unknown("not a finite number")
    return total if total >= 0 else Unknown(NEGATIVE)


def _request_cancelled(record: TurnRecord) -> bool:
    """Nobody waited for its end: how long it took says nothing of the backend."""
    outcomes = {cost.outcome for cost in record.costs}
    if not outcomes and record.decision:
        outcomes = {str(record.decision.get("outcome"))}
    lost = "cancelled" in outcomes and "answered" not in outcomes
    return lost or record.status == "cancelled"

"""How long a turn's answer was waited for, or why that is not known. Pure."""

from __future__ import annotations

from voiceagent.rhythm.gaps import NO_ANSWER, response_gap_ms
from voiceagent.rhythm.values import CANCELLED, MISSING, Unknown, Value, duration_ms
from voiceagent.turn_record import TurnRecord

NOT_ASKED = "no answer was asked for"
CLOSED = "the session ended before the answer"


def gap_ms(turn: TurnRecord) -> Value | None:
    """The response gap in milliseconds, `NO_ANSWER` where none came; None for a turn that was not
    spoken, which has none."""
    if turn.kind != "spoken":
        return None
    return _without(turn) if turn.gap_us is None else response_gap_ms(0, turn.gap_us)


def wait_ms(turn: TurnRecord) -> Value | None:
    """As `gap_ms`; for a typed turn from its coming to the first audible sample."""
    if turn.kind != "typed":
        return gap_ms(turn)
    if turn.audible_us is None:
        return _without(turn)
    return duration_ms(turn.committed_us, turn.audible_us)


def _without(turn: TurnRecord) -> Value:
    """Nothing was to come, it was not measured, it was taken back, or none ever came."""
    if turn.status == "not_asked":
        return Unknown(NOT_ASKED)
    if turn.sounded_us is not None or turn.status == "completed":
        return Unknown(MISSING)
    if turn.status in ("cancelled", "interrupted"):
        return Unknown(CANCELLED)
    if turn.status is None:
        return Unknown(CLOSED)
    return NO_ANSWER

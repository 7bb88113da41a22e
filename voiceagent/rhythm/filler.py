"""The filler ("Let me check that."): when it may be said, and what it does to the wait.

A filler makes the first sound early and the answer no earlier, so both are reported, and the
silence between them is a pause with the cause `bridging`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from voiceagent.rhythm.gaps import classify_gap, response_gap_ms
from voiceagent.rhythm.pauses import Cause
from voiceagent.rhythm.values import Value, duration_ms, known

SHORTEST_GAP_MS = 700
"""Predicted response gap, in milliseconds, from which a filler is better than silence: where a gap
becomes noticeable."""

PER_TURN = 1


@dataclass(frozen=True, slots=True)
class FilledGap:
    """A response gap with a filler in it, in milliseconds from the user's end."""

    first_sound_ms: Value
    first_sound_class: str | None
    first_content_ms: Value
    first_content_class: str | None
    inner_wait_ms: Value
    """End of the filler to the content."""
    inner_wait_class: str | None
    """By the table of response gaps: it is a wait for an answer, not a pause in the telling."""
    cause: Cause = Cause.BRIDGING


def may_fill(predicted_gap_ms: float | None, fillers_said: int) -> bool:
    """Whether a filler may be said now in a turn that had ``fillers_said``.

    Never where the gap is short or cannot be predicted.
    """
    if predicted_gap_ms is None or math.isnan(predicted_gap_ms):
        return False
    return predicted_gap_ms >= SHORTEST_GAP_MS and fillers_said < PER_TURN


def filled_gap(
    user_end_us: int | None,
    filler_start_us: int | None,
    filler_end_us: int | None,
    content_us: int | None,
) -> FilledGap:
    """The numbers of a gap with a filler; times as heard, on the listener's clock.

    ``content_us`` None is an answer that has not come.
    """
    sound = response_gap_ms(user_end_us, filler_start_us)
    content = response_gap_ms(user_end_us, content_us)
    wait = duration_ms(filler_end_us, content_us)
    return FilledGap(
        first_sound_ms=sound,
        first_sound_class=classify_gap(known(sound)),
        first_content_ms=content,
        first_content_class=classify_gap(known(content)),
        inner_wait_ms=wait,
        inner_wait_class=classify_gap(known(wait)),
    )

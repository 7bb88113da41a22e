"""Voice to voice: the response gap split into named parts that add up.

The parts are those on the critical path, one after the other; usually hold, stt, first_token,
clause, tts, leading_silence and playout. Work that was done meanwhile is no part. What the parts
leave over is shown as the unexplained rest, so that parts and rest are always the gap that was
measured, to the microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voiceagent.rhythm.values import MISSING, NEGATIVE, Unknown, Value

TOLERANCE_US = 20_000
"""How much of a gap may stay unexplained."""

AUDIBLE_DBFS = -50.0
"""Sample level, in dB of full scale, from which sound is not silence."""


@dataclass(frozen=True, slots=True)
class Part:
    """One named part of the gap."""

    name: str
    ms: Value


@dataclass(frozen=True, slots=True)
class VoiceToVoice:
    """A response gap and what it is made of, in milliseconds."""

    parts: tuple[Part, ...]
    sum_ms: float
    """Of the parts that are known."""
    measured_ms: Value
    unexplained_ms: Value
    """Measured less sum; negative where the parts claim more than was heard."""
    adds_up: bool
    """The unexplained rest is known and at most 20 ms either way."""


def voice_to_voice(
    parts: Iterable[tuple[str, int | None]], measured_us: int | None
) -> VoiceToVoice:
    """Compare named ``parts`` (microseconds; None is unknown) with the gap that was measured.

    An unknown or negative part is listed as unknown; its time is in the unexplained rest.
    """
    listed: list[Part] = []
    total = 0
    for name, us in parts:
        if us is not None and us >= 0:
            total += us
            listed.append(Part(name, us / 1_000))
        else:
            listed.append(Part(name, Unknown(MISSING if us is None else NEGATIVE)))
    if measured_us is None:
        return VoiceToVoice(
            tuple(listed), total / 1_000, Unknown(MISSING), Unknown(MISSING), adds_up=False
        )
    rest = measured_us - total
    return VoiceToVoice(
        parts=tuple(listed),
        sum_ms=total / 1_000,
        measured_ms=measured_us / 1_000,
        unexplained_ms=rest / 1_000,
        adds_up=abs(rest) <= TOLERANCE_US,
    )


def parts_from_marks(
    user_end_us: int, marks: Sequence[tuple[str, int | None]]
) -> list[tuple[str, int | None]]:
    """The parts between the times at which each step was done, in the order of the steps.

    A step that was done before the one ahead of it (a transcript that was ready before the hold
    ended) was not waited for: its part is 0. A step whose time is None is unknown, and what it took
    belongs to no part.
    """
    parts: list[tuple[str, int | None]] = []
    reached = user_end_us
    gap_before = False
    for name, done_us in marks:
        if done_us is None:
            parts.append((name, None))
            gap_before = True
            continue
        # After an unknown step the two cannot be told apart.
        parts.append((name, None if gap_before else max(0, done_us - reached)))
        reached = max(reached, done_us)
        gap_before = False
    return parts


def leading_silence_us(
    samples: NDArray[np.int16], sample_rate: int, audible_dbfs: float = AUDIBLE_DBFS
) -> int | None:
    """Microseconds of int16 mono ``samples`` of shape [n] before the first audible one.

    None where none is audible or the rate is not positive. Time to first byte plus this is the time
    to first audio.
    """
    if sample_rate <= 0:
        return None
    level = 32_768 * 10.0 ** (min(audible_dbfs, 0.0) / 20)
    audible = np.flatnonzero(np.abs(samples.astype(np.int32)) >= level)
    return int(audible[0]) * 1_000_000 // sample_rate if audible.size else None

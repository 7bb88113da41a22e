"""Barge-in: how soon the agent is silent once the user speaks, and how often it stops for nothing.

Measured at the ear: from the user's acoustic onset to the last agent sample that was heard.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from voiceagent.rhythm.percentiles import Summary, summarize
from voiceagent.rhythm.values import Unknown, Value, duration_ms

NEVER_STOPPED = math.inf
"""The stop of an agent that spoke on to its end."""

# (up to this many milliseconds, class)
_CLASSES: tuple[tuple[float, str], ...] = (
    (300, "good"),
    (600, "ok"),
    (1000, "slow"),
    (2000, "bad"),
    (math.inf, "no_yield"),
)


@dataclass(frozen=True, slots=True)
class BargeIns:
    """Stops for a real interruption, and beside them the stops for nothing."""

    stop_ms: Summary
    never_stopped: int
    classes: dict[str, int]
    false_stop_rate: Value


def stop_ms(onset_us: int | None, last_heard_us: int | None) -> Value:
    """Milliseconds from the user's acoustic onset to the last agent sample heard, on one clock."""
    return duration_ms(onset_us, last_heard_us)


def classify_stop(ms: float | None) -> str | None:
    """good, ok, slow, bad or no_yield for a stop after ``ms`` milliseconds; a limit belongs to the
    better class. None where it is unknown or negative; "no_yield" for `NEVER_STOPPED`."""
    if ms is None or math.isnan(ms) or ms < 0:
        return None
    return next(name for limit, name in _CLASSES if ms <= limit)


def false_stop_rate(false_stops: int, stops: int) -> Value:
    """Share of all stops that were for a backchannel, a cough, echo or noise."""
    if not 0 <= false_stops <= stops:
        return Unknown("counts that cannot be")
    return false_stops / stops if stops else Unknown("no stops")


def summarize_barge_ins(stops: Iterable[Value], false_stops: int) -> BargeIns:
    """``stops`` are the milliseconds of each stop for a real interruption, ``false_stops`` counts
    the others. `NEVER_STOPPED` is not among the stops that the rate is a share of.
    """
    everything = list(stops)
    stopped = [stop for stop in everything if stop != NEVER_STOPPED]
    names = [
        name
        for stop in everything
        if not isinstance(stop, Unknown) and (name := classify_stop(stop)) is not None
    ]
    return BargeIns(
        stop_ms=summarize(stopped),
        never_stopped=len(everything) - len(stopped),
        classes={name: names.count(name) for _, name in _CLASSES},
        false_stop_rate=false_stop_rate(false_stops, false_stops + len(stopped)),
    )

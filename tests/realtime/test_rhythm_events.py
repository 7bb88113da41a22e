"""What clients are told of the rhythm, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from voiceagent.conversation import actions as act
from voiceagent.realtime.rhythm_events import RhythmEvents
from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.rhythm.values import Unknown

WHERE = {"response_id": "resp_1", "item_id": "item_1"}
EVENTS = RhythmEvents(lambda at: at - 1_000_000)


def test_gap_with_its_parts_and_its_place() -> None:
    parts = (("endpointing", 300_000), ("clause", 112_000))
    sounded = act.ReplySounded(
        1, "item_1", 412_000, True, parts, 2_400_000, 2_412_000, last_voiced=2_000_000
    )
    assert EVENTS.gap(sounded, 0) == [
        {
            "type": "voiceagent.gap",
            **WHERE,
            "gap_ms": 412.0,
            "class": "comfortable",
            "measured": True,
            "parts": [{"name": "endpointing", "ms": 300.0}, {"name": "clause", "ms": 112.0}],
            "at_ms": 1_412.0,
            "user_end_ms": 1_000.0,
        }
    ]


def test_m03_a_gap_that_is_not_known_is_null() -> None:
    (gap,) = EVENTS.gap(act.ReplySounded(1, "item_1", None, False, (), 5, 5), 0)
    assert (gap["gap_ms"], gap["class"], gap["user_end_ms"]) == (None, None, None)


def test_pause_with_place_cause_and_class() -> None:
    heard = act.PauseHeard(
        *(1, "item_1", 24_000, 3_000_000, 420_000, Place.PHRASE, Cause.UNDERRUN, 400_000, 0, True)
    )
    assert EVENTS.pause(heard, 0) == [
        {
            "type": "voiceagent.pause",
            **WHERE,
            "at_ms": 2_000.0,
            "duration_ms": 420.0,
            "place": "phrase",
            "cause": "underrun",
            "class": "awkward",
            "underrun_ms": 400.0,
            "stretched_ms": 0.0,
            "measured": True,
        }
    ]


def stopped(stop: int | None) -> act.ReplyStopped:
    return act.ReplyStopped(1, "item_1", 3_000_000, (), 24_000, 0, None, stop, True)


@pytest.mark.parametrize(
    ("stop", "told"),
    [(240_000, (240.0, "good")), (601_000, (601.0, "slow")), (-5_000, (None, None))],
)
def test_stop_with_its_class(stop: int, told: tuple[Any, Any]) -> None:
    (event,) = EVENTS.stopped(stopped(stop), 0)
    assert (event["stop_ms"], event["class"]) == told
    assert event["at_ms"] == 2_000.0


def test_an_end_that_nobody_forced_is_no_stop() -> None:
    assert EVENTS.stopped(stopped(None), 0) == []


def test_tokens_with_and_without_a_figure() -> None:
    ticks = ((2_000_000, 1), (2_040_000, None))
    (told,) = EVENTS.tokens(act.TokensSeen(1, "item_1", ticks, 0.695), 0)
    assert told["ticks"] == [[1_000.0, 1], [1_040.0, None]]
    assert (told["evenness"], told["band"]) == (0.695, "uneven")
    (told,) = EVENTS.tokens(act.TokensSeen(1, "item_1", ticks, Unknown("fewer than 3 chunks")), 0)
    assert (told["evenness"], told["band"]) == (None, None)

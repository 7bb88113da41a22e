"""The numbers of a turn: barge-in, voice to voice, filler."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rhythm.streams import number, whole
from voiceagent.rhythm.barge_in import (
    NEVER_STOPPED,
    classify_stop,
    false_stop_rate,
    stop_ms,
    summarize_barge_ins,
)
from voiceagent.rhythm.filler import filled_gap, may_fill
from voiceagent.rhythm.json_safe import plain
from voiceagent.rhythm.values import MISSING, NEGATIVE, Unknown
from voiceagent.rhythm.voice_to_voice import leading_silence_us, parts_from_marks, voice_to_voice

MS = 1_000
EXAMPLE = [
    ("hold", 550),
    ("stt", 50),
    ("first_token", 120),
    ("clause", 40),
    ("tts", 150),
    ("leading_silence", 80),
    ("playout", 40),
]
M04 = [("vad", 200), ("endpoint", 300), ("stt", 250), ("llm", 400), ("sentence", 120), ("tts", 180)]

times = st.none() | whole
parts = st.lists(st.tuples(st.text(max_size=3), times), max_size=9)


def test_worked_example_of_barge_in() -> None:
    found = summarize_barge_ins([180, 240, 310, 420, 900], false_stops=1)
    assert found.stop_ms.p50 == 310
    assert number(found.stop_ms.p95) == pytest.approx(804, abs=1e-9)
    assert found.classes == {"good": 2, "ok": 2, "slow": 1, "bad": 0, "no_yield": 0}
    assert found.false_stop_rate == 1 / 6


@pytest.mark.parametrize(
    ("limit", "at", "above"),
    [(300, "good", "ok"), (600, "ok", "slow"), (1000, "slow", "bad"), (2000, "bad", "no_yield")],
)
def test_a_limit_belongs_to_the_better_class(limit: float, at: str, above: str) -> None:
    assert (classify_stop(limit), classify_stop(limit + 0.001)) == (at, above)


def test_an_agent_that_never_stopped_did_not_yield_and_has_no_length() -> None:
    found = summarize_barge_ins([200, NEVER_STOPPED, stop_ms(5, None)], false_stops=0)
    assert (found.never_stopped, found.stop_ms.n, found.stop_ms.max) == (1, 1, 200)
    assert found.classes["no_yield"] == 1
    assert found.stop_ms.unknown == {MISSING: 1}
    assert found.false_stop_rate == 0


def test_what_is_no_stop_is_unknown() -> None:
    assert stop_ms(9, 5) == Unknown(NEGATIVE)
    assert [classify_stop(ms) for ms in (None, -1, math.nan)] == [None] * 3
    assert isinstance(false_stop_rate(0, 0), Unknown)
    assert isinstance(false_stop_rate(2, 1), Unknown)


def test_worked_example_of_voice_to_voice() -> None:
    found = voice_to_voice([(name, ms * MS) for name, ms in EXAMPLE], 1_030 * MS)
    assert [(part.name, part.ms) for part in found.parts] == EXAMPLE
    assert (found.sum_ms, found.unexplained_ms, found.adds_up) == (1030, 0, True)


def test_m04_the_parts_are_the_silence_that_was_heard() -> None:
    marks, done = [], 0
    for name, ms in M04:
        done += ms * MS
        marks.append((name, 7_000_000 + done))
    found = voice_to_voice(parts_from_marks(7_000_000, marks), 1_450 * MS)
    assert [(part.name, part.ms) for part in found.parts] == M04
    assert (found.sum_ms, found.measured_ms, found.unexplained_ms) == (1450, 1450, 0)


@pytest.mark.parametrize(
    ("measured", "rest", "adds_up"),
    [(1050, 20, True), (1051, 21, False), (1010, -20, True), (1009, -21, False)],
)
def test_m04_the_unexplained_rest_is_shown(measured: int, rest: int, adds_up: bool) -> None:
    found = voice_to_voice([(name, ms * MS) for name, ms in EXAMPLE], measured * MS)
    assert (found.unexplained_ms, found.adds_up) == (rest, adds_up)


def test_an_unknown_or_negative_part_is_in_the_rest() -> None:
    found = voice_to_voice([("hold", 500 * MS), ("stt", None), ("tts", -5)], 800 * MS)
    assert [part.ms for part in found.parts] == [500, Unknown(MISSING), Unknown(NEGATIVE)]
    assert (found.unexplained_ms, found.adds_up) == (300, False)
    unmeasured = voice_to_voice([("hold", 500 * MS)], None)
    assert (unmeasured.unexplained_ms, unmeasured.adds_up) == (Unknown(MISSING), False)


def test_a_step_that_was_ready_early_was_not_waited_for() -> None:
    marks = [("hold", 550), ("stt", 400), ("token", None), ("clause", 700), ("tts", 850)]
    found = parts_from_marks(0, marks)
    assert found == [("hold", 550), ("stt", 0), ("token", None), ("clause", None), ("tts", 150)]


@given(parts, times)
def test_m04_parts_and_rest_are_always_the_gap(
    named: list[tuple[str, int | None]], measured: int | None
) -> None:
    found = voice_to_voice(named, measured)
    json.dumps(plain(found), allow_nan=False)
    known = [part.ms for part in found.parts if not isinstance(part.ms, Unknown)]
    assert round(sum(ms * MS for ms in known)) == pytest.approx(found.sum_ms * MS, abs=8)
    if measured is not None:
        total = found.sum_ms + number(found.unexplained_ms)
        assert total == pytest.approx(measured / MS, rel=1e-12, abs=1e-2)
    else:
        assert not found.adds_up


@given(whole, st.lists(whole, min_size=1, max_size=9))
def test_m04_marks_leave_nothing_out(start: int, done: list[int]) -> None:
    found = [us for _, us in parts_from_marks(start, [(str(t), t) for t in done])]
    assert None not in found
    assert sum(us or 0 for us in found) == max(0, max(done) - start)


def test_m10_leading_silence_is_not_heard() -> None:
    rate, first_byte_us = 24_000, 310 * MS
    tone = (8_000 * np.sin(np.arange(2_400) * 0.3 + 1)).astype(np.int16)
    hiss = np.tile(np.array([3, -3], np.int16), rate * 150 // 2_000)
    for silence in (np.zeros(rate * 150 // 1_000, np.int16), hiss):
        found = leading_silence_us(np.concatenate([silence, tone]), rate)
        assert found is not None
        assert first_byte_us + found == 460 * MS
    assert leading_silence_us(tone, rate) == 0


def test_m10_the_loudest_negative_sample_is_sound_and_silence_has_none() -> None:
    assert leading_silence_us(np.array([0, -32_768], np.int16), 1_000) == 1_000
    assert leading_silence_us(np.zeros(9, np.int16), 24_000) is None
    assert leading_silence_us(np.zeros(0, np.int16), 24_000) is None
    assert leading_silence_us(np.ones(9, np.int16), 0) is None


def test_worked_example_of_a_filler() -> None:
    found = filled_gap(0, 650 * MS, 1_250 * MS, 2_600 * MS)
    assert (found.first_sound_ms, found.first_sound_class) == (650, "comfortable")
    assert (found.first_content_ms, found.first_content_class) == (2600, "bad")
    assert (found.inner_wait_ms, found.inner_wait_class) == (1350, "awkward")
    assert found.cause == "bridging"


def test_content_that_never_came_or_came_under_the_filler_has_no_wait() -> None:
    waiting = filled_gap(0, 650 * MS, 1_250 * MS, None)
    assert (waiting.first_sound_ms, waiting.inner_wait_ms) == (650, Unknown(MISSING))
    assert waiting.inner_wait_class is None
    assert filled_gap(0, 650 * MS, 1_250 * MS, 1_200 * MS).inner_wait_ms == Unknown(NEGATIVE)


@pytest.mark.parametrize(
    ("predicted", "said", "allowed"),
    [
        (700, 0, True),
        (699.9, 0, False),
        (5000, 1, False),
        (math.inf, 0, True),
        (None, 0, False),
        (math.nan, 0, False),
    ],
)
def test_a_filler_is_said_once_and_only_for_a_long_gap(
    predicted: float | None, said: int, allowed: bool
) -> None:
    assert may_fill(predicted, said) is allowed


def test_the_first_sample_at_the_level_of_hearing_is_audible() -> None:
    # -50 dB of full scale lies between 103 and 104.
    assert leading_silence_us(np.array([103, -103, -104, 0], np.int16), 1_000) == 2_000
    assert leading_silence_us(np.array([16_384, 32_767], np.int16), 1_000, 0.0) is None
    assert leading_silence_us(np.array([0, -32_768], np.int16), 1_000, 0.0) == 1_000


def test_no_time_at_all_is_known() -> None:
    assert stop_ms(5, 5) == 0
    assert classify_stop(0) == "good"
    assert voice_to_voice([("stt", 0)], 0).parts[0].ms == 0

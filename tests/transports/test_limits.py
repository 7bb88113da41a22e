"""How much a client may send."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voiceagent.transports.limits import SAMPLES_PER_SECOND, AudioAllowance, Pace

FRAME = SAMPLES_PER_SECOND // 50


def test_audio_at_real_time_is_never_dropped() -> None:
    allowance = AudioAllowance()
    assert all(allowance.admit(FRAME, frame / 50) for frame in range(50 * 120))
    assert allowance.dropped == 0


def test_a_recording_may_be_sent_in_one_go() -> None:
    allowance = AudioAllowance()
    assert all(allowance.admit(FRAME, 7.0) for _ in range(50 * 20))
    assert not allowance.admit(FRAME, 7.0)
    assert not allowance.admit(FRAME, 16.9)
    assert allowance.admit(FRAME, 17.0)  # ten seconds later there is room again
    assert allowance.dropped == 2 * FRAME


def test_a23_audio_three_times_too_fast_is_held_to_twice_and_counted() -> None:
    allowance, heard = AudioAllowance(), 0
    for frame in range(50 * 3 * 30):
        heard += FRAME * allowance.admit(FRAME, frame / 150)
    assert heard <= 2 * 40 * SAMPLES_PER_SECOND
    assert heard + allowance.dropped == 50 * 3 * 30 * FRAME
    assert len(allowance._recent) <= 50 * 20 + 1


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 100_000)), max_size=60))
def test_no_ten_seconds_hold_more_than_twenty_of_audio(steps: list[tuple[float, int]]) -> None:
    allowance, now = AudioAllowance(), 100.0
    admitted: list[tuple[float, int]] = []
    for pause, samples in steps:
        now += pause
        if allowance.admit(samples, now):
            admitted.append((now, samples))
        recent = sum(count for at, count in admitted if now - 10 < at <= now)
        assert recent <= 20 * SAMPLES_PER_SECOND


def test_a_flood_is_delayed_to_its_rate_and_a_pause_earns_a_burst() -> None:
    pace = Pace(burst=100, per_second=10)
    assert [pace.wait(1, 50.0) for _ in range(100)] == [0.0] * 100
    assert pace.wait(1, 50.0) == 0.1
    assert pace.wait(1, 50.0) == 0.2
    assert pace.wait(1, 60.2) == 0.0  # ten seconds earned a hundred more, and two were owed
    assert pace.wait(1_000, 1_000.0) == 90.0  # never more than the burst is saved up

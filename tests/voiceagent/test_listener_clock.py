"""The client's audio as a clock."""

from __future__ import annotations

from voiceagent.listener_clock import ListenerClock

MS = 1_000
FRAME = 20 * MS


def fed(seconds: int, *, delay: list[int], rate: float = 1.0) -> tuple[ListenerClock, int, int]:
    """A clock after so many seconds of frames that arrive ``delay`` late, in turn."""
    clock, now, position = ListenerClock(), 0, 0
    for n in range(seconds * 50):
        position += FRAME
        now = int(position * rate)
        clock.arrived(now + delay[n % len(delay)], position)
    return clock, now, position


def test_the_least_delayed_frame_anchors_the_clock() -> None:
    clock, now, position = fed(10, delay=[5 * MS, 40 * MS, 90 * MS])
    assert clock.at(position) == now + 5 * MS
    assert clock.position(now + 5 * MS) == position


def test_a_slow_sound_card_does_not_add_up() -> None:
    clock, now, position = fed(3_600, delay=[0], rate=1.0001)
    at = clock.at(position)
    assert at is not None
    assert abs(at - now) <= MS


def test_a_short_gap_in_the_audio_is_forgotten_within_seconds() -> None:
    clock, now, position = fed(10, delay=[0])
    for _ in range(250):
        position += FRAME
        now += FRAME
        clock.arrived(now + 900 * MS, position)
    at = clock.at(position)
    assert at is not None
    assert abs(at - (now + 900 * MS)) <= MS


def test_before_any_audio_there_is_no_time() -> None:
    assert ListenerClock().at(0) is None
    assert ListenerClock().position(5) == 0

"""Two clocks compared over a network that delays as it likes."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from voiceagent.listener_clock import ListenerClock
from voiceagent.round_trips import MOST_DRIFT, RoundTrips

MS = 1_000


def trips(
    seconds: int, *, drift: float = 0.0, jitter: int = 0, seed: int = 1, offset: int = 5_000_000
) -> tuple[RoundTrips, int, int]:
    """One trip each 2.5 s; returns the trips, the last moment and the true offset then."""
    chance, found, now = random.Random(seed), RoundTrips(), 0
    true = offset
    for now in range(0, seconds * 1_000_000 + 1, 2_500_000):
        up, down = (8 * MS + chance.randint(0, jitter) for _ in range(2))
        answered = now + up
        true = offset + round(answered * drift)
        found.add(now, answered + down, answered - true)
    return found, now, true


def test_nothing_is_known_before_the_first_answer() -> None:
    assert RoundTrips().offset is None
    assert RoundTrips().shortest is None


def test_a_steady_network_gives_the_offset_exactly() -> None:
    found, _, true = trips(10)
    assert found.offset == true
    assert found.shortest == 16 * MS
    assert found.drift == 0


def test_jitter_is_halved_at_worst_and_mostly_avoided() -> None:
    found, _, true = trips(100, jitter=80 * MS)
    assert found.offset is not None
    assert abs(found.offset - true) <= 12 * MS


def test_a_slow_sound_card_is_followed() -> None:
    found, _, true = trips(100, drift=2e-4, jitter=2 * MS)
    assert abs(found.drift - 2e-4) < 5e-5
    assert found.offset is not None
    assert abs(found.offset - true) <= 3 * MS


@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.integers(-(10**6), 10**9), st.integers(0, 10**12)),
        max_size=40,
    )
)
def test_whatever_a_client_answers_the_offset_is_a_number_and_the_drift_is_bounded(
    answers: list[tuple[int, int, int]],
) -> None:
    found = RoundTrips()
    for sent, took, reading in answers:
        found.add(sent, sent + took, reading)
    assert abs(found.drift) <= MOST_DRIFT
    assert found.offset is None or isinstance(found.offset, int)


def test_a_client_without_a_microphone_is_tied_by_round_trips() -> None:
    clock = ListenerClock()
    assert clock.at(0) is None
    clock.round_trips.add(1_000_000, 1_020_000, 10_000)
    assert clock.at(10_000) == 1_010_000
    assert clock.position(1_010_000) == 10_000
    assert clock.uplink == 0


def test_the_uplink_is_what_audio_takes_beyond_the_offset() -> None:
    clock = ListenerClock()
    clock.arrived(1_045_000, 20_000)  # captured at 1.020 s, here at 1.045 s
    clock.round_trips.add(1_050_000, 1_070_000, 60_000)  # ours = theirs + 1 s
    assert clock.uplink == 25_000
    assert clock.at(20_000) == 1_045_000  # speech and sound are both compared as they reach us


def test_a_listener_may_be_ahead_of_the_audio_that_has_reached_us() -> None:
    clock = ListenerClock()
    clock.arrived(1_145_000, 20_000)  # 120 ms in the microphone, 5 in the network
    clock.round_trips.add(1_150_000, 1_160_000, 135_000)
    assert clock.uplink == 105_000
    assert clock.latest(1_160_000) >= 140_000


def test_a_clock_that_stood_still_is_known_again_at_the_next_answer() -> None:
    found, now, _ = trips(60)
    for later in (now + 30_000_000, now + 32_500_000):
        found.add(later, later + 16 * MS, later + 8 * MS - 35_000_000)
        assert found.offset == 35_000_000
        assert found.drift == 0


def test_a_microphone_that_joins_begins_the_clock_anew() -> None:
    clock = ListenerClock()
    for now in range(0, 60_000_000, 2_500_000):
        clock.round_trips.add(now, now + 10 * MS, now + 5 * MS)
    clock.arrived(60_020_000, 10_000)
    assert clock.uplink == 0  # not a minute
    clock.round_trips.add(60_100_000, 60_110_000, 105_000)
    assert clock.uplink == 10_000

"""The ear with a simulated detector: every probability is written in the test."""

from itertools import pairwise

import numpy as np
import pytest
from clips import ScriptedVad, cut, scripted_sound
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio.ear import (
    END_LAG,
    ONSET_LAG,
    Continued,
    Ear,
    EarConfig,
    EarEvent,
    Paused,
    Resumed,
    Started,
)
from audio.pcm import to_int16

W = 512
PRE_ROLL = 4800
QUIET, VOICE = 0.05, 0.9


def scripted_ear(config: EarConfig | None = None) -> Ear:
    return Ear(ScriptedVad(), 16_000, config or EarConfig())


def say(ear: Ear, *runs: tuple[float, int]) -> list[EarEvent]:
    """Push windows: (probability, how many) after (probability, how many)."""
    return ear.push(scripted_sound([p for p, count in runs for _ in range(count)]))


def kinds(events: list[EarEvent]) -> str:
    """S, C, P, R in order; the field tests look at the rest."""
    return "".join(type(event).__name__[0] for event in events)


def heard(ear: Ear, utterance: int) -> NDArray[np.int16]:
    return to_int16(ear.audio(utterance))


def test_one_utterance_from_its_start_to_its_pause() -> None:
    ear = scripted_ear()
    events = say(ear, (QUIET, 20), (VOICE, 10), (QUIET, 10))
    assert events == [
        Started(1, sample=22 * W, onset=20 * W - ONSET_LAG),
        Continued(1, sample=29 * W),
        Paused(1, sample=33 * W, last_voiced=30 * W - END_LAG),
    ]
    assert ear.position == 40 * W


def test_a_click_starts_nothing() -> None:
    assert say(scripted_ear(), (QUIET, 5), (VOICE, 1), (QUIET, 5), (VOICE, 1), (QUIET, 5)) == []


def test_hysteresis_a_wavering_voice_is_not_cut_up() -> None:
    # Between release and threshold: enough to go on, not enough to start or to come back.
    assert say(scripted_ear(), (0.4, 50)) == []
    assert kinds(say(scripted_ear(), (VOICE, 3), (0.4, 12))) == "SCC"
    assert kinds(say(scripted_ear(), (VOICE, 3), (QUIET, 1), (0.4, 2))) == "SP"
    assert kinds(say(scripted_ear(), (VOICE, 3), (QUIET, 3), (0.4, 20))) == "SP"


def test_a_stop_consonant_is_no_pause() -> None:
    assert kinds(say(scripted_ear(), (VOICE, 3), (QUIET, 2), (VOICE, 2), (QUIET, 2))) == "SC"


def test_a18_speaking_on_is_known_within_one_window() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 5), (QUIET, 20))
    assert say(ear, (VOICE, 1)) == [Resumed(1, sample=26 * W)]
    assert kinds(say(ear, (QUIET, 3))) == "P"


def test_a_voice_that_goes_on_is_reported_five_times_a_second() -> None:
    events = say(scripted_ear(), (VOICE, 2 + 32 * 10))
    reports = [event.sample for event in events if isinstance(event, Continued)]
    assert len(reports) == pytest.approx(320 * W / 3200, abs=1)
    assert np.diff(reports).max() <= 3200 + W


def test_a20_audio_has_the_pre_roll_and_equals_the_source() -> None:
    ear = scripted_ear()
    sound = scripted_sound([QUIET] * 40 + [VOICE] * 10)
    (started, *_) = ear.push(sound)
    assert isinstance(started, Started)
    assert np.array_equal(heard(ear, 1), sound[started.onset - PRE_ROLL :])


def test_a20_pre_roll_of_a_stream_that_begins_with_speech_is_what_there_is() -> None:
    ear = scripted_ear()
    sound = scripted_sound([VOICE] * 10)
    assert ear.push(sound)[0] == Started(1, sample=2 * W, onset=0)
    assert np.array_equal(heard(ear, 1), sound)


def test_audio_reaches_to_now_even_inside_a_window() -> None:
    ear = scripted_ear()
    sound = scripted_sound([VOICE] * 5)[: 4 * W + 100]
    ear.push(sound)
    assert np.array_equal(heard(ear, 1), sound)


def test_after_closing_in_silence_the_next_voice_is_a_new_utterance() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 5), (QUIET, 30))
    ear.close_utterance(1)
    assert say(ear, (QUIET, 20)) == []
    assert say(ear, (VOICE, 2)) == [Started(2, sample=57 * W, onset=55 * W - ONSET_LAG)]


def test_who_asks_too_late_still_gets_the_sound_up_to_the_close() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 5), (QUIET, 5))
    first = heard(ear, 1)
    ear.close_utterance(1)
    say(ear, (QUIET, 5), (VOICE, 5))
    assert np.array_equal(heard(ear, 1), first)
    ear.begin_manual()
    assert np.array_equal(heard(ear, 1), first)


@pytest.mark.parametrize("utterance", [0, 2, 99])
def test_an_utterance_that_never_was_has_no_sound(utterance: int) -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 5))
    with pytest.raises(LookupError):
        ear.audio(utterance)


def test_of_old_utterances_neither_sound_nor_place_is_kept() -> None:
    ear = scripted_ear(EarConfig(max_buffer_s=1))
    for number in range(1, 30):
        say(ear, (VOICE, 5), (QUIET, 30))
        ear.close_utterance(number)
    assert ear.audio(28).size == 0  # further back than a second
    with pytest.raises(LookupError):
        ear.audio(20)


def test_pre_roll_reaches_into_the_silence_and_never_into_the_utterance_before() -> None:
    ear = scripted_ear()
    sound = scripted_sound([QUIET] * 20 + [VOICE] * 5 + [QUIET] * 4 + [VOICE] * 3)
    ear.push(sound[: 29 * W])
    ear.close_utterance(1)
    ear.push(sound[29 * W :])
    # The last voiced window ended at 25: the four silent ones are less than the pre-roll.
    assert np.array_equal(heard(ear, 2), sound[25 * W :])


def test_a15_closing_amid_speech_loses_nothing_and_repeats_nothing() -> None:
    ear = scripted_ear()
    sound = scripted_sound([QUIET] * 20 + [VOICE] * 3750)  # 120 s without a gap
    starts, spoken, begun_at = [], [], 0
    for piece in cut(sound, [700]):
        for event in ear.push(piece):
            if isinstance(event, Started):
                starts.append(event)
                begun_at = event.onset
        if starts and ear.position - begun_at >= 30 * 16_000:
            spoken.append(heard(ear, starts[-1].utterance))
            ear.close_utterance(starts[-1].utterance)
    spoken.append(heard(ear, starts[-1].utterance))
    assert len(starts) == 4
    first = starts[0].onset - PRE_ROLL
    assert np.array_equal(np.concatenate(spoken), sound[first:])
    for one, following in pairwise(starts):
        assert following.sample - one.sample < 31 * 16_000


def test_a15_the_new_utterance_starts_with_the_next_push_at_once() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 10))
    ear.close_utterance(1)
    assert ear.push(np.zeros(0, np.int16)) == [Started(2, sample=10 * W, onset=10 * W)]
    assert kinds(say(ear, (QUIET, 5))) == "P"


def test_closing_in_a_short_gap_waits_for_a_voice_before_it_starts_anew() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 10), (QUIET, 1))
    ear.close_utterance(1)
    assert say(ear, (QUIET, 1), (VOICE, 1)) == []
    assert say(ear, (VOICE, 1)) == [Started(2, sample=14 * W, onset=12 * W - ONSET_LAG)]


def test_a_manual_turn_after_closing_amid_speech_starts_no_utterance() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 10))
    ear.close_utterance(1)
    ear.begin_manual()
    assert say(ear, (VOICE, 10)) == []
    assert len(ear.audio(ear.commit())) == 10 * W


def test_closing_an_utterance_that_is_over_changes_nothing() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 5), (QUIET, 5))
    ear.close_utterance(1)
    say(ear, (QUIET, 5), (VOICE, 5))
    ear.close_utterance(1)
    ear.close_utterance(7)
    ear.audio(2)
    ear.close_utterance(2)
    ear.close_utterance(2)
    assert kinds(say(ear, (VOICE, 1))) == "S"
    assert ear.audio(3).size > 0


def test_memory_is_bounded_and_the_newest_sound_is_kept() -> None:
    ear = scripted_ear(EarConfig(max_buffer_s=1))
    sound = scripted_sound([VOICE] * 100)
    ear.push(sound)
    assert np.array_equal(heard(ear, 1), sound[-16_000:])


def test_a_manual_turn_is_what_was_heard_between_two_commits() -> None:
    ear = scripted_ear()
    ear.begin_manual()
    sound = scripted_sound([VOICE] * 10 + [QUIET] * 10)
    assert ear.push(sound[:3000]) == []
    assert ear.uncommitted == 3000
    first = ear.commit()
    assert np.array_equal(heard(ear, first), sound[:3000])
    ear.push(sound[3000:5000])
    second = ear.commit()
    assert second != first
    assert np.array_equal(heard(ear, first), sound[:3000])
    assert np.array_equal(heard(ear, second), sound[3000:5000])
    assert ear.uncommitted == 0


def test_clear_drops_what_a_manual_turn_has_heard() -> None:
    ear = scripted_ear()
    ear.begin_manual()
    sound = scripted_sound([VOICE] * 10)
    ear.push(sound[:2000])
    ear.clear()
    ear.push(sound[2000:])
    assert np.array_equal(heard(ear, ear.commit()), sound[2000:])


def test_manual_memory_is_bounded() -> None:
    ear = scripted_ear(EarConfig(max_buffer_s=1))
    ear.begin_manual()
    sound = scripted_sound([VOICE] * 100)
    ear.push(sound)
    assert ear.uncommitted == 16_000
    assert np.array_equal(heard(ear, ear.commit()), sound[-16_000:])


def test_clear_amid_speech_starts_a_new_utterance_from_here() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 10))
    ear.clear()
    assert say(ear, (VOICE, 3))[0] == Started(2, sample=10 * W, onset=10 * W)
    assert len(ear.audio(2)) == 3 * W


def test_detecting_again_after_manual_turns() -> None:
    ear = scripted_ear()
    say(ear, (VOICE, 5))
    ear.begin_manual()
    say(ear, (VOICE, 5))
    number = ear.commit()
    assert number == 2
    ear.push(scripted_sound([VOICE])[:100])
    ear.end_manual()
    assert say(ear, (VOICE, 2)) == [Started(3, sample=12 * W + 100, onset=10 * W + 100)]


def test_commit_is_for_manual_turns() -> None:
    with pytest.raises(RuntimeError, match="manual"):
        scripted_ear().commit()


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0.3},
        {"threshold": 1.0},
        {"release": 0.0},
        {"start_ms": 0},
        {"pause_ms": -1},
        {"continue_every_ms": 0},
        {"max_buffer_s": 0},
        {"pre_roll_ms": -1},
        {"pre_roll_ms": 60_000},
    ],
)
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        EarConfig(**wrong)  # type: ignore[arg-type]


PROBABILITIES = st.lists(
    st.tuples(st.sampled_from([0.05, 0.3, 0.4, 0.55, 0.9]), st.integers(1, 12)), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(PROBABILITIES, st.lists(st.integers(0, 2000), min_size=1, max_size=8))
def test_any_cutting_gives_the_same_events_and_sound(
    runs: list[tuple[float, int]], sizes: list[int]
) -> None:
    sound = scripted_sound([p for p, count in runs for _ in range(count)])
    whole, pieces = scripted_ear(), scripted_ear()
    events = whole.push(sound)
    assert [event for piece in cut(sound, sizes) for event in pieces.push(piece)] == events
    if events:
        utterance = events[-1].utterance
        assert np.array_equal(pieces.audio(utterance), whole.audio(utterance))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(PROBABILITIES, st.sampled_from(["close", "clear", "go on"])), max_size=8))
def test_whatever_happens_events_are_in_order_and_no_voice_is_heard_twice(
    acts: list[tuple[list[tuple[float, int]], str]],
) -> None:
    ear, current, state, last = scripted_ear(), 0, "quiet", -1
    started_at, sounds = 0, []
    stream = np.zeros(0, np.int16)
    may_follow = {"quiet": "S", "voiced": "CP", "paused": "R"}
    for runs, act in acts:
        sound = scripted_sound([p for p, count in runs for _ in range(count)])
        stream = np.concatenate([stream, sound])
        for event in ear.push(sound):
            assert kinds([event]) in may_follow[state]
            assert last <= event.sample <= ear.position
            last = event.sample
            state = "paused" if isinstance(event, Paused) else "voiced"
            if isinstance(event, Started):
                assert event.utterance == current + 1
                current, started_at = event.utterance, event.onset
            assert event.utterance == current
            if isinstance(event, Paused):
                assert event.last_voiced <= event.sample
        if state != "quiet" and act != "go on":
            audio = heard(ear, current)
            first = len(stream) - len(audio)
            assert np.array_equal(audio, stream[first:])
            assert max(0, started_at - PRE_ROLL) <= first <= started_at
            sounds.append((first, len(stream)))
            ear.close_utterance(current) if act == "close" else ear.clear()
            state = "quiet"
            assert np.array_equal(heard(ear, current), audio)
    for (_, end), (first, _) in pairwise(sounds):
        heard_twice = stream[-(-first // W) * W : end : W]
        assert not np.any(heard_twice >= 0.5 * 32_767)

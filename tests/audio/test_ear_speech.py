"""The ear with the real detector and recorded people."""

import numpy as np
import pytest
import soxr
from clips import TRANSCRIPTS, between_silences, clip, cut, noise, tone, vad_model
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.ear import Ear, EarEvent, Paused, Started
from audio.pcm import to_int16
from audio.resample import Resampler

PRE_ROLL = 4800


def run(ear: Ear, pcm: np.ndarray, chunk: int) -> list[EarEvent]:  # type: ignore[type-arg]
    return [event for piece in cut(pcm, [chunk]) for event in ear.push(piece)]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_each_clip_is_one_utterance_begun_and_ended_where_its_energy_is(name: str) -> None:
    ear, pcm = Ear(vad_model(), 16_000), between_silences(name)
    events = run(ear, pcm, 320)
    started = [event for event in events if isinstance(event, Started)]
    assert [event.utterance for event in started] == [1]
    assert isinstance(events[-1], Paused)
    # The sound that matters is between: nearly all of the clip's energy, and little silence.
    power = pcm.astype(np.float64) ** 2
    inside = power[max(0, started[0].onset - PRE_ROLL) : events[-1].last_voiced]
    # jfk ends in applause and goforward in a rumble, which are no voice.
    assert inside.sum() / power.sum() > (0.8 if name == "jfk.wav" else 0.9)
    assert events[-1].last_voiced <= 16_000 + len(clip(name)) + 1600


@pytest.mark.parametrize("rate", [48_000, 44_100, 24_000, 16_000, 8_000])
def test_a02_any_input_rate_is_heard_at_16_khz(rate: int) -> None:
    ear = Ear(vad_model(), rate)
    ear.begin_manual()
    run(ear, tone(440, rate, 1), rate // 50)
    assert len(ear.audio(ear.commit())) == pytest.approx(16_000, abs=1)


@pytest.mark.parametrize("rate", [48_000, 44_100, 24_000, 8_000])
def test_a02_speech_at_any_rate_gives_the_events_of_16_khz(rate: int) -> None:
    pcm = between_silences("librivox_0880.wav")
    wanted = run(Ear(vad_model(), 16_000), pcm, 320)
    events = run(Ear(vad_model(), rate), soxr.resample(pcm, 16_000, rate), rate // 50)
    assert type(events[0]) is type(wanted[0]) is Started
    assert abs(events[0].onset - wanted[0].onset) <= 1024
    ends = [[e for e in stream if isinstance(e, Paused)][-1] for stream in (events, wanted)]
    assert abs(ends[0].last_voiced - ends[1].last_voiced) <= 1024


def test_a20_the_sound_has_300_ms_before_the_onset_equal_to_the_resampled_source() -> None:
    source = soxr.resample(between_silences("goforward.wav"), 16_000, 48_000)
    ear = Ear(vad_model(), 48_000)
    (started,) = [e for e in run(ear, source, 960) if isinstance(e, Started)]
    resampled = Resampler(48_000, 16_000).push(source, last=True)
    wanted = resampled[started.onset - PRE_ROLL : ear.position]
    assert np.array_equal(to_int16(ear.audio(1)), wanted)
    assert ear.position >= len(resampled) - 0.007 * 16_000


@pytest.mark.parametrize("dbfs", [-60, -40, -25])
def test_noise_starts_nothing(dbfs: float) -> None:
    assert run(Ear(vad_model(), 16_000), noise(5, dbfs), 320) == []


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([16_000, 24_000, 44_100]),
    st.lists(st.integers(0, 6000), min_size=1, max_size=8),
)
def test_any_cutting_of_speech_gives_the_same_events_and_sound(rate: int, sizes: list[int]) -> None:
    pcm = np.concatenate([clip("cards_002.wav"), noise(0.4, -65)])
    pcm = pcm if rate == 16_000 else soxr.resample(pcm, 16_000, rate)
    whole, pieces = Ear(vad_model(), rate), Ear(vad_model(), rate)
    events = whole.push(pcm)
    assert len(events) > 4
    assert [event for piece in cut(pcm, sizes) for event in pieces.push(piece)] == events
    assert np.array_equal(pieces.audio(1), whole.audio(1))


def test_two_ears_share_the_model_and_nothing_else() -> None:
    alone = run(Ear(vad_model(), 16_000), between_silences("cards_001.wav"), 320)
    one, other, events = Ear(vad_model(), 16_000), Ear(vad_model(), 24_000), []
    theirs = cut(clip("jfk.wav"), [480])
    for mine, foreign in zip(cut(between_silences("cards_001.wav"), [320]), theirs, strict=False):
        events += one.push(mine)
        other.push(foreign)
    assert events == alone

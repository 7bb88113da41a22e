import numpy as np
import pytest
import soxr
from clips import clip, cut, tone
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio.resample import Resampler

RATES = [(48000, 16000), (44100, 16000), (24000, 16000), (8000, 16000), (22050, 24000)]
RATES += [(24000, 48000), (16000, 24000), (16000, 16000)]


def at_once(pcm: NDArray[np.int16], from_hz: int, to_hz: int) -> NDArray[np.int16]:
    return Resampler(from_hz, to_hz).push(pcm, last=True)


def level_db(pcm: NDArray[np.int16]) -> float:
    middle = pcm[1000:-1000].astype(float)
    return 20 * float(np.log10(np.sqrt(np.mean(middle**2)) + 1e-9))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(RATES), st.lists(st.integers(0, 2000), min_size=1, max_size=12))
def test_o06_any_cutting_gives_the_samples_of_one_piece(
    rates: tuple[int, int], sizes: list[int]
) -> None:
    pcm = clip("tidigits_29340.wav")[:12_000]
    whole = at_once(pcm, *rates)
    resampler = Resampler(*rates)
    pieces = [resampler.push(piece) for piece in cut(pcm, sizes)]
    pieces.append(resampler.push(pcm[:0], last=True))
    assert np.array_equal(np.concatenate(pieces), whole)
    assert abs(len(whole) - len(pcm) * rates[1] / rates[0]) <= 1


def three_tones(rate: int, band: float) -> NDArray[np.int16]:
    parts = [tone(band * part, rate, 1, 6_000) for part in (0.02, 0.33, 0.85)]
    return np.sum(parts, axis=0).astype(np.int16)


@pytest.mark.parametrize("rates", RATES)
def test_is_the_sound_itself_taken_at_other_moments(rates: tuple[int, int]) -> None:
    from_hz, to_hz = rates
    band = min(from_hz, to_hz) / 2
    out = at_once(three_tones(from_hz, band), from_hz, to_hz)
    wanted = three_tones(to_hz, band)
    # Away from the ends, where tones begin and stop with a click.
    assert np.abs(out.astype(int) - wanted)[2000:-2000].max() <= 3


@pytest.mark.parametrize("rates", RATES)
def test_agrees_with_an_independent_resampler_on_speech(rates: tuple[int, int]) -> None:
    from_hz, to_hz = rates
    pcm = soxr.resample(clip("jfk.wav")[: 4 * 16_000], 16_000, from_hz)
    low = soxr.resample(soxr.resample(pcm, from_hz, 6_800), 6_800, from_hz)  # both filters are flat
    ours, theirs = at_once(low, from_hz, to_hz), soxr.resample(low, from_hz, to_hz)
    assert len(ours) == len(theirs)
    error = (ours.astype(int) - theirs)[2000:-2000].astype(np.int16)
    assert level_db(error) < level_db(theirs) - 60


@pytest.mark.parametrize(("from_hz", "hz"), [(48000, 8001), (48000, 15000), (24000, 9000)])
def test_what_would_alias_is_gone(from_hz: int, hz: float) -> None:
    assert (
        level_db(at_once(tone(hz, from_hz, 1), from_hz, 16000)) < level_db(tone(hz, 48000, 1)) - 75
    )


@pytest.mark.parametrize(("from_hz", "to_hz"), RATES)
def test_o10_pitch_and_duration_are_kept(from_hz: int, to_hz: int) -> None:
    out = at_once(tone(440, from_hz, 2), from_hz, to_hz)
    assert len(out) / to_hz == pytest.approx(2.0, rel=0.01)
    spectrum = np.abs(np.fft.rfft(out * np.hanning(len(out))))
    assert np.argmax(spectrum) * to_hz / len(out) == pytest.approx(440, rel=0.01)


@pytest.mark.parametrize(("from_hz", "to_hz"), RATES)
def test_little_is_held_back(from_hz: int, to_hz: int) -> None:
    resampler = Resampler(from_hz, to_hz)
    given_s = out_s = 0.0
    for piece in cut(tone(300, from_hz, 1), [from_hz // 50]):
        out_s += len(resampler.push(piece)) / to_hz
        given_s += len(piece) / from_hz
        assert given_s - out_s <= resampler.delay_s + 1 / to_hz
    assert resampler.delay_s < 0.007


def test_the_end_of_one_stream_is_the_start_of_the_next() -> None:
    resampler = Resampler(24000, 16000)
    pcm = tone(700, 24000, 0.3)
    first, second = resampler.push(pcm, last=True), resampler.push(pcm, last=True)
    assert np.array_equal(first, second)


def test_memory_does_not_grow_with_the_stream() -> None:
    resampler = Resampler(44100, 16000)
    pcm = tone(300, 44100, 1)
    for _ in range(30):
        resampler.push(pcm)
    assert len(resampler._pending) < 2000


def test_loud_sound_does_not_wrap() -> None:
    square = np.where(tone(200, 48000, 0.5) >= 0, 32767, -32768).astype(np.int16)
    out = at_once(square, 48000, 16000)[100:-100]
    # A wrapped overshoot would be a sample of the other sign in the middle of a half wave.
    assert np.count_nonzero(np.diff(np.sign(out))) <= 201


@pytest.mark.parametrize("rates", [(0, 16000), (16000, -1), (3999, 16000), (16000, 400_000)])
def test_rates_that_are_none_are_refused(rates: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="sample rate"):
        Resampler(*rates)

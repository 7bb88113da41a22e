from pathlib import Path

import numpy as np
import pytest
from clips import between_silences, clip, cut, noise, vad_model
from faster_whisper.vad import get_vad_model
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.model_file import ModelError
from audio.vad import WINDOW, VadModel, VoiceActivity


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=12))
def test_a03_any_cutting_scores_every_window_once(sizes: list[int]) -> None:
    pcm = clip("cards_001.wav")
    whole = VoiceActivity(vad_model()).push(pcm)
    activity = VoiceActivity(vad_model())
    parts = [p for piece in cut(pcm, sizes) for p in activity.push(piece)]
    assert parts == whole
    assert len(whole) == len(pcm) // WINDOW


def test_a03_nothing_twice_then_three_windows_at_once() -> None:
    activity = VoiceActivity(vad_model())
    nothing = np.zeros(0, np.int16)
    assert activity.push(nothing) == activity.push(nothing) == []
    assert len(activity.push(noise(3 * WINDOW / 16_000, -40))) == 3


def test_scores_equal_the_models_own_batch_code() -> None:
    pcm = clip("librivox_0880.wav")
    pcm = pcm[: len(pcm) // WINDOW * WINDOW]
    ours = VoiceActivity(vad_model()).push(pcm)
    theirs = get_vad_model()(pcm.astype(np.float32) / 32768).reshape(-1)
    # The last one is left out: the batch code overwrites the end of its last window.
    assert np.abs(np.array(ours) - theirs)[:-1].max() < 1e-4


@pytest.mark.parametrize("name", ["jfk.wav", "librivox_0870.wav", "goforward.wav"])
def test_hears_a_voice_and_not_the_silence_around_it(name: str) -> None:
    scores = np.array(VoiceActivity(vad_model()).push(between_silences(name)))
    assert scores[:28].max() < 0.3
    assert np.mean(scores[36:-70] > 0.5) > 0.6
    assert scores[-40:].max() < 0.3


@pytest.mark.parametrize("dbfs", [-60, -40, -25])
def test_noise_is_no_voice(dbfs: float) -> None:
    assert max(VoiceActivity(vad_model()).push(noise(5, dbfs))) < 0.5


def test_two_listeners_share_the_model_and_nothing_else() -> None:
    alone = VoiceActivity(vad_model()).push(clip("cards_003.wav"))
    one, other = VoiceActivity(vad_model()), VoiceActivity(vad_model())
    scores = []
    for mine, theirs in zip(
        cut(clip("cards_003.wav"), [700]), cut(clip("jfk.wav"), [700]), strict=False
    ):
        scores += one.push(mine)
        other.push(theirs)
    assert scores == alone


def test_reset_forgets() -> None:
    activity = VoiceActivity(vad_model())
    first = activity.push(clip("cards_002.wav"))
    activity.reset()
    assert activity.push(clip("cards_002.wav")) == first


def test_d03_another_file_is_a_start_up_error(tmp_path: Path) -> None:
    other = tmp_path / "silero.onnx"
    other.write_bytes(b"not the model")
    with pytest.raises(ModelError, match=r"voice activity model: .* another version"):
        VadModel(other)


def test_d03_a_missing_file_is_a_start_up_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        VadModel(tmp_path / "none.onnx")


def test_d03_contract_512_samples_in_one_probability_out() -> None:
    state = np.zeros((1, 1, 128), np.float32)
    probability, h, c = vad_model().step(np.zeros((1, 576), np.float32), state, state)
    assert 0.0 <= probability <= 1.0
    assert h.shape == c.shape == (1, 1, 128)

import numpy as np
import pytest
from clips import TRANSCRIPTS, clip, noise
from faster_whisper.feature_extractor import FeatureExtractor

from audio.mel import BANDS, HOP, log_mel
from audio.pcm import to_float


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_equals_an_independent_implementation(name: str) -> None:
    sound = to_float(clip(name))
    sound = sound[: len(sound) // HOP * HOP]
    theirs = FeatureExtractor(feature_size=BANDS)(sound, padding=0)
    ours = log_mel(sound)
    assert ours.shape == theirs.shape == (BANDS, len(sound) // HOP)
    assert np.abs(ours - theirs).max() < 1e-4


@pytest.mark.parametrize("samples", [201, 1000, 16_000, 16_001, 192_000])
def test_shape_and_type(samples: int) -> None:
    features = log_mel(to_float(noise(13, -30)[:samples]))
    assert features.shape == (BANDS, samples // HOP)
    assert features.dtype == np.float32
    assert features.flags.c_contiguous


def test_silence_is_finite() -> None:
    assert np.isfinite(log_mel(np.zeros(16_000, np.float32))).all()

import asyncio
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from clips import TRANSCRIPTS, clip
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray

from audio.endpoint import TurnModel, load_turn_model, turn_features
from audio.model_file import ModelError
from audio.pcm import to_float
from audio.weights import weights_dir


def published_features(sound: NDArray[np.float32]) -> NDArray[np.float64]:
    """Whisper's extractor with `do_normalize` and 8 s, written out frame by frame in float64."""
    padded = np.concatenate([np.zeros(128_000), sound])[-128_000:].astype(np.float64)
    normal = (padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)
    edged = np.pad(normal, 200, mode="reflect")
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    filters = FeatureExtractor.get_mel_filters(16_000, 400, n_mels=80)
    columns = []
    for frame in range(801):
        spectrum = np.fft.rfft(edged[frame * 160 : frame * 160 + 400] * hann)
        columns.append(np.log10(np.maximum(filters @ np.abs(spectrum) ** 2, 1e-10)))
    logs = np.stack(columns, axis=1)[:, :-1]
    return (np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0


@pytest.mark.parametrize("name", ["cards_001.wav", "librivox_0870.wav", "jfk.wav"])
def test_features_equal_the_published_formula(name: str) -> None:
    sound = to_float(clip(name))
    features = turn_features(sound)
    assert features.shape == (1, 80, 800)
    assert features.dtype == np.float32
    assert np.abs(features[0] - published_features(sound)).max() < 1e-4


def test_only_the_last_eight_seconds_count() -> None:
    sound = to_float(clip("jfk.wav"))
    assert np.array_equal(turn_features(sound), turn_features(sound[-128_000:]))


def test_silence_and_nothing_have_features() -> None:
    assert np.isfinite(turn_features(np.zeros(0, np.float32))).all()


def test_without_weights_there_is_no_model_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="audio.endpoint"):
        assert load_turn_model(tmp_path) is None
    assert "no turn model" in caplog.text


def test_d03_a_damaged_file_is_a_start_up_error(tmp_path: Path) -> None:
    path = tmp_path / "smart-turn-v3.2" / "model.onnx"
    path.parent.mkdir()
    path.write_bytes(b"half a model")
    with pytest.raises(ModelError, match=r"turn model: .* damaged"):
        load_turn_model(tmp_path)


@pytest.fixture(scope="module")
def model() -> Iterator[TurnModel]:
    model = load_turn_model(weights_dir())
    assert model is not None
    model.warm()
    yield model
    model.close()


def spoken(name: str) -> NDArray[np.float32]:
    """A clip up to 100 ms after the last tenth of a second within 25 dB of its loudest."""
    sound = to_float(clip(name))
    frames = sound[: len(sound) // 1600 * 1600].reshape(-1, 1600)
    power = np.mean(frames**2, axis=1)
    last = np.flatnonzero(power > power.max() * 10**-2.5)[-1]
    return sound[: (last + 2) * 1600]


@pytest.mark.models
async def test_finished_sentences_score_higher_than_sentences_cut_off(model: TurnModel) -> None:
    finished, cut_off = [], []
    for name in TRANSCRIPTS:
        sound = spoken(name)
        finished.append(await model.score(sound))
        if name.startswith(("librivox", "jfk", "something")):  # lists of cards may end anywhere
            pause = np.zeros(1600, np.float32)
            for part in (0.4, 0.5, 0.6):
                cut_off.append(
                    await model.score(np.concatenate([sound[: int(part * len(sound))], pause]))
                )
    assert all(0.0 <= score <= 1.0 for score in finished + cut_off)
    assert np.mean(np.array(finished) > 0.5) >= 0.7
    assert np.mean(np.array(cut_off) <= 0.5) >= 0.6
    assert np.median(finished) > np.median(cut_off) + 0.4


@pytest.mark.models
async def test_runs_in_a_thread_of_its_own(model: TurnModel) -> None:
    await asyncio.gather(*(model.score(spoken("cards_001.wav")) for _ in range(3)))
    names = [thread.name for thread in threading.enumerate()]
    assert sum(name.startswith("turn-model") for name in names) == 1
    assert not any(name.startswith("asyncio_") for name in names)

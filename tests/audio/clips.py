"""The recorded clips, the shared detector, and a simulated detector for the tests of hearing."""

import csv
import wave
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audio.vad import VadModel

SPEECH = Path(__file__).parent.parent / "speech"

with (SPEECH / "transcripts.tsv").open(encoding="utf-8") as _table:
    TRANSCRIPTS: dict[str, str] = {
        row["file"]: row["transcript"] for row in csv.DictReader(_table, delimiter="\t")
    }


@cache
def clip(name: str) -> NDArray[np.int16]:
    """One clip of people speaking, mono int16 at 16 kHz."""
    with wave.open(str(SPEECH / name)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        pcm = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(np.int16)
    pcm.setflags(write=False)
    return pcm


@cache
def vad_model() -> VadModel:
    """The real detector, loaded once for all tests."""
    return VadModel()


def noise(seconds: float, dbfs: float, seed: int = 0) -> NDArray[np.int16]:
    """White noise at 16 kHz."""
    rng = np.random.default_rng(seed)
    loud = rng.normal(0.0, 32768 * 10 ** (dbfs / 20), int(seconds * 16_000))
    return np.clip(np.rint(loud), -32768, 32767).astype(np.int16)


def between_silences(name: str) -> NDArray[np.int16]:
    """A clip with a second of faint noise before and two after it."""
    return np.concatenate([noise(1, -65, 1), clip(name), noise(2, -65, 2)])


def tone(hz: float, rate: int, seconds: float, amplitude: float = 16_000) -> NDArray[np.int16]:
    """A sine at `rate`."""
    at = np.arange(int(rate * seconds)) / rate
    return np.rint(amplitude * np.sin(2 * np.pi * hz * at)).astype(np.int16)


def cut(pcm: NDArray[np.int16], sizes: list[int]) -> list[NDArray[np.int16]]:
    """The stream in pieces of the given sizes, over and over until it ends."""
    pieces, at, turn = [], 0, 0
    while at < len(pcm):
        size = sizes[turn % len(sizes)] if any(sizes) else len(pcm)
        pieces.append(pcm[at : at + size])
        at, turn = at + size, turn + 1
    return pieces


class ScriptedVad(VadModel):
    """A SIMULATED detector: the probability of a window is its first sample over full scale."""

    def __init__(self) -> None:
        pass

    def step(
        self, window: NDArray[np.float32], h: NDArray[np.float32], c: NDArray[np.float32]
    ) -> tuple[float, NDArray[np.float32], NDArray[np.float32]]:
        return float(window[0, 64]), h, c


def scripted_sound(probabilities: list[float]) -> NDArray[np.int16]:
    """Sound that `ScriptedVad` gives these probabilities; its other samples are all different."""
    pcm = (np.arange(512 * len(probabilities), dtype=np.int64) % 65_521 - 32_760).astype(np.int16)
    pcm[::512] = np.rint(np.array(probabilities) * 32_767).astype(np.int16)
    return pcm

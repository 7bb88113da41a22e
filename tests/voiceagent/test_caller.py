"""The caller on the command line: what it refuses, and how it measures."""

from __future__ import annotations

import asyncio
import socket
import wave
from pathlib import Path

import numpy as np
import pytest

from voiceagent.caller import CallError, call, first_voiced, last_voiced, read_wav


def a_wav(
    path: Path, *, rate: int = 16_000, width: int = 2, channels: int = 1, n: int = 800
) -> Path:
    with wave.open(str(path), "wb") as wav:
        wav.setparams((channels, width, rate, 0, "NONE", ""))
        wav.writeframes(b"\x10" * (n * width * channels))
    return path


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_a02_o10_any_usual_rate_lasts_as_long_at_24_khz(tmp_path: Path, rate: int) -> None:
    pcm = read_wav(a_wav(tmp_path / "a.wav", rate=rate, n=rate))
    assert abs(len(pcm) - 24_000) <= 240


def test_stereo_is_mixed_to_mono(tmp_path: Path) -> None:
    assert len(read_wav(a_wav(tmp_path / "a.wav", channels=2, rate=24_000, n=480))) == 480


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rate": 96_000}, "96000 samples a second"),
        ({"rate": 4_000}, "4000 samples a second"),
        ({"width": 3}, "24-bit"),
        ({"width": 1}, "8-bit"),
        ({"n": 0}, "no sound"),
    ],
)
def test_a_wav_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, change: dict[str, int], says: str
) -> None:
    with pytest.raises(CallError, match=says):
        read_wav(a_wav(tmp_path / "a.wav", **change))


def test_what_is_no_wav_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"not a wav at all")
    for path in (tmp_path / "a.wav", tmp_path / "missing.wav"):
        with pytest.raises(CallError, match="not a wav file"):
            read_wav(path)


def test_no_server_is_one_sentence_with_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(CallError, match=r"No server answers .*scripts/run"):
        asyncio.run(call(f"ws://127.0.0.1:{port}/v1/realtime", None, [a_wav(tmp_path / "a.wav")]))


def test_the_edges_of_speech_are_found_within_10_ms() -> None:
    tone = (np.sin(np.arange(24_000) / 10) * 9_000).astype(np.int16)
    pcm = np.concatenate([np.zeros(12_000, np.int16), tone, np.zeros(7_000, np.int16)])
    assert abs(first_voiced(pcm) - 12_000) <= 240
    assert abs(last_voiced(pcm) - 36_000) <= 240

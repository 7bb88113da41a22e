"""The real server as a process of its own; a voice to talk to it, and an ear for its words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.weights import weights_dir

READY_WITHIN_S = 300.0
"""Loading a gigabyte on a machine that is busy with other things takes its time."""
SERVE = "from voiceagent.cli import app; app()"


@contextmanager
def real_server(*, log_level: str = "info", **environ: str) -> Iterator[str]:
    """The address of a server with all its models warm; it ends with the block."""
    command = [sys.executable, "-c", SERVE, "serve", "--port", "0"]
    env = os.environ | {"VOICEAGENT_LOG_LEVEL": log_level} | environ
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        found = re.search(r"http://\S+", first)
        if found is None:
            raise RuntimeError(f"the server did not start: {first!r}")
        threading.Thread(target=process.stdout.read, daemon=True).start()
        url = found.group().replace("localhost", "127.0.0.1")
        _wait_until_ready(url, process)
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[str]) -> None:
    deadline, parts = time.monotonic() + READY_WITHIN_S, ""
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}readyz", timeout=5):
                return
        except urllib.error.HTTPError as error:
            parts = json.load(error).get("parts", "")
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError(f"the server did not get ready: {parts}")


@cache
def _voice() -> Any:
    from hibari import Hibari

    return Hibari()


def spoken(text: str) -> NDArray[np.int16]:
    """A synthesized person, 24 kHz, without the silence around the words."""
    wave = np.asarray(_voice()(text, seed=1), dtype=np.float32)
    loud = np.flatnonzero(np.abs(wave) > 0.01)
    said: NDArray[np.int16] = np.rint(wave[loud[0] : loud[-1] + 1] * 22_937).astype(np.int16)
    return said


@cache
def _recogniser() -> Any:
    from faster_whisper import WhisperModel

    return WhisperModel(str(weights_dir() / "whisper-base"), device="cpu", compute_type="int8")


def words_in(wave: NDArray[np.float32], rate: int) -> str:
    """What can be understood of a recording, in small letters."""
    heard = np.asarray(soxr.resample(wave, rate, 16_000), dtype=np.float32)
    segments, _ = _recogniser().transcribe(heard, language="en", beam_size=5)
    return " ".join(segment.text.strip() for segment in segments).lower()


def plain(text: str) -> list[str]:
    """The words of a text without case and punctuation, to compare what was said and heard."""
    return re.findall(r"[a-z0-9]+", text.lower())

"""The sound of a session, kept where the operator wants it, and put on one time line again."""

from __future__ import annotations

import io
import wave
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.sound_kept import BEFORE_US, CLIP_RATE, RATE, SessionSound, SoundBehind, clip, clips
from voiceagent.turn_record import Anchor, PauseRecord, TurnRecord

SECOND = 1_000_000
PAUSE = PauseRecord(3 * SECOND, SECOND, Place.PHRASE, Cause.UNDERRUN, SECOND, 0, RATE)


def ramp(samples: int) -> NDArray[np.int16]:
    """A slow wave that is never silent, and different at each second."""
    at = np.arange(samples) / RATE
    return (8_000 + 1_000 * at + 500 * np.sin(at * 600)).astype(np.int16)


def kept(folder: Path) -> TurnRecord:
    """Ten seconds of microphone, and a reply of two: one heard from 2 s on, one from 4 s on."""
    sound = SessionSound(folder)
    sound.heard(ramp(10 * RATE))
    for part in np.split(ramp(2 * RATE), 4):
        sound.voiced(7, part)
    sound.close(input_at=5 * SECOND, began=5 * SECOND)
    anchors = (Anchor(0, 2 * SECOND), Anchor(RATE, 4 * SECOND))
    return TurnRecord(
        1, "spoken", reply=7, anchors=anchors, ended_us=5 * SECOND, pauses=(PAUSE,), measured=True
    )


def channels(sound: bytes) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Left and right, at 24 kHz again (every sample twice)."""
    with wave.open(io.BytesIO(sound)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (2, 2, CLIP_RATE)
        both = np.frombuffer(wav.readframes(wav.getnframes()), "<i2").reshape(-1, 2)
    left, right = np.repeat(both, RATE // CLIP_RATE, axis=0).T
    return left, right


def same(one: NDArray[np.int16], other: NDArray[np.int16]) -> bool:
    """But for the resampling, which rings at the edges."""
    inner = slice(500, -500)
    return bool(np.abs(one[inner].astype(int) - other[inner].astype(int)).max() < 200)


def silent(pcm: NDArray[np.int16]) -> bool:
    return bool(np.abs(pcm[500:-500]).max() < 10)


def test_both_sides_lie_where_they_were_heard(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    sound = clip(tmp_path / "s", turn, 1 * SECOND, 6 * SECOND)
    assert sound is not None
    person, agent = channels(sound)
    assert same(person, ramp(10 * RATE)[RATE : 6 * RATE])
    assert silent(agent[:RATE])
    assert same(agent[RATE : 2 * RATE], ramp(2 * RATE)[:RATE])
    assert silent(agent[2 * RATE : 3 * RATE])  # the underrun
    assert same(agent[3 * RATE : 4 * RATE], ramp(2 * RATE)[RATE:])
    assert silent(agent[4 * RATE :])


def test_a_reply_that_was_cut_is_heard_no_further(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    cut = TurnRecord(1, "spoken", reply=7, anchors=turn.anchors, ended_us=4_500_000)
    sound = clip(tmp_path / "s", cut, 4 * SECOND, 5 * SECOND)
    assert sound is not None
    _, agent = channels(sound)
    assert agent[: RATE // 2 - 500].all()
    assert silent(agent[RATE // 2 :])


def test_each_awkward_pause_has_a_clip(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    found = clips(tmp_path / "s", [turn])
    assert list(found) == [(1, 0)]
    _, agent = channels(found[1, 0])
    begins = BEFORE_US * RATE // SECOND
    assert agent[begins - 500]
    assert silent(agent[begins : begins + RATE])
    assert agent[begins + RATE + 500]


def test_a_slow_answer_has_a_clip(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    slow = replace(turn, pauses=(), user_end_us=500_000, gap_us=1_500_000)
    assert list(clips(tmp_path / "s", [slow])) == [(1, None)]
    assert clips(tmp_path / "s", [replace(slow, gap_us=999_000)]) == {}


def test_no_sound_no_clips(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    assert clips(tmp_path / "elsewhere", [turn]) == {}
    (tmp_path / "s" / "reply-7.wav").write_bytes(b"RIFF, and then nothing")
    assert clips(tmp_path / "s", [turn]) == {}
    (tmp_path / "s" / "timeline.json").write_text("{")
    assert clip(tmp_path / "s", turn, 0, SECOND) is None


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    kept(tmp_path / "s")
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "s").iterdir())


def test_a_clip_that_begins_before_the_microphone_does(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    sound = clip(tmp_path / "s", turn, -SECOND, SECOND)
    assert sound is not None
    person, _ = channels(sound)
    assert silent(person[:RATE])
    assert same(person[RATE:], ramp(RATE))


class SlowDisk(SessionSound):
    """Writes nothing before it may (a simulation)."""

    def __init__(self) -> None:
        self.may, self.pieces, self.closed = Event(), 0, False

    def heard(self, pcm: NDArray[np.int16]) -> None:
        self.may.wait(10)
        self.pieces += 1

    def close(self, input_at: int | None, began: int) -> None:
        self.closed = True
        self.done.set()

    done = Event()


def test_a_slow_disk_ends_the_keeping_and_delays_nobody(caplog: pytest.LogCaptureFixture) -> None:
    disk = SlowDisk()
    behind = SoundBehind(disk)
    for _ in range(3_000):
        behind.heard(ramp(480))
    behind.close(None, 0)
    assert disk.pieces == 0
    disk.may.set()
    assert disk.done.wait(10)
    assert 1_000 <= disk.pieces <= 1_100
    assert len(caplog.records) == 1

"""The sound of a session, kept where the operator wants it, and put on one time line again."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.sound_kept import BEFORE_US, RATE, SessionSound, clip, clips
from voiceagent.turn_record import Anchor, PauseRecord, TurnRecord

SECOND = 1_000_000
PAUSE = PauseRecord(3 * SECOND, SECOND, Place.PHRASE, Cause.UNDERRUN, SECOND, 0, RATE)


def ramp(samples: int, start: int = 1) -> NDArray[np.int16]:
    """Samples that are all different, for as long as there are numbers."""
    return (np.arange(start, start + samples) % 30_000 + 1).astype(np.int16)


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
    with wave.open(io.BytesIO(sound)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (2, 2, RATE)
        both = np.frombuffer(wav.readframes(wav.getnframes()), "<i2").reshape(-1, 2)
    return both[:, 0], both[:, 1]


def test_both_sides_lie_where_they_were_heard(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    sound = clip(tmp_path / "s", turn, 1 * SECOND, 6 * SECOND)
    assert sound is not None
    person, agent = channels(sound)
    assert np.array_equal(person, ramp(10 * RATE)[RATE : 6 * RATE])
    assert not agent[:RATE].any()
    assert np.array_equal(agent[RATE : 2 * RATE], ramp(2 * RATE)[:RATE])
    assert not agent[2 * RATE : 3 * RATE].any()  # the underrun
    assert np.array_equal(agent[3 * RATE : 4 * RATE], ramp(2 * RATE)[RATE:])
    assert not agent[4 * RATE :].any()


def test_a_reply_that_was_cut_is_heard_no_further(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    cut = TurnRecord(1, "spoken", reply=7, anchors=turn.anchors, ended_us=4_500_000)
    sound = clip(tmp_path / "s", cut, 4 * SECOND, 5 * SECOND)
    assert sound is not None
    _, agent = channels(sound)
    assert agent[: RATE // 2].all()
    assert not agent[RATE // 2 :].any()


def test_each_awkward_pause_has_a_clip(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    found = clips(tmp_path / "s", [turn])
    assert list(found) == [(1, 0)]
    _, agent = channels(found[1, 0])
    silent = BEFORE_US * RATE // SECOND
    assert agent[silent - 10]
    assert not agent[silent : silent + RATE].any()
    assert agent[silent + RATE + 10]


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
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "s").glob("*.wav"))


def test_a_clip_that_begins_before_the_microphone_does(tmp_path: Path) -> None:
    turn = kept(tmp_path / "s")
    sound = clip(tmp_path / "s", turn, -SECOND, SECOND)
    assert sound is not None
    person, _ = channels(sound)
    assert not person[:RATE].any()
    assert np.array_equal(person[RATE:], ramp(RATE))

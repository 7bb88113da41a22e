"""The sound of a session, kept beside its records: the microphone, and each reply as voiced.

``input.wav`` runs without gaps from the client's first sample; ``reply-N.wav`` is all that reply N
handed to playout. When each was heard is in the turns' anchors, so both sides can be put on one
time line again, silence and underruns as they were: ``clip`` does that for a stretch of time.
"""

from __future__ import annotations

import io
import json
import logging
import os
import wave
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audio.resample import Resampler
from voiceagent.rhythm.gaps import SLOW_MS
from voiceagent.rhythm.pauses import DEFAULT_CUTS, Cuts, Pause, Place, is_disturbing
from voiceagent.turn_record import Anchor, TurnRecord

log = logging.getLogger(__name__)

RATE = 24_000
BEFORE_US, AFTER_US = 1_500_000, 1_000_000
"""What of the speech around a pause belongs to its clip."""
MOST_CLIPS = 16
"""In one report: 4 s each are 190 kB."""
CLIP_RATE = 12_000
"""Enough to hear a pause."""
_LONGEST_US = 12_000_000
_MOST_WAITING = 1_000
"""Pieces that may wait to be written: twenty seconds of both sides."""
_OPEN = 2
"""Replies that may still grow."""


def _private(path: str, flags: int) -> int:
    """What people said is for the operator's eyes only."""
    return os.open(path, flags, 0o600)


class _Wav:
    """A mono wav that grows."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb", opener=_private)  # noqa: SIM115 - closed in close
        self._wav = wave.open(self._file)  # noqa: SIM115 - closed in close
        self._wav.setparams((1, 2, RATE, 0, "NONE", ""))

    def write(self, pcm: NDArray[np.int16]) -> None:
        self._wav.writeframesraw(pcm.astype("<i2", copy=False).tobytes())

    def close(self) -> None:
        self._wav.close()
        self._file.close()


class SessionSound:
    """Writes one session's sound. Raises OSError where the folder cannot be made."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._input: _Wav | None = _Wav(folder / "input.wav")
        self._replies: OrderedDict[int, _Wav] = OrderedDict()

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """The microphone's next samples (24 kHz)."""
        if self._input:
            self._write(self._input, pcm)

    def voiced(self, reply: int, pcm: NDArray[np.int16]) -> None:
        """The reply's next samples (24 kHz)."""
        if self._input is None:
            return
        try:
            wav = self._replies.get(reply)
            if wav is None:
                wav = self._replies[reply] = _Wav(self._folder / f"reply-{reply}.wav")
            while len(self._replies) > _OPEN:
                self._replies.popitem(last=False)[1].close()
        except OSError as error:
            self._give_up(error)
            return
        self._write(wav, pcm)

    def close(self, input_at: int | None, began: int) -> None:
        """Finish the files. ``input_at`` is the session time of the microphone's first sample."""
        wavs = [*self._replies.values(), *([self._input] if self._input else [])]
        self._replies.clear()
        self._input = None
        try:
            for wav in wavs:
                wav.close()
            start = None if input_at is None else input_at - began
            timeline = json.dumps({"input_began_us": start})
            with open(self._folder / "timeline.json", "w", opener=_private) as file:
                file.write(timeline)
        except OSError as error:
            log.error("the sound of a session is not complete: %s", error.strerror)

    def _write(self, wav: _Wav, pcm: NDArray[np.int16]) -> None:
        try:
            wav.write(pcm)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """A full disk ends the keeping, not the session."""
        log.error("the sound of a session is kept no further: %s", error.strerror)
        self._input = None
        self._replies.clear()


class SoundBehind:
    """Writes a session's sound in a thread, behind the call: a slow disk delays nobody.

    A disk that is too slow for that ends the keeping, as a full one does.
    """

    _thread = ThreadPoolExecutor(1, thread_name_prefix="sound")

    def __init__(self, sound: SessionSound) -> None:
        self._sound = sound
        self._waiting: deque[Future[None]] = deque()
        self._off = False

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """See ``SessionSound.heard``."""
        self._later(lambda: self._sound.heard(pcm))

    def voiced(self, reply: int, pcm: NDArray[np.int16]) -> None:
        """See ``SessionSound.voiced``."""
        self._later(lambda: self._sound.voiced(reply, pcm))

    def close(self, input_at: int | None, began: int) -> None:
        """See ``SessionSound.close``."""
        self._thread.submit(lambda: self._sound.close(input_at, began))

    def _later(self, work: Callable[[], None]) -> None:
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()
        if len(self._waiting) > _MOST_WAITING and not self._off:
            self._off = True
            log.error("the sound of a session is kept no further: the disk is too slow")
        if not self._off:
            self._waiting.append(self._thread.submit(work))


def clips(
    folder: Path, turns: Iterable[TurnRecord], cuts: Mapping[Place, Cuts] = DEFAULT_CUTS
) -> dict[tuple[int, int | None], bytes]:
    """A wav for each awkward and severe pause, by (turn, its place among the turn's pauses), and
    for each slow answer, by (turn, None).

    Left is the person, right the agent. Empty where the session's sound is not there.
    """
    if not folder.is_dir():
        return {}
    found: dict[tuple[int, int | None], bytes] = {}
    for turn in turns:
        for index, start_us, lasted_us in _moments(turn, cuts):
            end_us = start_us + min(lasted_us, _LONGEST_US) + AFTER_US
            sound = clip(folder, turn, start_us - BEFORE_US, end_us)
            if sound is not None:
                found[turn.number, index] = sound
            if len(found) >= MOST_CLIPS:
                return found
    return found


def _moments(turn: TurnRecord, cuts: Mapping[Place, Cuts]) -> Iterator[tuple[int | None, int, int]]:
    """(index, when, how long) of what a listener will have minded."""
    end, gap = turn.user_end_us, turn.gap_us
    if end is not None and gap is not None and gap >= SLOW_MS * 1_000:
        yield None, end, gap
    for index, pause in enumerate(turn.pauses):
        shape = Pause(pause.at_us, pause.duration_us, pause.place, pause.cause)
        if is_disturbing(shape, cuts):
            yield index, pause.at_us, pause.duration_us


def clip(folder: Path, turn: TurnRecord, start_us: int, end_us: int) -> bytes | None:
    """What was to be heard of a turn between two session times, as a stereo wav."""
    agent = _read(folder / f"reply-{turn.reply}.wav", 0, None)
    if agent is None or not turn.anchors:
        return None
    length = _samples(end_us - start_us)
    right = _laid_out(agent, turn.anchors, turn.ended_us, start_us, length)
    left = np.zeros(length, np.int16)
    began = _input_began(folder)
    if began is not None:
        first = _samples(start_us - began)
        heard = _read(folder / "input.wav", max(0, first), length - max(0, -first))
        if heard is not None:
            at = max(0, -first)
            left[at : at + len(heard)] = heard
    out = io.BytesIO()
    with wave.open(out, "wb") as wav:
        wav.setparams((2, 2, CLIP_RATE, 0, "NONE", ""))
        both = [Resampler(RATE, CLIP_RATE).push(side, last=True) for side in (left, right)]
        wav.writeframes(np.stack(both, axis=1).astype("<i2").tobytes())
    return out.getvalue()


def _laid_out(
    agent: NDArray[np.int16],
    anchors: Sequence[Anchor],
    ended_us: int | None,
    start_us: int,
    length: int,
) -> NDArray[np.int16]:
    """The reply's samples where they were heard; silence where nothing was."""
    out = np.zeros(length, np.int16)
    for anchor, later in zip(anchors, [*anchors[1:], None], strict=True):
        last = len(agent) if later is None else later.sample
        if later is None and ended_us is not None:
            last = min(last, anchor.sample + _samples(ended_us - anchor.at_us))
        at = _samples(anchor.at_us - start_us)
        first = anchor.sample + max(0, -at)
        part = agent[first : max(first, min(last, first + length - max(0, at)))]
        out[max(0, at) : max(0, at) + len(part)] = part
    return out


def _read(path: Path, first: int, samples: int | None) -> NDArray[np.int16] | None:
    """Samples of a wav; None where there is none."""
    try:
        with wave.open(str(path), "rb") as wav:
            wav.setpos(min(first, wav.getnframes()))
            frames = wav.readframes(wav.getnframes() if samples is None else max(0, samples))
    except (OSError, EOFError, wave.Error):
        return None
    return np.frombuffer(frames[: len(frames) & ~1], "<i2").astype(np.int16)


def _input_began(folder: Path) -> int | None:
    try:
        text = (folder / "timeline.json").read_text(encoding="utf-8")
        began = json.loads(text)["input_began_us"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return began if isinstance(began, int) else None


def _samples(us: int) -> int:
    return us * RATE // 1_000_000

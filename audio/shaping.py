"""From what the model returns to what is played: trimmed, levelled, faded, with our own pause.

All of it on float32 at 24 kHz; all lengths are whole samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 24_000
"""Hz, mono: the rate of the voice and of the wire."""

FRAME = 120  # 5 ms
_FADE = 120  # 5 ms: shorter clicks, longer eats the burst of a "t"
_KEEP_BEFORE = 240  # 10 ms
_KEEP_AFTER = 480  # 20 ms of decay
SILENT_DBFS = -52.0
"""Below this at the levelled loudness nobody hears the start of a word (an "f" begins at -45)."""
_TARGET_DBFS = -21.0
"""Active speech level. ITU-T P.56 measures it so; -26 dBov is telephony's nominal level, and voices
on the web are about 5 dB louder."""
_ACTIVE_BELOW_PEAK_DB = 25.0
_GAIN_LIMIT_DB = 8.0
_PEAK = 0.89
"""-1 dBFS: no sample of the voice is louder, so nothing after it clips."""

_LONGEST_INSIDE = 1680
"""70 ms: longer silence where no mark stands is heard as a hesitation (fine under 100 ms, awkward
from 250: Campione and Veronis 2002, Lundholm Fors 2015). The model makes 350 before some "and"s."""

_PAUSE_MS = {",": 150, ";": 220, ":": 220, ".": 330, "!": 330, "?": 350, "…": 350}
_PARAGRAPH_MS = 450


def pause_samples(mark: str, text: str, speed: float) -> int:
    """The pause after a clause by the mark that closes it ("" in mid-phrase: none).

    150 ms after a comma and 330 after a sentence are usual in read speech (Campione and Veronis
    2002: short ones are under 200 ms, medium ones up to 1000), far below what a listener
    finds awkward (900 ms after a clause, 1500 after a sentence).
    """
    milliseconds = _PAUSE_MS.get(mark, 0)
    if milliseconds == 0 and text.rstrip()[-1:] in ("\u2014", "\u2013", "-"):
        milliseconds = _PAUSE_MS[","]
    if milliseconds and text.rstrip(" \t").endswith("\n\n"):
        milliseconds = _PARAGRAPH_MS
    return round(milliseconds * SAMPLE_RATE / 1000 / speed)


def level(audio: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bring speech to the target level; exact silence stays as it is."""
    power = frame_power(audio)
    if power.size == 0 or power.max() <= 0.0:
        return audio
    active = power[power > power.max() * 10 ** (-_ACTIVE_BELOW_PEAK_DB / 10)]
    gain_db = _TARGET_DBFS - 10.0 * float(np.log10(active.mean()))
    gain = 10.0 ** (float(np.clip(gain_db, -_GAIN_LIMIT_DB, _GAIN_LIMIT_DB)) / 20.0)
    gain = min(gain, _PEAK / float(np.abs(audio).max()))
    return audio * np.float32(gain)


def heard(audio: NDArray[np.float32]) -> tuple[int, int]:
    """First and last sample of what is audible, with a little of the silence around it."""
    loud = np.flatnonzero(frame_power(audio) > 10.0 ** (SILENT_DBFS / 10.0))
    if loud.size == 0:
        return 0, 0
    first = max(0, int(loud[0]) * FRAME - _KEEP_BEFORE)
    return first, min(len(audio), (int(loud[-1]) + 1) * FRAME + _KEEP_AFTER)


def hesitations(
    audio: NDArray[np.float32], starts: Sequence[tuple[int, bool]]
) -> list[tuple[int, int]]:
    """What to cut out of the silences inside a clause that no mark asks for.

    `starts` are the first sample of each word after the first, and whether a mark stands before it.
    Returns stretches of silence, ends exclusive, in order.
    """
    loud = np.flatnonzero(frame_power(audio) > 10.0 ** (SILENT_DBFS / 10.0)) * FRAME
    cuts: list[tuple[int, int]] = []
    for before, after in pairwise(loud):
        first, last = int(before) + FRAME, int(after)
        if last - first <= _LONGEST_INSIDE or not starts:
            continue
        _, marked = min(starts, key=lambda start: abs(start[0] - last))
        if not marked:
            cuts.append((first + _LONGEST_INSIDE // 2, last - _LONGEST_INSIDE // 2))
    return cuts


def without(audio: NDArray[np.float32], cuts: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
    """The audio without these stretches."""
    keep = np.ones(len(audio), np.bool_)
    for first, last in cuts:
        keep[first:last] = False
    return audio[keep]


def moved(sample: int, cuts: Sequence[tuple[int, int]]) -> int:
    """Where a sample is after `without`."""
    return sample - sum(max(0, min(sample, last) - first) for first, last in cuts)


def fade(audio: NDArray[np.float32]) -> NDArray[np.float32]:
    """Ramp both ends from and to zero, so that a cut is no click."""
    length = min(_FADE, len(audio) // 2)
    if length == 0:
        return audio
    ramp = np.sin(np.linspace(0.0, np.pi / 2, length, dtype=np.float32)) ** 2
    faded = audio.copy()
    faded[:length] *= ramp
    faded[-length:] *= ramp[::-1]
    return faded


def frame_power(audio: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mean power of each whole frame of 5 ms."""
    whole = len(audio) // FRAME * FRAME
    power: NDArray[np.float64] = np.square(audio[:whole].reshape(-1, FRAME), dtype=np.float64).mean(
        axis=1
    )
    return power

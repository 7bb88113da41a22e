"""Where a voice begins and ends, from its energy, to a few milliseconds.

The detector says that somebody spoke, in steps of 32 ms and with a lag that differs from voice to
voice. Near what it says the energy tells the moment, where speech stands out from its surroundings;
where it does not, the detector's word is all there is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FRAME = 80
"""5 ms at 16 kHz."""
REACH = 3_200
"""200 ms: how far before what the detector says a beginning is looked for."""
PHRASE = 16_000
"""1 s: what is listened to before an end, to know how loud the voice is."""
_CONTRAST_DB = 15.0
"""Between speech and what surrounds it; below this an edge in the energy means little."""
_ABOVE_FLOOR_DB = 6.0
_BELOW_PEAK_DB = 25.0
"""A decay this far below the voice is heard as silence (as ITU-T P.56 counts active speech, about).
"""
_AROUND = 12
"""60 ms of frames that hold no voice: after an end, before a beginning."""


def begins(pcm: NDArray[np.int16]) -> int | None:
    """The first sample of the voice in 16 kHz `pcm` that begins with 60 ms of surroundings."""
    loud = _loud(pcm, slice(None, _AROUND))
    return None if loud is None else int(loud[0]) * FRAME


def ends(pcm: NDArray[np.int16]) -> int | None:
    """The end (exclusive) of the voice in 16 kHz `pcm` that ends with 60 ms of surroundings."""
    loud = _loud(pcm, slice(-_AROUND, None))
    return None if loud is None else (int(loud[-1]) + 1) * FRAME


def _loud(pcm: NDArray[np.int16], around: slice) -> NDArray[np.intp] | None:
    """The frames that belong to the voice; None where it does not stand out."""
    whole = len(pcm) // FRAME * FRAME
    if whole < 2 * _AROUND * FRAME:
        return None
    frames = pcm[:whole].astype(np.float64).reshape(-1, FRAME)
    level = 10.0 * np.log10(np.square(frames).mean(axis=1) + 1.0)
    floor, peak = float(np.median(level[around])), float(level.max())
    if peak - floor < _CONTRAST_DB:
        return None
    above = level > max(floor + _ABOVE_FLOOR_DB, peak - _BELOW_PEAK_DB)
    # A single frame is a click: a voice has a loud neighbour.
    lone = ~np.concatenate(([False], above[:-1])) & ~np.concatenate((above[1:], [False]))
    loud = np.flatnonzero(above & ~lone)
    return loud if loud.size else None

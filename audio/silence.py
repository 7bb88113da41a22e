"""Where in speech nothing is to be heard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audio.shaping import FRAME, SILENT_DBFS, frame_power

SHORTEST = 960
"""40 ms at 24 kHz: shorter silence inside speech is part of a sound (the hold of a "t")."""


def silences(pcm: NDArray[np.int16]) -> tuple[tuple[int, int], ...]:
    """(first, last) samples of the silent stretches of 24 kHz speech, ends exclusive, in order.

    Inside speech from `SHORTEST` on, at both ends of any length; in steps of 5 ms.
    """
    if not len(pcm):
        return ()
    power = frame_power(pcm.astype(np.float32) / np.float32(32_768))
    quiet = np.concatenate(([False], power <= 10.0 ** (SILENT_DBFS / 10.0), [False]))
    edges = np.flatnonzero(quiet[1:] != quiet[:-1]) * FRAME
    whole = len(power) * FRAME  # what is left of a frame at the end goes with the frame before it
    found = []
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        end = len(pcm) if last == whole else last
        if end - first >= SHORTEST or first == 0 or end == len(pcm):
            found.append((first, end))
    return tuple(found)

"""16-bit PCM: bytes from the wire to arrays and back, without losing half a sample.

Everything here is mono, little-endian, signed 16-bit, at whatever rate the caller keeps.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FULL_SCALE = 32768.0
"""What an int16 sample is divided by to become a float32 in [-1, 1)."""

SILENCE_DBFS = -120.0
"""What `level_dbfs` says of exact zeros and of nothing at all."""


class ByteCarry:
    """Bytes of a 16-bit stream in, whole samples out; half a sample waits for its other half.

    A network may cut anywhere. Dropping the odd byte, or reading on from it, turns all later
    audio into white noise, so it is kept for the next chunk.
    """

    def __init__(self) -> None:
        self._odd = b""

    def push(self, data: bytes) -> NDArray[np.int16]:
        """Take the next bytes of the stream, any number of them.

        Returns the whole samples available now, possibly none; shape [n], int16. The array
        owns its memory, so the caller's buffer may be reused.
        """
        joined = self._odd + data
        whole = len(joined) & ~1
        self._odd = joined[whole:]
        return np.frombuffer(joined[:whole], dtype="<i2").astype(np.int16)


def to_float(pcm: NDArray[np.int16]) -> NDArray[np.float32]:
    """int16 to float32 in [-1, 1). Exact: `to_int16` gives the same samples back."""
    return pcm.astype(np.float32) / np.float32(FULL_SCALE)


def to_int16(samples: NDArray[np.floating[Any]]) -> NDArray[np.int16]:
    """float in [-1, 1) to int16, rounded to nearest; what is louder is clipped, never wrapped."""
    scaled = np.rint(samples * FULL_SCALE)
    clipped: NDArray[np.int16] = np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
    return clipped


def level_dbfs(samples: NDArray[np.float32]) -> float:
    """Root-mean-square level in dB relative to full scale; `SILENCE_DBFS` at the least."""
    if samples.size == 0:
        return SILENCE_DBFS
    power = float(np.mean(np.square(samples, dtype=np.float64)))
    return max(SILENCE_DBFS, 10.0 * float(np.log10(power))) if power > 0.0 else SILENCE_DBFS


def loudest_dbfs(samples: NDArray[np.float32], frame: int = 1600) -> float:
    """`level_dbfs` of the loudest `frame` samples (a tenth of a second at 16 kHz), so that a short
    word is not made quiet by the silence around it."""
    starts = range(0, len(samples), frame)
    return max((level_dbfs(samples[at : at + frame]) for at in starts), default=SILENCE_DBFS)

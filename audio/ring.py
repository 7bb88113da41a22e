"""The last stretch of a stream, addressed by the stream's own sample numbers."""

import numpy as np
from numpy.typing import NDArray


class Ring:
    """Keeps the newest `capacity` samples; what is older is forgotten, so memory is bounded
    however long the stream runs. A position is a count of samples from the stream's beginning.
    """

    def __init__(self, capacity: int) -> None:
        self._samples = np.zeros(capacity, np.int16)
        self.end = 0
        """Position after the newest sample: how many there have been."""

    @property
    def start(self) -> int:
        """Position of the oldest sample still kept."""
        return max(0, self.end - len(self._samples))

    def append(self, pcm: NDArray[np.int16]) -> None:
        """Add samples, shape [n], int16. More than the capacity at once is allowed."""
        capacity = len(self._samples)
        kept = pcm[-capacity:]
        at = (self.end + len(pcm) - len(kept)) % capacity
        before_wrap = min(len(kept), capacity - at)
        self._samples[at : at + before_wrap] = kept[:before_wrap]
        self._samples[: len(kept) - before_wrap] = kept[before_wrap:]
        self.end += len(pcm)

    def read(self, start: int, end: int) -> NDArray[np.int16]:
        """A copy of the samples from `start` up to `end`, as far as they are still kept."""
        start, end = max(start, self.start), min(end, self.end)
        if end <= start:
            return np.zeros(0, np.int16)
        at, length = start % len(self._samples), end - start
        head = self._samples[at : at + length]
        return np.concatenate([head, self._samples[: length - len(head)]])

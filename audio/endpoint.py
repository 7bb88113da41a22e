"""End of turn: how likely it is that what was said is a finished turn.

The model is Smart Turn v3.2 (BSD-2-Clause, Pipecat): it listens to the last 8 seconds, to melody
and words alike. Measured on speech that ends (complete) and on speech cut off in mid-sentence, it
is right in about three of four cases, so it may shorten or lengthen a wait and must not decide
alone. It is optional: without its weights the silence alone ends a turn.
"""

import logging
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.mel import log_mel
from audio.model_file import check_model_file
from audio.worker import Worker

_LOG = logging.getLogger(__name__)

HEARD: Final = 8 * 16_000
"""Samples at 16 kHz the model listens to: the last 8 seconds, silence put before shorter sound."""

_SHA256 = "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f"


def turn_features(pcm: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the model reads: float32 [1, 80, 800] from sound at 16 kHz, shape [n].

    The padded sound is brought to zero mean and unit variance before the spectrogram, as Whisper's
    feature extractor does with `do_normalize`.
    """
    heard = np.zeros(HEARD, np.float32)
    kept = pcm[-HEARD:]
    heard[HEARD - len(kept) :] = kept
    scale = np.sqrt(np.var(heard, dtype=np.float64) + 1e-7)
    normal = (heard - np.mean(heard, dtype=np.float64)) / scale
    return log_mel(normal.astype(np.float32))[None]


class TurnModel:
    """The model, loaded once and shared, in a thread of its own (about 26 ms a call)."""

    def __init__(self, path: Path) -> None:
        """Load the ONNX file. Raises ModelError when it is missing or not the one pinned here."""
        import onnxruntime  # here and not above: 35 ms and 20 MB, for those who load a model

        check_model_file(path, _SHA256, "turn model")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a second thread makes it slower
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
        self._worker = Worker("turn-model")

    async def score(self, pcm: NDArray[np.float32]) -> float:
        """Probability that the turn is complete, from sound at 16 kHz, shape [n], float32.

        Give it the sound up to now, the pause included. Raises Busy when the queue is full;
        cancelling drops a call that has not begun.
        """
        sound = pcm[-HEARD:].copy()
        return await self._worker.run(lambda: self._score(sound))

    def warm(self) -> None:
        """Run once, blocking, so that the first turn is as fast as the later ones."""
        self._score(np.zeros(HEARD, np.float32))

    def close(self) -> None:
        """Stop the thread; a call that runs is waited for."""
        self._worker.close()

    def _score(self, pcm: NDArray[np.float32]) -> float:
        # The output is called logits but is a probability: the sigmoid is inside the graph.
        (output,) = self._session.run(None, {"input_features": turn_features(pcm)})
        return float(output[0, 0])


def load_turn_model(weights: Path) -> TurnModel | None:
    """The turn model from the weights folder, or None where it was not fetched.

    Raises ModelError when the file is there but is not the pinned one.
    """
    path = weights / "smart-turn-v3.2" / "model.onnx"
    if not path.exists():
        _LOG.warning("no turn model in %s: silence alone will end a turn", path.parent)
        return None
    return TurnModel(path)

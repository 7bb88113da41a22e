"""Voice activity: how likely it is that each 32 ms of sound holds a voice.

The model is Silero VAD v6 (MIT), the file that the faster-whisper wheel carries. It is a small
recurrent network: 512 new samples at 16 kHz with the 64 before them in, one probability out,
and a state handed from window to window. One session of it serves everybody; the state is per
listener. A window costs about 0.05 ms on one thread, so it may run on the event loop itself.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audio.model_file import ModelError, check_model_file
from audio.pcm import to_float

SAMPLE_RATE: Final = 16_000
WINDOW: Final = 512
"""Samples judged at a time: 32 ms."""

_CONTEXT = 64
_STATE = (1, 1, 128)
_SHA256 = "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"


class VadModel:
    """The network, loaded once and shared; it keeps nothing between calls."""

    def __init__(self, path: Path | None = None) -> None:
        """Load the model from `path`, by default from the installed faster-whisper package.

        Raises ModelError when the file is missing or not the one pinned here.
        """
        import onnxruntime  # here and not above: 35 ms and 20 MB, for those who load a model

        path = path or _packaged_model()
        check_model_file(path, _SHA256, "voice activity model")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the work is too small to be worth sharing out
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )

    def warm(self) -> None:
        """Run once, so that the first listener's first window is as fast as the later ones."""
        VoiceActivity(self).push(np.zeros(WINDOW, np.int16))

    def step(
        self, window: NDArray[np.float32], h: NDArray[np.float32], c: NDArray[np.float32]
    ) -> tuple[float, NDArray[np.float32], NDArray[np.float32]]:
        """Judge one window.

        `window` is [1, 576] float32, the 64 samples before the window and its 512; `h` and `c`
        are [1, 1, 128], the state after the window before. Returns the probability and the state.
        """
        probability, h, c = self._session.run(None, {"input": window, "h": h, "c": c})
        return float(probability.reshape(-1)[0]), h, c


class VoiceActivity:
    """One listener's place in the sound: the network's state, and samples short of a window."""

    def __init__(self, model: VadModel) -> None:
        self._model = model
        self.reset()

    def reset(self) -> None:
        """Forget everything heard, as before the first sample."""
        self._h = np.zeros(_STATE, np.float32)
        self._c = np.zeros(_STATE, np.float32)
        self._waiting = np.zeros(_CONTEXT, np.float32)

    def push(self, pcm16k: NDArray[np.int16]) -> list[float]:
        """Take the next samples at 16 kHz, any number of them; shape [n], int16.

        Returns one probability for each window of 512 samples completed by them: none, one or
        several, in order. Windows are judged one by one however many arrive together, so the
        result does not depend on how the stream is cut.
        """
        self._waiting = np.concatenate([self._waiting, to_float(pcm16k)])
        probabilities = []
        start = 0
        while start + _CONTEXT + WINDOW <= len(self._waiting):
            window = self._waiting[None, start : start + _CONTEXT + WINDOW]
            probability, self._h, self._c = self._model.step(window, self._h, self._c)
            probabilities.append(probability)
            start += WINDOW
        self._waiting = self._waiting[start:]
        return probabilities


def _packaged_model() -> Path:
    # Found without importing the package: its import costs 0.1 s and 20 MB that nobody needs.
    spec = find_spec("faster_whisper")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise ModelError("voice activity model: the package faster-whisper is not installed")
    return Path(folders[0]) / "assets" / "silero_vad_v6.onnx"

"""hibari, run piece by piece: phonemes into sound, and durations into the times of tokens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audio.model_file import ModelError
from audio.pcm import to_int16
from audio.phonemes import Phonemes, Unit, chunks, identifiers
from audio.shaping import fade, heard, level, pause_samples
from audio.speakable import Token
from audio.timings import KNOWN_GRAPH, estimated_spans, exact_spans, with_durations


@dataclass(frozen=True, slots=True)
class Piece:
    """Sound of one model run, trimmed and levelled, and where its tokens are in it."""

    pcm: NDArray[np.int16]
    spans: dict[int, tuple[int, int]]
    """Token index -> first and last sample (exclusive)."""


class Synthesis:
    """The voice model and its dictionaries. Not thread-safe."""

    def __init__(self, seed: int, model: Path | None = None) -> None:
        """Load hibari's packaged voice, or another graph with the same inputs and outputs."""
        import onnxruntime as ort  # here and not above: importing audio.speak must stay cheap
        from hibari import dsp
        from hibari.tts import ASSETS

        try:
            graph = (model or Path(ASSETS) / "hibari.onnx").read_bytes()
            vocabulary = json.loads((Path(ASSETS) / "vocab.json").read_text(encoding="utf-8"))
        except OSError as error:
            raise ModelError(f"voice: cannot read hibari's files: {error}") from error
        self.exact = hashlib.sha256(graph).hexdigest() == KNOWN_GRAPH
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(
                with_durations(graph) if self.exact else graph,
                options,
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:  # onnxruntime raises its own types
            raise ModelError(f"voice: cannot load hibari's model: {error}") from error
        self._synth: Callable[..., NDArray[np.float32]] = dsp.synth
        self._vocabulary: dict[str, Any] = vocabulary
        self._phonemes = Phonemes()
        self._seed = seed

    def pieces(
        self, tokens: Sequence[Token], speed: float, dropped: Callable[[], bool]
    ) -> list[Piece]:
        """Say the tokens, in several runs of the model if they are long.

        Stops early, with what it has, once `dropped()` says that nobody waits for it.
        """
        pieces: list[Piece] = []
        parts = chunks(self._phonemes.units(tokens))
        for index, part in enumerate(parts):
            if dropped():
                break
            piece = self._piece(part, speed)
            if index + 1 < len(parts) and part[-1].is_mark:
                piece = _with_pause(piece, tokens[part[-1].token], part[-1].symbols, speed)
            pieces.append(piece)
        return pieces

    def _piece(self, units: Sequence[Unit], speed: float) -> Piece:
        ids, of = identifiers(units, self._vocabulary)
        owners = [units[u].token if u >= 0 else -1 for u in of]
        if all(owner < 0 for owner in owners):
            return Piece(np.zeros(0, np.int16), {})
        outputs = self._session.run(
            None,
            {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)},
        )
        spectrum = [output[0] for output in outputs[:6]]
        sound = level(self._synth(*spectrum, np.random.default_rng(self._seed)))
        first, last = heard(sound)
        if self.exact:
            spans = exact_spans(owners, outputs[6], speed)
        else:
            spans = estimated_spans(owners, first, last)
        return Piece(to_int16(fade(sound[first:last])), _within(spans, first, last))


def _within(spans: dict[int, tuple[int, int]], first: int, last: int) -> dict[int, tuple[int, int]]:
    """Spans relative to the trimmed sound: the first word starts with it, the last ends with it."""
    moved = {t: (max(0, a - first), min(last, b) - first) for t, (a, b) in spans.items()}
    moved = {t: (min(a, last - first), max(a, b)) for t, (a, b) in moved.items()}
    ordered = sorted(moved)
    if ordered:
        moved[ordered[0]] = (0, moved[ordered[0]][1])
        moved[ordered[-1]] = (moved[ordered[-1]][0], last - first)
    return moved


def _with_pause(piece: Piece, token: Token, mark: str, speed: float) -> Piece:
    closing = Token(token.start, token.end, mark)
    silence = np.zeros(pause_samples([closing], "", speed), np.int16)
    return Piece(np.concatenate((piece.pcm, silence)), piece.spans)

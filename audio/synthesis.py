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
from audio.shaping import fade, heard, hesitations, level, moved, without
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

    def parts(self, tokens: Sequence[Token]) -> list[list[Unit]]:
        """The phonemes of the tokens, cut at word edges into what the model takes at once."""
        return chunks(self._phonemes.units(tokens))

    def piece(self, units: Sequence[Unit], speed: float) -> Piece:
        """Say one part."""
        ids, owners = identifiers(units, self._vocabulary)
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
            cuts = hesitations(sound[first:last], _starts(units, spans, first))
        else:
            spans, cuts = estimated_spans(owners, first, last), []
        pcm = to_int16(fade(without(sound[first:last], cuts)))
        spans = {
            unit: (moved(max(0, a - first), cuts), moved(max(0, b - first), cuts))
            for unit, (a, b) in spans.items()
        }
        return Piece(pcm, _of_tokens(units, spans, len(pcm)))


def _starts(
    units: Sequence[Unit], spans: dict[int, tuple[int, int]], first: int
) -> list[tuple[int, bool]]:
    """First sample of each word but the first, and whether a mark stands before it."""
    ordered = sorted(spans)
    return [(spans[unit][0] - first, units[unit - 1].is_mark) for unit in ordered[1:]]


def _of_tokens(
    units: Sequence[Unit], spans: dict[int, tuple[int, int]], length: int
) -> dict[int, tuple[int, int]]:
    """Spans of tokens from those of their words: the first begins and the last ends with the sound,
    and none begins before the one before it has ended."""
    tokens: dict[int, tuple[int, int]] = {}
    end = 0
    for unit in sorted(spans):
        token = units[unit].token
        begin = max(end, min(spans[unit][0], length))
        end = max(begin, min(spans[unit][1], length))
        tokens[token] = (tokens[token][0] if token in tokens else begin, end)
    if tokens:
        earliest, latest = min(tokens), max(tokens)
        tokens[earliest] = (0, tokens[earliest][1])
        tokens[latest] = (tokens[latest][0], length)
    return tokens

"""When each phoneme of the voice is heard, from the durations that its own graph computes.

hibari's graph predicts how many frames each phoneme lasts but does not give the numbers out. An
ONNX file is a protobuf message, and a protobuf parser joins repeated occurrences of a message
field: so appending 23 bytes that say "graph: one more output, called ..." adds the output, without
the onnx package and without changing a byte of the file. This is done only to the file it was
tried with.

Measured on the waveform (45 first words, 36 inner fricatives): sound comes about 50 ms before the
durations say, at normal speed; what is left of the error after this shift is mostly under 40 ms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

KNOWN_GRAPH = "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"
"""sha256 of the hibari.onnx in hibari-tts 0.2.1."""
DURATIONS = "/Cast_32_output_0"
"""The tensor of durations: int64 [symbols], in units of 25 ms, pads included."""
UNIT_SAMPLES = 600
"""One unit of duration at 24 kHz: 25 ms."""
_LEAD_SAMPLES = 1200
"""Sound runs ahead of the durations by this much at normal speed: 50 ms."""
_GRAPH_FIELD, _OUTPUT_FIELD, _NAME_FIELD = 7, 12, 1  # of ModelProto, GraphProto, ValueInfoProto


def with_durations(model: bytes) -> bytes:
    """The model with the durations as its last output."""
    name = DURATIONS.encode()
    return model + _field(_GRAPH_FIELD, _field(_OUTPUT_FIELD, _field(_NAME_FIELD, name)))


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited protobuf field; both numbers fit into seven bits here."""
    if len(content) > 127:
        raise ValueError("a longer field needs a longer length")
    return bytes([number << 3 | 2, len(content)]) + content


def exact_spans(
    owners: Sequence[int], durations: NDArray[np.int64], speed: float
) -> dict[int, tuple[int, int]]:
    """First and last sample of each owner, from the durations of its symbols.

    `owners` names the owner of each symbol, -1 for pads, spaces and marks. Ends are exclusive.
    """
    edges = np.concatenate(([0], np.cumsum(durations))) * UNIT_SAMPLES - round(
        _LEAD_SAMPLES / speed
    )
    spans: dict[int, tuple[int, int]] = {}
    for at, owner in enumerate(owners):
        if owner >= 0:
            first = spans[owner][0] if owner in spans else int(edges[at])
            spans[owner] = (first, int(edges[at + 1]))
    return spans


def estimated_spans(owners: Sequence[int], first: int, last: int) -> dict[int, tuple[int, int]]:
    """The same by the share of symbols between the first and last sample that are heard."""
    edges = np.linspace(first, last, len(owners) - 1).round()  # the two pads are outside
    spans: dict[int, tuple[int, int]] = {}
    for at, owner in enumerate(owners[1:-1]):
        if owner >= 0:
            start = spans[owner][0] if owner in spans else int(edges[at])
            spans[owner] = (start, int(edges[at + 1]))
    return spans

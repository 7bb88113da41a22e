"""How evenly a stream arrived, in three views.

- Delivery: the gaps between chunks as they came (`chunk_gap_ms`, `stalls`, `stall_ratio`).
- Pace: the time per token of each chunk, weighted by its tokens (`tpot_ms`, `pace_ms`, `evenness`).
- Media clock: the jitter of RFC 3550 (`media_jitter_ms`), and the deadlines of `fluidity`.

Evenness equals the fairness index of Jain, Chiu & Hawe 1984 over the tokens' paces; Poisson
arrivals have 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from voiceagent.rhythm.fluidity import TEXT, Deadlines, fluidity_of_chunks
from voiceagent.rhythm.percentiles import Summary, summarize
from voiceagent.rhythm.stream import Chunk, Counted
from voiceagent.rhythm.values import MISSING, NEGATIVE, Unknown, Value

STALL_US = 200_000
"""A gap that is a stall, in microseconds."""

FEWEST_CHUNKS = 3
"""For evenness: two gaps must be compared."""

EVEN, POISSON = 0.8, 0.5
"""Evenness from which a stream is even, and below which it is burstier than Poisson arrivals."""

COALESCED = 0.8
"""Chunks per token below which something on the way merges tokens."""

GOOD_STALL_RATIO = 0.01
"""Stall ratio up to which a stream is good."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds per token over all tokens but the first chunk's."""

    mean: Value
    cv: Value
    """Coefficient of variation, weighted by tokens."""
    n: float
    """Tokens it is taken over."""


def chunk_gap_ms(counted: Counted) -> Summary:
    """The gaps between chunks; a negative one is left out and counted."""
    return summarize(Unknown(NEGATIVE) if gap < 0 else gap / 1_000 for gap in counted.gaps_us)


def tpot_ms(counted: Counted) -> Value:
    """Time per output token, chunk-aware: (t_K - t_1) / (N - n_1)."""
    if len(counted.chunks) < 2:
        return Unknown("fewer than 2 chunks")
    first, last = counted.chunks[0], counted.chunks[-1]
    tokens = sum(chunk.tokens for chunk in counted.chunks[1:])
    if tokens <= 0:
        return Unknown("no tokens after the first chunk")
    if last.t_us < first.t_us:
        return Unknown(NEGATIVE)
    return (last.t_us - first.t_us) / tokens / 1_000


def pace_ms(counted: Counted) -> Pace:
    """Time per token of each chunk, weighted by its tokens."""
    paces = _paces(counted.chunks)
    if isinstance(paces, Unknown):
        return Pace(paces, paces, 0)
    tokens = math.fsum(n for _, n in paces)
    even = _jain(paces)
    mean = math.fsum(gap for gap, _ in paces) / tokens / 1_000
    cv = even if isinstance(even, Unknown) else math.sqrt(max(0.0, 1 / even - 1))
    return Pace(mean, cv, tokens)


def evenness(counted: Counted) -> Value:
    """1 / (1 + CV²) of the pace, in (0, 1]: 1 is perfectly even. Unknown under 3 chunks."""
    if len(counted.chunks) < FEWEST_CHUNKS:
        return Unknown("fewer than 3 chunks")
    paces = _paces(counted.chunks)
    if not isinstance(paces, Unknown) and len(paces) < FEWEST_CHUNKS - 1:
        return Unknown("fewer than 3 chunks with tokens")
    return paces if isinstance(paces, Unknown) else _jain(paces)


def evenness_band(value: float) -> str:
    """even, uneven, or burstier than Poisson arrivals."""
    return "even" if value >= EVEN else "uneven" if value >= POISSON else "bursty"


def chunk_ratio(counted: Counted) -> Value:
    """Chunks per token; below `COALESCED` something merges them."""
    tokens = counted.tokens
    return len(counted.chunks) / tokens if tokens > 0 else Unknown("no tokens")


def stalls(counted: Counted) -> int:
    """How many gaps are 200 ms or longer."""
    return sum(gap >= STALL_US for gap in counted.gaps_us)


def stall_ratio(counted: Counted) -> Value:
    """What stalls last beyond 200 ms, over all gaps together."""
    gaps = counted.gaps_us
    if any(gap < 0 for gap in gaps):
        return Unknown(NEGATIVE)
    if not sum(gaps):
        return Unknown("no time passed" if gaps else "fewer than 2 chunks")
    return sum(max(0, gap - STALL_US) for gap in gaps) / sum(gaps)


def media_jitter_ms(counted: Counted, token_us: float) -> Value:
    """Interarrival jitter of RFC 3550, section 6.4.1, where a token lasts ``token_us``.

    The media clock of a chunk stands ahead of that of the chunk before it by its own tokens.
    """
    if not 0 < token_us < math.inf:
        return Unknown("no duration of a token")
    if len(counted.chunks) < 2:
        return Unknown("fewer than 2 chunks")
    if any(gap < 0 for gap in counted.gaps_us):
        return Unknown(NEGATIVE)
    jitter = 0.0
    for gap, chunk in zip(counted.gaps_us, counted.chunks[1:], strict=True):
        jitter += (abs(gap - chunk.tokens * token_us) - jitter) / 16
    return jitter / 1_000 if math.isfinite(jitter) else Unknown("no duration of a token")


def stream_fluidity(counted: Counted, written_us: int | None, deadlines: Deadlines = TEXT) -> Value:
    """`fluidity` of the stream's tokens; those of one chunk come together, not spread out.

    Estimated tokens are made whole by rounding their running total.
    """
    if written_us is None:
        return Unknown(MISSING)
    chunks: list[tuple[int, int]] = []
    before, total, whole = written_us, 0.0, 0
    for chunk in counted.chunks:
        total += chunk.tokens
        tokens = round(total) - whole
        if tokens > 0:
            chunks.append((chunk.t_us - before, tokens))
            before, whole = chunk.t_us, whole + tokens
    return fluidity_of_chunks(chunks, deadlines)


def _paces(chunks: Sequence[Chunk]) -> list[tuple[int, float]] | Unknown:
    """(gap in microseconds, tokens) of each later chunk; the gap before a chunk that completes no
    token belongs to the next that does."""
    paces: list[tuple[int, float]] = []
    waiting = 0
    for before, chunk in pairwise(chunks):
        gap = chunk.t_us - before.t_us
        if gap < 0:
            return Unknown(NEGATIVE)
        waiting += gap
        if chunk.tokens > 0:
            paces.append((waiting, chunk.tokens))
            waiting = 0
    return paces or Unknown("fewer than 2 chunks")


def _jain(paces: Sequence[tuple[int, float]]) -> Value:
    """(Σ n·p)² / (Σ n · Σ n·p²) with p = gap / n."""
    time = math.fsum(gap for gap, _ in paces)
    if not time:
        return Unknown("no time passed")
    tokens = math.fsum(n for _, n in paces)
    squares = math.fsum(gap * gap / n for gap, n in paces)
    return min(1.0, time * time / (tokens * squares))

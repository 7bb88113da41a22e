"""The fluidity index: how many of a stream's deadlines were met, with credit for early tokens.

Etalon's fluidity-index, arXiv 2507.09019, Algorithm 1, in integers. A token that comes early banks
the time it saved; one that comes later than the bank allows misses as many deadlines as fit into
its lateness, and empties the bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voiceagent.rhythm.values import NEGATIVE, NO_SAMPLES, Unknown, Value

GOOD = 0.9
"""Fluidity from which a stream is good."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long the first token and each later one may take, in microseconds."""

    first_us: int
    next_us: int


TEXT = Deadlines(300_000, 50_000)
"""For text that is read as it comes."""

SPEECH = Deadlines(800_000, 287_000)
"""For a voice: it eats about 3.5 tokens a second."""


def fluidity(gaps_us: Sequence[int], deadlines: Deadlines = TEXT) -> Value:
    """Share of deadlines met, 0 to 1.

    ``gaps_us`` are the microseconds before each token: the first from the writing of the request.
    """
    return fluidity_of_chunks([(gap, 1) for gap in gaps_us], deadlines)


def fluidity_of_chunks(chunks: Sequence[tuple[int, int]], deadlines: Deadlines = TEXT) -> Value:
    """`fluidity` of tokens that come several at once.

    ``chunks`` are (microseconds since the chunk before, tokens, at least 1); all but the first
    token of a chunk come after no time at all.
    """
    if not chunks:
        return Unknown(NO_SAMPLES)
    if min(gap for gap, _ in chunks) < 0:
        return Unknown(NEGATIVE)
    if deadlines.first_us <= 0 or deadlines.next_us <= 0:
        return Unknown("a deadline is not positive")
    slack = met = missed = 0
    for index, (gap, tokens) in enumerate(chunks):
        deadline = deadlines.next_us if index else deadlines.first_us
        late = gap - slack - deadline
        if late <= 0:
            met += 1
            slack = -late
        else:
            missed += late // deadlines.next_us + 1
            slack = 0
        met += tokens - 1
        slack += (tokens - 1) * deadlines.next_us
    return 1 - missed / (met + missed)

"""A token stream as it arrived: what came when, and how many tokens it was.

A role-only delta, an empty delta, a usage-only chunk, a comment line and ``[DONE]`` are no tokens.
Reasoning is kept apart from content. No arrival times are invented inside a chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

CHARACTERS_PER_TOKEN = 4
"""Where nothing better is known."""


class Kind(StrEnum):
    """What a chunk carries."""

    CONTENT = "content"
    TOOL = "tool"
    REASONING = "reasoning"
    NONE = "none"
    """Role only, usage only, a comment, the end mark."""


class TokenSource(StrEnum):
    """Where the token counts of a stream come from, best first."""

    PER_CHUNK = "per_chunk"
    """Token ids or logprobs of each chunk."""
    RUNNING_USAGE = "running_usage"
    """The usage so far, sent with each chunk (``continuous_usage_stats``)."""
    FINAL_USAGE = "final_usage"
    """The usage at the end, spread by characters."""
    CHARACTERS = "characters"
    """Characters / 4: an estimate."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One chunk, stamped before it was parsed."""

    t_us: int
    tokens: int | None = None
    """From its token ids or logprobs; None where it has none."""
    characters: int = 0
    kind: Kind = Kind.CONTENT
    usage: int | None = None
    """Completion tokens of the request so far, where the chunk says so."""

    @property
    def is_text(self) -> bool:
        """It carries text of some kind."""
        return self.kind is not Kind.NONE and self.characters > 0

    @property
    def is_answer(self) -> bool:
        """It carries content or a tool call, not reasoning."""
        return self.is_text and self.kind is not Kind.REASONING


@dataclass(frozen=True, slots=True)
class Stream:
    """One request and all that arrived for it, in the order of arrival."""

    arrivals: tuple[Arrival, ...]
    written_us: int | None = None
    """When the bytes of the request had been written."""
    final_usage: int | None = None
    """Completion tokens at the end, reasoning included; hidden reasoning excluded."""
    cancelled: bool = False
    cold: bool = False
    """The first request to its backend: its latency is reported apart."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of the answer with its share of tokens."""

    t_us: int
    tokens: float
    """Not whole where they are estimated."""
    characters: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The chunks of an answer and where their token counts come from."""

    chunks: tuple[Chunk, ...]
    source: TokenSource

    @property
    def tokens(self) -> float:
        """All tokens of the answer."""
        return sum(chunk.tokens for chunk in self.chunks)

    @property
    def gaps_us(self) -> list[int]:
        """Microseconds between the chunks."""
        return [b.t_us - a.t_us for a, b in pairwise(self.chunks)]


def count_tokens(stream: Stream) -> Counted:
    """The content and tool chunks of ``stream`` with tokens from the best source that is whole."""
    texts = [arrival for arrival in stream.arrivals if arrival.is_text]
    counts, source = _counts(stream, texts)
    chunks = tuple(
        Chunk(arrival.t_us, tokens, arrival.characters)
        for arrival, tokens in zip(texts, counts, strict=True)
        if arrival.is_answer
    )
    return Counted(chunks, source)


def pieces(stream: Stream) -> list[tuple[int, int]]:
    """(arrival in microseconds, characters) of the content, which is what a voice says."""
    return [
        (arrival.t_us, arrival.characters)
        for arrival in stream.arrivals
        if arrival.kind is Kind.CONTENT and arrival.characters > 0
    ]


def _counts(stream: Stream, texts: Sequence[Arrival]) -> tuple[list[float], TokenSource]:
    per_chunk = _per_chunk(stream.arrivals)
    if per_chunk is not None:
        return per_chunk, TokenSource.PER_CHUNK
    running = _running_usage(stream.arrivals)
    if running is not None:
        return running, TokenSource.RUNNING_USAGE
    characters = sum(arrival.characters for arrival in texts)
    if stream.final_usage is not None and stream.final_usage > 0 and characters:
        each = stream.final_usage / characters
        return [arrival.characters * each for arrival in texts], TokenSource.FINAL_USAGE
    return [a.characters / CHARACTERS_PER_TOKEN for a in texts], TokenSource.CHARACTERS


def _per_chunk(arrivals: Sequence[Arrival]) -> list[float] | None:
    """Tokens of each text chunk; half a character without text counts with the next one."""
    counts: list[float] = []
    waiting = 0
    for arrival in arrivals:
        if arrival.kind is Kind.NONE:
            continue
        waiting += max(0, arrival.tokens or 0)
        if not arrival.is_text:
            continue
        if arrival.tokens is None or arrival.tokens < 0:
            return None
        counts.append(waiting)
        waiting = 0
    return counts if sum(counts) > 0 else None


def _running_usage(arrivals: Sequence[Arrival]) -> list[float] | None:
    """Tokens of each text chunk by the growth of the usage; None where one lacks it or it falls."""
    counts: list[float] = []
    so_far = 0
    for arrival in arrivals:
        if not arrival.is_text:
            continue
        if arrival.usage is None or arrival.usage < so_far:
            return None
        counts.append(arrival.usage - so_far)
        so_far = arrival.usage
    return counts if so_far > 0 else None

"""How long the first token, the first answer and the first clause took to come.

Counted from the writing of the request, or from any other moment: for what the user waits, from
the user's end. A cancelled request gives no sample; a cold one is summarized apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from voiceagent.rhythm.percentiles import Summary, summarize
from voiceagent.rhythm.stream import Arrival, Kind, Stream
from voiceagent.rhythm.values import CANCELLED, Unknown, Value, duration_ms


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies of warm requests, and of cold ones apart, in milliseconds."""

    warm: Summary
    cold: Summary


def ttft_any_ms(stream: Stream, since_us: int | None = None) -> Value:
    """Milliseconds to the first text of any kind, reasoning included.

    Counted from ``since_us``; from the writing of the request where that is None.
    """
    return _first(stream, [a for a in stream.arrivals if a.is_text], since_us)


def ttfat_ms(stream: Stream, since_us: int | None = None) -> Value:
    """Milliseconds to the first answer: non-empty content or a tool call. See `ttft_any_ms`."""
    return _first(stream, [a for a in stream.arrivals if a.is_answer], since_us)


def ttfc_ms(stream: Stream, clause_characters: int, since_us: int | None = None) -> Value:
    """Milliseconds to the last token of the first clause a voice can say.

    ``clause_characters`` is how many characters of content end with that clause.
    """
    if clause_characters <= 0:
        return Unknown("no clause")
    seen = 0
    for arrival in stream.arrivals:
        if arrival.kind is Kind.CONTENT and arrival.characters > 0:
            seen += arrival.characters
            if seen >= clause_characters:
                return _first(stream, [arrival], since_us)
    return Unknown(CANCELLED if stream.cancelled else "the clause has not ended")


def summarize_latencies(samples: Iterable[tuple[Stream, Value]]) -> Latencies:
    """One summary of the warm and one of the cold requests; those unknown are counted by reason."""
    everything = list(samples)
    return Latencies(
        warm=summarize(value for stream, value in everything if not stream.cold),
        cold=summarize(value for stream, value in everything if stream.cold),
    )


def _first(stream: Stream, arrivals: list[Arrival], since_us: int | None) -> Value:
    if stream.cancelled:
        return Unknown(CANCELLED)
    if not arrivals:
        return Unknown("no token")
    start = stream.written_us if since_us is None else since_us
    return duration_ms(start, arrivals[0].t_us)

"""How the answer of one turn arrived, and what a voice would have made of that."""

from __future__ import annotations

from dataclasses import dataclass

from voiceagent.rhythm.evenness import (
    COALESCED,
    chunk_gap_ms,
    chunk_ratio,
    evenness,
    evenness_band,
    media_jitter_ms,
    stall_ratio,
    stalls,
    stream_fluidity,
    tpot_ms,
)
from voiceagent.rhythm.fluidity import SPEECH
from voiceagent.rhythm.latency import ttfat_ms
from voiceagent.rhythm.percentiles import Summary
from voiceagent.rhythm.speech_clock import SpeechClock, speech_fluency, speech_underrun
from voiceagent.rhythm.stream import Arrival, Stream, TokenSource, count_tokens, pieces
from voiceagent.rhythm.values import Unknown, Value, known
from voiceagent.turn_record import TurnRecord

LEAD_US = 50_000
"""Assumed from the arrival of a text to its sound, where the turn does not tell."""

LEAD_PARTS = frozenset({"voice", "playout"})
"""The parts of a gap that lie between a text and its sound."""


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """The token stream as it was delivered."""

    chunks: int
    tokens: float
    token_source: TokenSource
    cold: bool
    """It was the session's first answer."""
    ttfat_ms: Value
    chunk_gap_ms: Summary
    tpot_ms: Value
    evenness: Value
    evenness_band: str | None
    chunk_ratio: Value
    coalesced: bool | None
    """Something on the way merged tokens; None where the ratio is unknown."""
    media_jitter_ms: Value
    """By a media clock of the stream's own ``tpot_ms`` a token."""
    fluidity_text: Value
    fluidity_speech: Value
    stalls: int
    stall_ratio: Value


@dataclass(frozen=True, slots=True)
class Predicted:
    """The speech clock: what a listener would hear, judged from the arrivals alone."""

    lead_ms: float
    lead_assumed: bool
    underruns: int
    underrun_ms: float
    headroom_ms: tuple[float, ...]
    """Of every piece after the first; negative is an underrun of that length."""
    headroom_p05_ms: Value
    fluency: Value
    good: bool
    out_of_order: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What the player said, or where ``measured`` is False the server's estimate of it."""

    measured: bool
    underruns: int
    underrun_ms: float
    stretched_ms: float
    """Silence that the player added at a pause of the text, so as not to starve in a word."""
    speech_ms: float
    fluency: Value


def stream_of(turn: TurnRecord, *, cold: bool = False) -> Stream:
    """The arrivals of ``turn`` as a stream; cancelled where it was ended before its first chunk."""
    cancelled = turn.status == "cancelled" or (turn.status == "interrupted" and not turn.arrivals)
    return Stream(
        arrivals=tuple(Arrival(a.t_us, a.tokens, a.characters) for a in turn.arrivals),
        written_us=turn.written_us,
        final_usage=turn.final_usage,
        cancelled=cancelled,
        cold=cold,
    )


def stream_figures(stream: Stream) -> StreamFigures | Unknown:
    """The figures of ``stream``; unknown where nothing of it is recorded."""
    if not stream.arrivals:
        return Unknown("no arrivals recorded")
    counted = count_tokens(stream)
    even, ratio, tpot = evenness(counted), chunk_ratio(counted), tpot_ms(counted)
    merged = known(ratio)
    return StreamFigures(
        chunks=len(counted.chunks),
        tokens=counted.tokens,
        token_source=counted.source,
        cold=stream.cold,
        ttfat_ms=ttfat_ms(stream),
        chunk_gap_ms=chunk_gap_ms(counted),
        tpot_ms=tpot,
        evenness=even,
        evenness_band=None if isinstance(even, Unknown) else evenness_band(even),
        chunk_ratio=ratio,
        coalesced=None if merged is None else merged < COALESCED,
        media_jitter_ms=(
            tpot if isinstance(tpot, Unknown) else media_jitter_ms(counted, tpot * 1_000)
        ),
        fluidity_text=stream_fluidity(counted, stream.written_us),
        fluidity_speech=stream_fluidity(counted, stream.written_us, SPEECH),
        stalls=stalls(counted),
        stall_ratio=stall_ratio(counted),
    )


def predicted(
    turn: TurnRecord, stream: Stream, characters_per_second: float
) -> Predicted | Unknown:
    """Run the speech clock over the turn's arrivals, with the lead that its own voice had."""
    leads = [us for name, us in turn.parts if name in LEAD_PARTS and us >= 0]
    lead_us = sum(leads) if leads else LEAD_US
    clock = speech_underrun(pieces(stream), characters_per_second, lead_us)
    if isinstance(clock, Unknown):
        return clock
    return _predicted(clock, lead_us, assumed=not leads)


def _predicted(clock: SpeechClock, lead_us: int, *, assumed: bool) -> Predicted:
    return Predicted(
        lead_ms=lead_us / 1_000,
        lead_assumed=assumed,
        underruns=len(clock.underruns),
        underrun_ms=clock.starved_us / 1_000,
        headroom_ms=tuple(us / 1_000 for us in clock.headroom_us),
        headroom_p05_ms=clock.headroom_p05_ms,
        fluency=clock.fluency,
        good=clock.good,
        out_of_order=clock.out_of_order,
    )


def measured(turn: TurnRecord) -> Measured | Unknown:
    """What was heard of the turn's speech."""
    if turn.sounded_us is None and turn.speech_us <= 0:
        return Unknown("nothing was heard")
    underrun_us = sum(pause.underrun_us for pause in turn.pauses)
    return Measured(
        measured=turn.measured,
        underruns=turn.underruns,
        underrun_ms=underrun_us / 1_000,
        stretched_ms=sum(pause.stretched_us for pause in turn.pauses) / 1_000,
        speech_ms=turn.speech_us / 1_000,
        fluency=speech_fluency(turn.speech_us, underrun_us),
    )

"""All figures of every turn as tables: the text beside the timeline."""

from __future__ import annotations

from voiceagent.report.figures import Figures
from voiceagent.report.markup import Markup, tag
from voiceagent.report.sections import more, table
from voiceagent.report.stream_figures import StreamFigures
from voiceagent.report.timeline import zero_us
from voiceagent.report.turn_figures import TurnFigures
from voiceagent.report.wording import FAULTS, KINDS, clock, number, short
from voiceagent.rhythm.gaps import NO_ANSWER
from voiceagent.rhythm.values import Unknown
from voiceagent.turn_record import TurnRecord

_DASH = "\u2013"
_TURNS = (
    "turn",
    "at",
    "kind",
    "gap, ms",
    "class",
    "parts, ms",
    "rest",
    "awkward",
    "stop, ms",
    "ended",
    "faults",
)
_STREAMS = (
    "turn",
    "ttfat, ms",
    "gap p50",
    "gap max",
    "per token",
    "evenness",
    "chunks/token",
    "jitter",
    "fluidity text",
    "speech",
    "stalls",
    "stall ratio",
    "tokens from",
)
_SPEECH = (
    "turn",
    "underruns predicted",
    "measured",
    "starved predicted, ms",
    "measured, ms",
    "headroom p05",
    "fluency predicted",
    "measured",
    "heard by",
)


def turn_tables(figures: Figures) -> Markup:
    """Three tables on demand: the turns, their streams, speech as predicted and as heard."""
    pairs = list(zip(figures.records, figures.turns, strict=True))
    if not pairs:
        return Markup("")
    texts = [turn for turn in figures.records if turn.user_text or turn.reply_text]
    return tag(
        "div",
        more(
            "Every turn in numbers", table("Every turn", _TURNS, [_turn(*pair) for pair in pairs])
        ),
        more(
            "How the tokens arrived",
            table(
                "Token streams",
                _STREAMS,
                [
                    _stream(turn, one.stream)
                    for turn, one in pairs
                    if not isinstance(one.stream, Unknown)
                ],
            ),
        ),
        more(
            "Speech as predicted from the tokens, and as heard",
            table(
                "Speech clock",
                _SPEECH,
                [_speech(*pair) for pair in pairs if pair[0].kind != "dropped"],
            ),
        ),
        *(
            [
                more(
                    "What was said",
                    table(
                        "What was said",
                        ("turn", "user", "agent, as heard"),
                        [_text(turn) for turn in texts],
                    ),
                )
            ]
            if texts
            else []
        ),
    )


def _turn(turn: TurnRecord, one: TurnFigures) -> tuple[str, ...]:
    zero = zero_us(turn)
    parts = ", ".join(
        f"{part.name} {short(part.ms)}"
        for part in one.voice_to_voice.parts
        if isinstance(part.ms, Unknown) or round(part.ms)
    )
    awkward = sum(p.pause_class in ("awkward", "severe") for p in one.pauses)
    stop = _DASH
    if one.barge_in is not None:
        stop = short(one.barge_in.stop_ms) + (" false" if one.barge_in.false_stop else "")
        stop += f" {one.barge_in.stop_class}" if one.barge_in.stop_class else ""
    return (
        str(turn.number),
        _DASH if zero is None else clock(zero / 1_000),
        KINDS[turn.kind],
        "no answer" if one.gap_ms == NO_ANSWER else short(one.gap_ms),
        one.gap_class or _DASH,
        parts or _DASH,
        short(one.voice_to_voice.unexplained_ms),
        str(awkward),
        stop,
        turn.trouble or turn.status or turn.dropped or _DASH,
        ", ".join(FAULTS.get(name, name) for name in sorted(one.faults)) or "none",
    )


def _stream(turn: TurnRecord, stream: StreamFigures | Unknown) -> tuple[str, ...]:
    if isinstance(stream, Unknown):
        return (str(turn.number), stream.reason)
    return (
        f"{turn.number}{' cold' if stream.cold else ''}",
        short(stream.ttfat_ms),
        short(stream.chunk_gap_ms.p50),
        short(stream.chunk_gap_ms.max),
        short(stream.tpot_ms, 1),
        f"{short(stream.evenness, 2)} {stream.evenness_band or ''}",
        f"{short(stream.chunk_ratio, 2)}{' merged' if stream.coalesced else ''}",
        short(stream.media_jitter_ms, 1),
        short(stream.fluidity_text, 2),
        short(stream.fluidity_speech, 2),
        str(stream.stalls),
        short(stream.stall_ratio, 3),
        stream.token_source.value.replace("_", " "),
    )


def _speech(turn: TurnRecord, one: TurnFigures) -> tuple[str, ...]:
    before, heard = one.predicted, one.measured
    predicted = (
        (_DASH, _DASH, _DASH, _DASH)
        if isinstance(before, Unknown)
        else (
            str(before.underruns),
            number(before.underrun_ms),
            short(before.headroom_p05_ms),
            short(before.fluency, 3),
        )
    )
    measured = (
        (_DASH, _DASH, _DASH, _DASH)
        if isinstance(heard, Unknown)
        else (
            str(heard.underruns),
            number(heard.underrun_ms),
            short(heard.fluency, 3),
            "player" if heard.measured else "estimate",
        )
    )
    return (
        str(turn.number),
        predicted[0],
        measured[0],
        predicted[1],
        measured[1],
        predicted[2],
        predicted[3],
        measured[2],
        measured[3],
    )


def _text(turn: TurnRecord) -> tuple[str, ...]:
    said = [tag("bdi", text or _DASH) for text in (turn.user_text, turn.heard_text)]
    return (str(turn.number), *said)

"""Distributions: one mark a turn on an upright axis, good above, with the limits of the classes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voiceagent.report import svg
from voiceagent.report.figures import Figures
from voiceagent.report.markup import Markup, join
from voiceagent.report.wording import number
from voiceagent.rhythm.evenness import EVEN, POISSON
from voiceagent.rhythm.gaps import NO_ANSWER
from voiceagent.rhythm.speech_clock import RESERVE_MS
from voiceagent.rhythm.values import Unknown, known

Tone = Literal["fine", "middling", "alarm"]
SHAPES: dict[Tone, str] = {"fine": "circle", "middling": "diamond", "alarm": "triangle"}


@dataclass(frozen=True, slots=True)
class Band:
    """One class of values, drawn from ``top`` (in the values' unit) down to ``bottom``."""

    name: str
    top: float
    bottom: float
    height: float
    tone: Tone = "fine"


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn's value."""

    turn: int
    value: float
    band: str
    cold: bool = False


GAP_BANDS = (
    Band("overlap", -400, -120, 28, "alarm"),
    Band("seamless", -120, 120, 30),
    Band("human", 120, 300, 30),
    Band("comfortable", 300, 700, 46),
    Band("noticeable", 700, 1_000, 38, "middling"),
    Band("awkward", 1_000, 2_000, 44, "alarm"),
    Band("bad", 2_000, 4_000, 36, "alarm"),
    Band("broken", 4_000, 8_000, 28, "alarm"),
)
EVENNESS_BANDS = (
    Band("even", 1.0, EVEN, 70),
    Band("uneven", EVEN, POISSON, 90, "middling"),
    Band("bursty", POISSON, 0.0, 120, "alarm"),
)
HEADROOM_BANDS = (
    Band("reserve", 3_000, RESERVE_MS, 130),
    Band("thin", RESERVE_MS, 0, 70, "middling"),
    Band("underrun", 0, -2_000, 80, "alarm"),
)

WIDTH, _LEFT, _RIGHT = 320, 150, 284
_STEP = 9


def strip(name: str, bands: Sequence[Band], samples: Sequence[Sample], digits: int) -> Markup:
    """A mark for each of ``samples`` in its band, with the number of them at the right."""
    y, drawn = 8.0, []
    for index, band in enumerate(bands):
        mine = [sample for sample in samples if sample.band == band.name]
        drawn.append(_band(band, y, mine, digits))
        y += band.height
        if index + 1 < len(bands):
            drawn.append(_limit(band.bottom, y, digits))
    found = ", ".join(f"{sum(s.band == band.name for s in samples)} {band.name}" for band in bands)
    return svg.figure(WIDTH, y + 8, f"{name}: {found}", *drawn, class_="strip")


def _limit(value: float, y: float, digits: int) -> Markup:
    return join(
        svg.line(0, y, WIDTH, y, "limit"),
        svg.words(_LEFT - 16, y + 4, number(value, digits), "limit-text", "end"),
    )


def _band(band: Band, y: float, samples: Sequence[Sample], digits: int) -> Markup:
    rows: defaultdict[int, list[Sample]] = defaultdict(list)
    inner = band.height - 12
    for sample in sorted(samples, key=lambda s: (s.value, s.turn)):
        share = (sample.value - band.top) / (band.bottom - band.top)
        rows[round(min(1.0, max(0.0, share)) * inner / 8)].append(sample)
    marks = []
    for row, found in rows.items():
        step = min(_STEP, (_RIGHT - _LEFT) / max(1, len(found) - 1))
        for place, sample in enumerate(found):
            value = number(sample.value, digits) if sample.value < 1e12 else "no answer"
            marks.append(
                svg.mark(
                    SHAPES[band.tone],
                    _LEFT + place * step,
                    y + 6 + min(row * 8, inner),
                    f"dot dot--{band.tone}{' dot--cold' if sample.cold else ''}",
                    f"turn {sample.turn}: {value}{', cold' if sample.cold else ''}",
                    3.2,
                )
            )
    middle = y + band.height / 2 + 4
    return join(
        svg.words(0, middle, band.name, f"band band--{band.tone}"),
        *marks,
        svg.words(WIDTH, middle, str(len(samples)) if samples else "\u2013", "count", "end"),
    )


def gap_samples(figures: Figures) -> list[Sample]:
    """The response gap of each spoken turn; an answer that never came is off every scale."""
    return [
        Sample(
            turn.number,
            1e12 if one.gap_ms == NO_ANSWER else known(one.gap_ms) or 0.0,
            one.gap_class,
            turn.number == figures.rolled_up.cold_turn,
        )
        for turn, one in zip(figures.records, figures.turns, strict=True)
        if one.gap_class is not None
    ]


def evenness_samples(figures: Figures) -> list[Sample]:
    """The evenness of each answer."""
    found = []
    for turn, one in zip(figures.records, figures.turns, strict=True):
        if isinstance(one.stream, Unknown) or one.stream.evenness_band is None:
            continue
        value = known(one.stream.evenness) or 0.0
        found.append(Sample(turn.number, value, one.stream.evenness_band, one.stream.cold))
    return found


def headroom_samples(figures: Figures) -> list[Sample]:
    """The reserve that 95 % of each answer's pieces had."""
    found = []
    for turn, one in zip(figures.records, figures.turns, strict=True):
        if isinstance(one.predicted, Unknown) or isinstance(one.predicted.headroom_p05_ms, Unknown):
            continue
        value = one.predicted.headroom_p05_ms
        name = "reserve" if value >= RESERVE_MS else "thin" if value >= 0 else "underrun"
        found.append(Sample(turn.number, value, name, one.arrived.cold))
    return found

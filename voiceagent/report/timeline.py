"""The timeline: one row a turn, all on one scale, at whose zero the user's voice ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from voiceagent.report import svg
from voiceagent.report.figures import Figures
from voiceagent.report.markup import Markup, join, tag
from voiceagent.report.turn_figures import PauseFigures, TurnFigures
from voiceagent.report.wording import CAUSES, KINDS, PARTS, PLACES, clock, number
from voiceagent.rhythm.gaps import NO_ANSWER
from voiceagent.rhythm.pauses import DISTURBING
from voiceagent.rhythm.values import Unknown, known
from voiceagent.turn_record import TurnRecord

BEFORE_MS = 2_000
"""Of the user's speech; what was said before is cut off and its length written."""
LONGEST_MS = 60_000
"""Of what follows; a longer answer is cut off."""
WIDTH = 860
"""Pixels that a row would like to fill."""

_USER, _AGENT, _TICKS = 16, 22, 42
_HEIGHT = 60
_LABEL_ROWS = (12, 57)
_HATCH = "hatch"

_TONES = 7
_SHARED_TONES = {"uplink": 6, "leading silence": 5}


@dataclass(frozen=True, slots=True)
class Scale:
    """Milliseconds around a row's zero as pixels."""

    px_per_s: float
    after_ms: float

    @property
    def width(self) -> float:
        """Of the whole row."""
        return self.x(self.after_ms) + 24

    def x(self, ms: float) -> float:
        """Where a moment lies; the ends stand for all that is beyond them."""
        inside = min(max(ms, -BEFORE_MS), self.after_ms)
        return (inside + BEFORE_MS) / 1_000 * self.px_per_s + 8


@dataclass(slots=True)
class _Labels:
    """Keeps words of one row from covering each other."""

    ends: list[float] = field(default_factory=lambda: [0.0] * len(_LABEL_ROWS))

    def place(self, x: float, text: str, class_: str) -> Markup:
        """The text above its place, else below it; nothing where there is no room at all."""
        width = 6.2 * len(text)
        for row, y in enumerate(_LABEL_ROWS):
            if x >= self.ends[row]:
                self.ends[row] = x + width + 5
                return svg.words(x, y, text, class_)
        return Markup("")


def timeline(figures: Figures) -> Markup:
    """The axis and a row for every turn, in a box that scrolls sideways by itself."""
    scale = _scale(figures.records)
    rows = [
        _row(turn, one, scale) for turn, one in zip(figures.records, figures.turns, strict=True)
    ]
    axis = tag("div", tag("div", class_="row__label"), _axis(scale), class_="row row--axis")
    return tag(
        "div",
        svg.hatch(_HATCH),
        axis,
        *rows,
        class_="timeline",
        tabindex="0",
        role="region",
        aria_label="Timeline of every turn; scrolls sideways",
    )


def _scale(turns: Sequence[TurnRecord]) -> Scale:
    ends = [
        (turn.ended_us - zero) / 1_000
        for turn in turns
        if turn.ended_us is not None
        for zero in [zero_us(turn)]
        if zero is not None
    ]
    after = min(max([2_000.0, *ends]), LONGEST_MS)
    return Scale(min(90.0, max(44.0, WIDTH / ((BEFORE_MS + after) / 1_000))), after)


def zero_us(turn: TurnRecord) -> int | None:
    """The moment from which the turn's row is drawn; None where no time is known."""
    times = (
        turn.user_end_us,
        turn.committed_us,
        turn.requested_us,
        turn.sounded_us,
        turn.user_onset_us,
    )
    return next((time for time in times if time is not None), None)


def _axis(scale: Scale) -> Markup:
    seconds = range(-BEFORE_MS // 1_000, int(scale.after_ms // 1_000) + 1)
    every = 1 if scale.after_ms <= 25_000 else 5
    marks = [
        join(
            svg.line(scale.x(s * 1_000), 18, scale.x(s * 1_000), 24, "axis"),
            svg.words(
                scale.x(s * 1_000),
                13,
                f"{number(s)} s",
                "axis-text",
                "start" if s * 1_000 == -BEFORE_MS else "middle",
            ),
        )
        for s in seconds
        if s % every == 0
    ]
    return svg.figure(scale.width, 24, "Seconds since the user's voice ended", *marks)


def _row(turn: TurnRecord, one: TurnFigures, scale: Scale) -> Markup:
    zero = zero_us(turn)
    name = summary_of(turn, one)
    if zero is None:
        drawn = svg.words(scale.x(0) + 6, 35, "no times are known of this turn", "note")
    else:
        drawn = _drawn(turn, one, scale, zero)
    grid = svg.line(scale.x(0), 0, scale.x(0), _HEIGHT, "zero")
    picture = svg.figure(scale.width, _HEIGHT, name, grid, drawn)
    return tag("div", _label(turn, one, zero), picture, class_="row", id=f"turn-{turn.number}")


def _label(turn: TurnRecord, one: TurnFigures, zero: int | None) -> Markup:
    when = f" · {clock(zero / 1_000)}" if zero is not None else ""
    head = tag("span", tag("b", str(turn.number)), when, class_="row__when")
    return tag("div", head, tag("br"), gap_words(turn, one), class_="row__label")


def gap_words(turn: TurnRecord, one: TurnFigures) -> Markup:
    """The gap and its class, or what stands in its place."""
    if one.gap_class is None:
        text = KINDS[turn.kind] if turn.kind != "spoken" else "gap not known"
        more = f": {turn.dropped}" if turn.kind == "dropped" and turn.dropped else ""
        return tag("span", f"{text}{more}", class_="soft")
    if one.gap_ms == NO_ANSWER:
        return tag("span", "no answer · broken", class_="class class--broken")
    text = f"{number(known(one.gap_ms) or 0)} ms · {one.gap_class}"
    return tag("span", text, class_=f"class class--{one.gap_class}")


def summary_of(turn: TurnRecord, one: TurnFigures) -> str:
    """The row in one sentence, for those who do not see it."""
    parts = [f"Turn {turn.number}, {KINDS[turn.kind]}"]
    if one.gap_ms == NO_ANSWER:
        parts.append("no answer came")
    elif one.gap_class is not None:
        parts.append(f"gap {number(known(one.gap_ms) or 0)} ms, {one.gap_class}")
    awkward = sum(pause.pause_class in DISTURBING for pause in one.pauses)
    if awkward:
        parts.append(f"{awkward} awkward pause{'s' if awkward > 1 else ''}")
    if one.barge_in is not None and not isinstance(one.barge_in.stop_ms, Unknown):
        parts.append(f"stopped after {number(one.barge_in.stop_ms)} ms")
    return "; ".join(parts)


def _drawn(turn: TurnRecord, one: TurnFigures, scale: Scale, zero: int) -> Markup:
    labels = _Labels()
    return join(
        _user(turn, scale, zero),
        _gap(turn, one, scale),
        _agent(turn, scale, zero),
        _barge_in(turn, one, scale, zero, labels),
        *(_pause(pause, scale, zero, labels) for pause in one.pauses),
        svg.ticks(
            (
                scale.x((a.t_us - zero) / 1_000)
                for a in turn.arrivals
                if -BEFORE_MS <= (a.t_us - zero) / 1_000 <= scale.after_ms
            ),
            _TICKS,
            6,
            "token",
        ),
    )


def _user(turn: TurnRecord, scale: Scale, zero: int) -> Markup:
    if turn.kind == "typed":
        return svg.words(scale.x(0) - 6, 32, "typed ▸", "note", "end")
    if turn.user_onset_us is None or turn.user_end_us is None:
        return Markup("")
    onset, end = ((t - zero) / 1_000 for t in (turn.user_onset_us, turn.user_end_us))
    x = scale.x(onset)
    width = scale.x(end) - x
    box = svg.rect(x, _USER + 2, width, 18, "user", f"user spoke {number(end - onset)} ms", 2)
    if onset >= -BEFORE_MS or width < 60:
        return box
    text = f"… {number((end - onset) / 1_000, 1)} s"
    return join(box, svg.words(x + 6, _USER + 15, text, "on-user"))


def _gap(turn: TurnRecord, one: TurnFigures, scale: Scale) -> Markup:
    """The parts in their order, then the rest that they leave unexplained."""
    if one.gap_ms == NO_ANSWER:
        return svg.words(scale.x(0) + 6, _AGENT + 11, "no answer came", "note alarm")
    if isinstance(one.gap_ms, Unknown):
        return Markup("")
    drawn, at = [], 0.0
    for index, (name, us) in enumerate(turn.parts):
        if us > 0:
            title = f"{PARTS.get(name, name)}: {number(us / 1_000)} ms"
            x = scale.x(at)
            at += us / 1_000
            drawn.append(
                svg.rect(
                    x,
                    _AGENT + 2,
                    scale.x(at) - x,
                    10,
                    f"part part--{part_tone(name, index)}",
                    title,
                )
            )
    if one.gap_ms > at:
        x = scale.x(at)
        title = f"unexplained: {number(one.gap_ms - at)} ms"
        drawn.append(svg.rect(x, _AGENT + 2, scale.x(one.gap_ms) - x, 10, "part rest", title))
    return join(*drawn)


def part_tone(name: str, index: int) -> int:
    """Which of the seven tones a part is drawn in; neighbours differ."""
    if name in _SHARED_TONES:
        return _SHARED_TONES[name]
    return list(PARTS).index(name) if name in PARTS else index % _TONES


def _agent(turn: TurnRecord, scale: Scale, zero: int) -> Markup:
    begin = turn.audible_us if turn.audible_us is not None else turn.sounded_us
    if begin is None or turn.ended_us is None or turn.ended_us < begin:
        return Markup("")
    x, end = scale.x((begin - zero) / 1_000), scale.x((turn.ended_us - zero) / 1_000)
    how = "" if turn.measured else ", estimated"
    title = f"agent spoke, heard for {number((turn.ended_us - begin) / 1_000)} ms{how}"
    box = svg.rect(
        x, _AGENT, end - x, 14, "agent" if turn.measured else "agent estimated", title, 2
    )
    over = (turn.ended_us - zero) / 1_000 > scale.after_ms
    return join(box, svg.words(end + 4, _AGENT + 11, "…", "note")) if over else box


def _pause(pause: PauseFigures, scale: Scale, zero: int, labels: _Labels) -> Markup:
    at = pause.at_ms - zero / 1_000
    x, end = scale.x(at), scale.x(at + pause.duration_ms)
    kind = "unknown" if isinstance(pause.pause_class, Unknown) else pause.pause_class.value
    title = f"{number(pause.duration_ms)} ms {PLACES[pause.place]}, {kind}; {CAUSES[pause.cause]}"
    loud = kind in ("awkward", "severe")
    grow = 4 if kind == "severe" else 2 if loud else 0
    y, height = _AGENT - grow, 14 + 2 * grow
    drawn = [svg.rect(x, y, end - x, height, f"pause pause--{kind}", title)]
    if pause.underrun_ms > 0:
        dry = min(pause.underrun_ms, max(pause.duration_ms, 0))
        from_x = scale.x(at + pause.duration_ms - dry)
        drawn.append(svg.rect(from_x, y, end - from_x, height, "underrun", title))
    if loud:
        text = f"{number(pause.duration_ms)}{' severe' if kind == 'severe' else ''}"
        drawn.append(labels.place(x, text, f"pause-text pause-text--{kind}"))
    return join(*drawn)


def _barge_in(
    turn: TurnRecord, one: TurnFigures, scale: Scale, zero: int, labels: _Labels
) -> Markup:
    stop = one.barge_in
    if stop is None or turn.ended_us is None or isinstance(stop.stop_ms, Unknown):
        return Markup("")
    end = (turn.ended_us - zero) / 1_000
    x, end_x = scale.x(end - stop.stop_ms), scale.x(end)
    text = f"{'false stop' if stop.false_stop else 'stop'} {number(stop.stop_ms)} ms"
    return join(
        svg.mark("triangle", x, _AGENT - 5, "barge", f"the user began to speak; {text}"),
        svg.line(x, _AGENT - 1, x, _AGENT + 16, "barge-line"),
        svg.line(end_x, _AGENT - 1, end_x, _AGENT + 16, "barge-line"),
        svg.words(end_x + 6, _AGENT + 11, text, "note"),
    )

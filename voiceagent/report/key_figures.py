"""The key figures at the top of the page, each with what it is taken from."""

from __future__ import annotations

from voiceagent.report.figures import Figures
from voiceagent.report.markup import Markup, tag
from voiceagent.report.wording import FAULTS, UNKNOWN, dollars, number, of_summary, percent
from voiceagent.rhythm.evenness import evenness_band
from voiceagent.rhythm.percentiles import Summary
from voiceagent.rhythm.values import Unknown, Value


def key_figures(figures: Figures) -> Markup:
    """The few numbers that say how it went, each with what it is taken from."""
    rolled = figures.rolled_up
    gap, cold = rolled.gap.warm, rolled.gap.cold.gap_ms
    stop, slo = rolled.barge_ins, rolled.objective
    first = f"; the first answer, cold: {of_summary(cold, 'p50')}" if cold.n else ""
    silent = f"; {gap.unanswered} without an answer" if gap.unanswered else ""
    faults = ", ".join(f"{n} {FAULTS.get(name, name)}" for name, n in slo.faults.items())
    useful = rolled.costs.useful_answers
    cards = [
        _card(
            "Response gap",
            of_summary(gap.gap_ms, "p50"),
            f"median; {_tail(gap.gap_ms)}{silent}{first}",
        ),
        _card(
            "Awkward pauses",
            _per_minute(rolled.awkward_pauses_per_min),
            f"{rolled.awkward_pauses} in {number(rolled.speech_ms / 1_000)} s of speech",
        ),
        _card("Evenness", _value(rolled.evenness.p50, 2), _evenness_note(rolled.evenness)),
        _card(
            "Headroom p05",
            _value(rolled.headroom.p05_ms, 0, " ms"),
            f"predicted from {rolled.headroom.pieces.n} pieces; good from 300 ms",
        ),
        _card(
            "Barge-in stop",
            of_summary(stop.stop_ms, "p50") if stop.stop_ms.n else "none",
            f"median; {_tail(stop.stop_ms)}; false stops {percent(stop.false_stop_rate)}"
            if stop.stop_ms.n
            else f"false stops {percent(stop.false_stop_rate)}",
        ),
        _card(
            "Turn objective",
            _value(_times_100(slo.turn_slo), 0, " %"),
            f"{slo.turns - slo.bad} of {slo.turns} turns without a fault"
            f"{'; faults: ' + faults if faults else ''}",
        ),
        _card(
            "Cost per useful answer",
            UNKNOWN
            if isinstance(rolled.costs.cost_per_useful_answer, Unknown)
            else dollars(rolled.costs.cost_per_useful_answer),
            _cost_note(rolled.costs.cost_per_useful_answer, useful),
        ),
        _card(
            "Heard",
            _value(_times_100(rolled.costs.heard_fraction), 0, " %"),
            "of the tokens that were billed"
            if not isinstance(rolled.costs.heard_fraction, Unknown)
            else rolled.costs.heard_fraction.reason,
        ),
    ]
    return tag("dl", *cards, class_="keys")


def _card(name: str, value: str, note: str) -> Markup:
    return tag(
        "div",
        tag("dt", name),
        tag("dd", value, class_="soft-value" if value in (UNKNOWN, "none") else "value"),
        tag("dd", note, class_="note-text"),
        class_="key",
    )


def _tail(summary: Summary) -> str:
    """p95, max and n."""
    if not summary.n:
        return "no samples"
    return f"p95 {of_summary(summary, 'p95')}, max {of_summary(summary, 'max')}, n {summary.n}"


def _value(value: Value, digits: int, unit: str = "") -> str:
    return UNKNOWN if isinstance(value, Unknown) else f"{number(value, digits)}{unit}"


def _times_100(value: Value) -> Value:
    return value if isinstance(value, Unknown) else value * 100


def _per_minute(value: Value) -> str:
    return UNKNOWN if isinstance(value, Unknown) else f"{number(value, 1)} a minute"


def _evenness_note(summary: Summary) -> str:
    if isinstance(summary.p50, Unknown):
        return summary.p50.reason
    return f"median, {evenness_band(summary.p50)}; even from 0.8; n {summary.n}"


def _cost_note(value: Value, useful: int) -> str:
    answers = f"{useful} useful answer{'' if useful == 1 else 's'}"
    return f"{value.reason}; {answers}" if isinstance(value, Unknown) else answers

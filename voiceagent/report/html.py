"""The report of one session as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from voiceagent.report import plots
from voiceagent.report.figures import Figures, figures_of
from voiceagent.report.key_figures import key_figures
from voiceagent.report.markup import Markup, join, tag
from voiceagent.report.plots import strip
from voiceagent.report.routes import routes_section
from voiceagent.report.sections import (
    Clips,
    costs_section,
    headline,
    moments_list,
    more,
    parts_table,
    pauses_table,
    section,
    table,
    unknown_section,
)
from voiceagent.report.style import STYLE
from voiceagent.report.timeline import part_tone, timeline
from voiceagent.report.turn_table import turn_tables
from voiceagent.report.wording import GAP_MEANING, PARTS
from voiceagent.turn_record import SessionRecord, TurnRecord

NO_CLIPS: Clips = MappingProxyType({})
POLICY = "default-src 'none'; style-src 'unsafe-inline'; media-src data:"
"""Nothing is fetched and nothing runs, whatever a text in the page tries."""


def report_html(
    session: SessionRecord, turns: Sequence[TurnRecord], clips: Clips = NO_CLIPS
) -> str:
    """The page. ``clips[(turn number, pause index)]`` is a WAV of that pause, to listen to; with
    the index None, of the wait before the turn's answer."""
    figures = figures_of(session, turns)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"Session report: {figures.verdict}"),
        tag("style", Markup(STYLE)),
    )
    body = tag(
        "body",
        tag(
            "main",
            headline(figures),
            key_figures(figures),
            _timeline(figures),
            _distributions(figures),
            moments_list(figures, clips),
            costs_section(figures),
            routes_section(figures),
            unknown_section(figures),
        ),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _timeline(figures: Figures) -> Markup:
    if not figures.records:
        return section("Every turn", tag("p", "The session has no turn."))
    return section(
        "Every turn",
        _legend(),
        timeline(figures),
        turn_tables(figures),
        lead="Each row begins where the user's voice ended; all rows have one scale.",
    )


def _legend() -> Markup:
    keys = [
        ("user", "you"),
        ("agent", "the agent, as heard"),
        ("agent estimated", "the agent, estimated"),
        ("pause--micro", "micro pause"),
        ("pause--awkward", "awkward pause, with its ms"),
        ("pause--severe", "severe pause"),
        ("underrun-key", "hatched: nothing to play"),
        ("barge-key", "you interrupted"),
        ("token-key", "tokens arriving"),
    ]
    parts = [(f"part--{part_tone(name, 0)}", text) for name, text in PARTS.items()]
    return join(
        _keys(keys),
        more("The parts of the gap, in their order", _keys([*parts, ("rest", "Unexplained")])),
    )


def _keys(keys: Sequence[tuple[str, str]]) -> Markup:
    items = [tag("li", tag("span", class_=f"swatch {class_}"), text) for class_, text in keys]
    return tag("ul", *items, class_="legend")


def _distributions(figures: Figures) -> Markup:
    gaps = plots.gap_samples(figures)
    even = plots.evenness_samples(figures)
    room = plots.headroom_samples(figures)
    drawn = [
        _plot("Response gap, ms", gaps, plots.GAP_BANDS, 0, "No response gap is known."),
        _plot("Evenness of the tokens", even, plots.EVENNESS_BANDS, 2, "No evenness is known."),
        _plot("Headroom p05, ms", room, plots.HEADROOM_BANDS, 0, "No headroom is known."),
    ]
    meaning = [(name, text) for name, text in GAP_MEANING.items()]
    return section(
        "Distributions",
        tag("div", *drawn, class_="plots"),
        more("What the classes of a gap mean", table("Classes", ("class", "meaning"), meaning)),
        tag("div", parts_table(figures), pauses_table(figures), class_="pair"),
        lead="One mark a turn, better ones further up; a dashed mark is the first, cold answer.",
    )


def _plot(
    name: str,
    samples: Sequence[plots.Sample],
    bands: Sequence[plots.Band],
    digits: int,
    nothing: str,
) -> Markup:
    inner = strip(name, bands, samples, digits) if samples else tag("p", nothing, class_="soft")
    return tag("figure", tag("figcaption", name), inner)

"""The parts of the page that stand above and below its figures."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from voiceagent.report.figures import Figures, session_ms
from voiceagent.report.markup import Markup, tag
from voiceagent.report.moments import Moment
from voiceagent.report.wording import (
    CAUSES,
    PARTS,
    PLACES,
    UNKNOWN,
    amount,
    clock,
    dollars,
    number,
    short,
)
from voiceagent.rhythm.pauses import Cause, PauseClass
from voiceagent.rhythm.values import Unknown

Clips = Mapping[tuple[int, int | None], bytes]


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A table in a box of its own that scrolls sideways; the first cell names the row."""
    body = [
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:]))
        for row in rows
    ]
    inner = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
        tag("tbody", *body),
    )
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def section(title: str, *children: str, lead: str = "") -> Markup:
    """A part of the page under its heading."""
    said = [tag("p", lead, class_="lead")] if lead else []
    return tag("section", tag("h2", title), *said, *children)


def more(summary: str, *children: str) -> Markup:
    """What is shown on demand."""
    return tag("details", tag("summary", summary), *children)


def headline(figures: Figures) -> Markup:
    """What, when, and the verdict in words."""
    session = figures.session
    lasted = session_ms(session)
    facts = [
        f"{session.started_at:%d %B %Y, %H:%M} UTC",
        UNKNOWN if isinstance(lasted, Unknown) else f"{clock(lasted)} long",
        f"{len(figures.records)} turn{'' if len(figures.records) == 1 else 's'}",
        "measured by the player" if session.reports_playout else "heard times are estimated",
    ]
    return tag(
        "header",
        tag("p", "Session report", class_="kicker"),
        tag("h1", figures.verdict),
        tag("p", " · ".join(facts), class_="lead"),
        tag("p", f"Session {session.id}", class_="soft small"),
    )


def moments_list(figures: Figures, clips: Clips) -> Markup:
    """Every slow gap and awkward pause: when, how long, why, and how to hear it."""
    if not figures.moments:
        return section(
            "Moments to listen to", tag("p", "No slow gap and no awkward pause is recorded.")
        )
    items = [_moment(moment, clips) for moment in figures.moments]
    severe = sum(m.moment_class in ("severe", "bad", "broken") for m in figures.moments)
    return section(
        "Moments to listen to",
        tag("ol", *items, class_="moments"),
        lead=f"{len(items)} slow gaps and awkward pauses, {severe} of them severe, bad or broken, "
        "in the order in which they were heard. Times are minutes and seconds of the recording.",
    )


def _moment(moment: Moment, clips: Clips) -> Markup:
    at = UNKNOWN if isinstance(moment.at_ms, Unknown) else clock(moment.at_ms)
    long = (
        moment.duration_ms.reason
        if isinstance(moment.duration_ms, Unknown)
        else f"{number(moment.duration_ms)} ms"
    )
    where = PLACES.get(moment.place, moment.place)
    cause = (
        CAUSES[moment.cause]
        if moment.kind == "pause"
        else f"longest part: {PARTS.get(moment.cause, moment.cause)}"
        if not isinstance(moment.duration_ms, Unknown)
        else f"cause: {moment.cause}"
    )
    sound = _clip(moment, clips)
    return tag(
        "li",
        tag("span", at, class_="moment__at"),
        tag(
            "span",
            tag("span", moment.moment_class, class_=f"class class--{moment.moment_class}"),
            f" {long}",
            class_="moment__long",
        ),
        tag("span", f"{where}; {cause}", class_="moment__why"),
        tag("a", f"turn {moment.turn}", href=f"#turn-{moment.turn}", class_="moment__turn"),
        sound,
    )


def _clip(moment: Moment, clips: Clips) -> Markup:
    wav = clips.get((moment.turn, moment.pause_index))
    if not wav:
        return Markup("")
    source = f"data:audio/wav;base64,{base64.b64encode(wav).decode()}"
    silence = "wait" if moment.pause_index is None else "pause"
    name = f"The {silence} in turn {moment.turn} at {amount(moment.at_ms, ' ms')}"
    return tag("audio", controls="", preload="none", src=source, aria_label=name)


def parts_table(figures: Figures) -> Markup:
    """What the gaps are made of."""
    parts = figures.rolled_up.parts
    if not parts:
        return tag("p", "The parts of the gaps are not known.", class_="soft")
    rows = [
        (PARTS.get(name, name), short(one.p50), short(one.max), str(one.n))
        for name, one in parts.items()
    ]
    return table("Parts of the gap, ms", ("part", "median", "max", "n"), rows)


def pauses_table(figures: Figures) -> Markup:
    """Pauses by place and class, and how many of each cause."""
    found = figures.rolled_up.pauses
    rows = []
    for place, where in PLACES.items():
        for name in (*PauseClass, "unknown"):
            mine = [one for one in found if (one.place, one.pause_class) == (place, name)]
            if mine:
                by_cause = [sum(one.n for one in mine if one.cause == cause) for cause in Cause]
                longest = max(one.longest_ms for one in mine)
                counts = (str(n) if n else "\u2013" for n in by_cause)
                rows.append((where, str(name), *counts, number(longest)))
    if not rows:
        return tag("p", "No pause inside the agent's turns is recorded.", class_="soft")
    head = ("place", "class", *(str(cause) for cause in Cause), "longest, ms")
    return table("Pauses inside the agent's turns, by cause", head, rows)


def costs_section(figures: Figures) -> Markup:
    """What every attempt used."""
    found = figures.rolled_up.costs
    if not found.lines:
        return section("Costs", tag("p", "No attempt's tokens or price is recorded."))
    rows = [
        (
            one.backend or "all",
            one.purpose,
            str(one.attempts),
            number(one.prompt_tokens),
            number(one.cached_tokens),
            number(one.completion_tokens),
            str(one.estimated),
            "price not known" if isinstance(one.usd, Unknown) else dollars(one.usd),
        )
        for one in (*found.lines, found.total)
    ]
    head = ("backend", "purpose", "attempts", "prompt", "cached", "completion", "estimated", "USD")
    unpriced = found.total.unpriced
    lead = "Every attempt counts, heard or not." + (
        f" The price of {unpriced} of {found.total.attempts} attempts is not known, so neither is "
        "the sum."
        if unpriced
        else ""
    )
    return section(
        "Costs", table("Tokens and dollars by backend and purpose", head, rows), lead=lead
    )


def unknown_section(figures: Figures) -> Markup:
    """What is not known, and why."""
    rows = [
        (name.removesuffix("_ms"), reason, str(n))
        for name, reasons in figures.rolled_up.unknown.items()
        for reason, n in reasons.items()
    ]
    if not rows:
        return section("What is not known", tag("p", "Nothing that was to be measured is missing."))
    return section(
        "What is not known", table("Figures without a value", ("figure", "why", "turns"), rows)
    )

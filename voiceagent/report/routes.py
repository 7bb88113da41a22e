"""The route decisions on the page: who answered and why, from data that may lack things."""

from __future__ import annotations

from typing import Any

from voiceagent.report.figures import Figures
from voiceagent.report.markup import Markup, tag
from voiceagent.report.sections import more, section, table
from voiceagent.report.wording import UNKNOWN, number
from voiceagent.turn_record import TurnRecord

MARKS = {
    "hedged": "Hedged: the first was late, so a second was asked at the same time.",
    "failed_over": "Failed over: the first could not answer, so another was asked.",
    "handed_over": "Handed over: the first stopped in the middle, and another went on.",
}


def routes_section(figures: Figures) -> Markup:
    """First the decisions in which something happened; the plain ones on demand."""
    decided = [turn for turn in figures.records if turn.decision]
    if not decided:
        return section("Who answered", tag("p", "No route decision is recorded."))
    special = [turn for turn in decided if _special(turn.decision or {})]
    plain = [turn for turn in decided if not _special(turn.decision or {})]
    shown = [_route(turn, turn.decision or {}) for turn in special]
    kept = [_route(turn, turn.decision or {}) for turn in plain]
    rest = [more(f"{len(kept)} answered by the first that was asked", *kept)] if kept else []
    lead = f"{len(special)} of {len(decided)} decisions were hedged, failed over, handed over or "
    return section("Who answered", *shown, *rest, lead=lead + "without an answer.")


def _special(decision: dict[str, Any]) -> bool:
    return any(decision.get(mark) for mark in MARKS) or decision.get("outcome") != "answered"


def _route(turn: TurnRecord, decision: dict[str, Any]) -> Markup:
    said = [text for mark, text in MARKS.items() if decision.get(mark)]
    attempts = [
        (
            _text(one, "backend"),
            _text(one, "purpose"),
            _text(one, "first_content_ms"),
            _text(one, "outcome"),
        )
        for one in _rows(decision, "attempts")
    ]
    considered = [
        (
            _text(one, "name"),
            _text(one, "state"),
            _text(one, "dead_air_ms"),
            _text(one, "first_p50_ms"),
            _text(one, "first_p95_ms"),
            _text(one, "measured"),
            _text(one, "usd"),
        )
        for one in _rows(decision, "considered")
    ]
    inner = [tag("p", " ".join(said), class_="soft small")] if said else []
    if attempts:
        head = ("asked", "purpose", "first content, ms", "outcome")
        inner.append(table(f"Turn {turn.number}: attempts", head, attempts))
    if considered:
        head_2 = ("backend", "state", "dead air, ms", "p50", "p95", "answers", "USD")
        inner.append(table(f"Turn {turn.number}: considered", head_2, considered))
    summary = tag(
        "summary",
        tag("span", f"Turn {turn.number}", class_="route__turn"),
        " ",
        tag("span", _text(decision, "badge"), class_="badge"),
        " ",
        tag("span", _text(decision, "outcome"), class_="soft small"),
    )
    reason = tag("p", _text(decision, "reason"), class_="small")
    return tag("details", summary, reason, *inner, class_="route")


def _rows(decision: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = decision.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return number(value, 5 if name == "usd" else 0)

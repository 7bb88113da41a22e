"""The page of the report: it parses, escapes what people and backends said, and hides nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.kit.turn_records import a_session
from tests.report.records import COST, SESSION, TURN, any_session, any_turns, quick
from voiceagent.report import plots, wording
from voiceagent.report.html import report_html
from voiceagent.rhythm.gaps import classify_gap
from voiceagent.turn_record import SessionRecord, TurnRecord

HOSTILE = "</script><img src=x onerror=alert(1)>\" onload='alert(2)' </title></style>\x00\ud800"
EMPTY = {"meta", "br", "source", "col"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "p", "h1"),
    *("h2", "dl", "dt", "dd", "div", "span", "ul", "ol", "li", "a", "b", "br", "bdi", "audio"),
    *("details", "summary", "figure", "figcaption", "table", "caption", "thead", "tbody", "tr"),
    *("th", "td", "svg", "defs", "pattern", "desc", "rect", "line", "text", "path", "circle"),
    "polygon",
}


class Page(HTMLParser):
    """Reads a page strictly: every element is known, closed in its order, and does nothing."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.sources: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href"):
                self.sources.append(value or "")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All that can be read."""
        return " ".join("".join(self.texts).split())


def test_the_verdict_the_figures_and_the_moments_are_there_in_words() -> None:
    page = Page(report_html(SESSION, [TURN, quick(2), quick(3, 1_300)])).text
    assert "2 of 3 turns within a second; 1 awkward pause" in page
    assert "660 ms · comfortable" in page
    assert "1 300 ms · awkward" in page
    assert "00:04.0" in page
    assert "inside a phrase; underrun: the player had nothing to play" in page
    assert "longest part: The first word of the answer" in page
    assert "p95 n too small" in page


def test_a_clip_stands_at_its_pause_and_nowhere_else() -> None:
    page = Page(report_html(SESSION, [TURN], {(1, 0): b"RIFFwave", (1, 1): b"fine", (9, 0): b"x"}))
    assert [s for s in page.sources if s.startswith("data:")] == [
        "data:audio/wav;base64,UklGRndhdmU="
    ]


def test_what_was_said_and_named_is_text_and_nothing_else() -> None:
    decision = {"badge": HOSTILE, "reason": HOSTILE, "outcome": HOSTILE, "hedged": True} | {
        "attempts": [{"backend": HOSTILE, "purpose": HOSTILE, "outcome": HOSTILE}],
        "considered": [{"name": HOSTILE, "state": HOSTILE}],
    }
    turn = replace(
        TURN,
        user_text=HOSTILE,
        heard_text=HOSTILE,
        trouble=HOSTILE,
        decision=decision,
        parts=((HOSTILE, 1_400_000),),
        gap_us=1_400_000,
        costs=(replace(COST, backend=HOSTILE, purpose=HOSTILE),),
    )
    dropped = TurnRecord(2, "dropped", user_end_us=0, dropped=HOSTILE)
    text = report_html(replace(SESSION, id=HOSTILE), [turn, dropped])
    page = Page(text)  # which lets no unknown element or handler pass
    assert page.text.count("<img src=x onerror=alert(1)>") >= 12
    text.encode()  # no lone surrogate is left
    assert "\x00" not in text
    assert all(source.startswith("#turn-") for source in page.sources)


def test_it_needs_nothing_from_anywhere() -> None:
    text = report_html(*a_session(30, text=True))
    assert re.findall(r"https?://|@import|<script|<link|<iframe", text) == []
    assert set(re.findall(r"url\([^)]*\)", text)) == {"url(#hatch)"}


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([], "The session has no turn."),
        ([TurnRecord(1, "dropped", dropped="empty")], "no times are known of this turn"),
        ([TurnRecord(1, "dropped", dropped="empty")], "No response gap is known"),
        ([TurnRecord(1, "spoken", reply=1)], "the session ended before the answer"),
        ([TurnRecord(1, "spoken", status="unanswered")], "no answer · broken"),
        ([TURN], "the first answer, cold: 660 ms"),
        ([replace(TURN, measured=False)], "the agent, estimated"),
    ],
)
def test_what_is_not_known_is_said(turns: list[TurnRecord], said: str) -> None:
    assert said in Page(report_html(SESSION, turns)).text


def test_many_turns() -> None:
    session, turns = a_session(500)
    text = report_html(session, turns)
    page = Page(text)
    assert sum(name.startswith("turn-") for name in page.ids) == 500
    assert len(page.ids) == len(set(page.ids))
    assert len(text) < 6_000_000


@settings(max_examples=40, deadline=None)
@given(any_session, any_turns)
def test_any_records_give_a_page(session: SessionRecord, turns: list[TurnRecord]) -> None:
    text = report_html(session, turns)
    Page(text)
    text.encode()
    assert not re.search(r'="-?(nan|inf)"', text)


def test_the_bands_of_the_plot_are_the_classes() -> None:
    for band in plots.GAP_BANDS:
        assert classify_gap(band.top if band.name != "overlap" else -121) == band.name
        assert classify_gap(band.bottom - 1) == band.name
    for above, below in zip(plots.GAP_BANDS, plots.GAP_BANDS[1:], strict=False):
        assert above.bottom == below.top


def test_the_words_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "web" / "gap.js").read_text(encoding="utf-8")
    for name, words in {**wording.GAP_MEANING, **wording.PARTS}.items():
        assert re.search(rf'"?{name}"?: "{re.escape(words)}"', page), name


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "00:00.0"), (59_960, "01:00.0"), (61_250, "01:01.2"), (-500, "\u221200:00.5")],
)
def test_the_clock(ms: float, text: str) -> None:
    assert wording.clock(ms) == text


def test_numbers_for_people() -> None:
    assert wording.number(-1_234.4) == "\u22121\u202f234"
    assert wording.number(-0.2) == "0"
    assert wording.number(float("nan")) == "not known"

"""Who answered: a badge on the turn, its reason on demand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
BADGE = "groq · 190 ms · hedged"


@pytest.fixture
def visit(page_for: Open, server: PageServer) -> Visit:
    """A call in progress."""
    return page_for(server.url).talk()


def badges(visit: Visit) -> list[str]:
    return visit.page.locator(".turn--agent .route__badge").all_inner_texts()


def test_the_badge_is_on_its_turn_and_follows_what_happens(visit: Visit, script: Script) -> None:
    first = script.reply(("Daniel Brooks.", tone(0.2)))
    script.route(first, BADGE, hedged=True)
    second = script.reply(("Anything else?", tone(0.2)))
    script.route(second, "groq · 90 ms")
    script.route(second, "gpu · 90 ms · handed over", handed_over=True)
    visit.until("() => document.querySelectorAll('.route__badge').length === 2")
    visit.until("() => [...document.querySelectorAll('.route__badge')][1].textContent[1] === 'p'")
    assert badges(visit) == [BADGE, "gpu · 90 ms · handed over"]
    script.heard(second, "completed", "Anything else?")
    assert badges(visit)[1].startswith("gpu")


def test_a_badge_may_come_before_the_words(visit: Visit, script: Script) -> None:
    script.route("item_early", "groq · 90 ms")
    visit.page.locator(".route__badge").wait_for()
    script.heard("item_early", "completed", "Yes.")
    entry = visit.page.locator(".turn--agent[data-item=item_early]")
    visit.until("() => document.querySelector('.turn--agent .turn__text')?.textContent === 'Yes.'")
    assert entry.locator(".route__badge").inner_text() == "groq · 90 ms"


def test_the_reason_is_reached_by_keyboard_and_stays_open(visit: Visit, script: Script) -> None:
    item = script.reply(("Daniel Brooks.", tone(0.2)))
    script.route(item, BADGE, "groq is quicker than gpu", hedged=True)
    summary = visit.page.locator(".route summary")
    summary.focus()
    visit.page.keyboard.press("Enter")
    more = visit.page.locator(".route__more")
    more.wait_for()
    assert "a second was asked at the same time" in more.inner_text()
    assert "groq is quicker than gpu." in more.inner_text()
    script.route(item, "gpu · 90 ms", "the others rest")
    visit.until("() => document.querySelector('.route__badge').textContent.startsWith('gpu')")
    assert visit.page.locator(".route__more").is_visible()


def test_what_a_server_sends_is_text(visit: Visit, script: Script) -> None:
    item = script.reply(("Daniel Brooks.", tone(0.2)))
    script.route(item, "<img src=x onerror=alert(1)>", "<b>reason</b>")
    visit.page.locator(".route__badge").wait_for()
    assert badges(visit) == ["<img src=x onerror=alert(1)>"]
    assert visit.page.locator(".route img, .route b").count() == 0


def test_without_the_event_there_is_no_badge(visit: Visit, script: Script) -> None:
    item = script.reply(("Daniel Brooks.", tone(0.2)))
    script.heard(item, "completed", "Daniel Brooks.")
    visit.until("() => document.querySelector('.turn--agent')?.dataset.status === 'completed'")
    assert badges(visit) == []


def test_it_can_be_touched_on_a_phone(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url, viewport={"width": 390, "height": 844}).talk()
    item = script.reply(("Daniel Brooks.", tone(0.2)))
    script.route(item, "groq · 1190 ms · hedged · failed over · handed over")
    box = visit.page.locator(".route summary").bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert box["x"] + box["width"] <= 390

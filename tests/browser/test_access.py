"""The page for everyone: keyboard, screen reader, small screen, less motion; no complaints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]

FOCUSED = """() => { const at = document.activeElement;
  const ring = getComputedStyle(at.id === "message" ? at.closest(".compose") : at);
  return { name: at.textContent.trim() || at.getAttribute("aria-label") || at.id,
           ring: ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2 }; }"""


def converse(server: PageServer, script: Script) -> None:
    """A short conversation with everything in it that the page can show."""
    script.user_said("When is my next visit, and who is coming?")
    item = script.reply(("On Thursday, Daniel Brooks.", tone(0.3)))
    script.gap(item, {"endpointing": 240.0, "transcription": 140.0}, "comfortable")
    server.report("stopped", item_id=item)
    script.heard(item, "interrupted", "On Thursday, Daniel Brooks comes.", "On Thursday,")
    script.user_begins("and what about")


def tab(visit: Visit, presses: int) -> list[str]:
    """Press Tab, and name what has the focus each time; it must show."""
    names = []
    for _ in range(presses):
        visit.page.keyboard.press("Tab")
        at = visit.page.evaluate(FOCUSED)
        assert at["ring"], f"the focus on {at['name']!r} does not show"
        names.append(at["name"])
    return names


def test_a_call_with_the_keyboard_only(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url)
    keyboard = visit.page.keyboard
    assert tab(visit, 2) == ["Skip to typing", "Start talking"]
    keyboard.press("Enter")
    visit.page.wait_for_selector("body[data-phase=live]")
    assert visit.page.evaluate(FOCUSED)["name"] == "Mute"  # the focus is not lost with the button
    keyboard.press("Space")
    visit.button("Unmute").wait_for()
    keyboard.press("Space")
    visit.button("Mute").wait_for()
    converse(server, script)
    visit.page.locator(".gap").wait_for()
    assert tab(visit, 4) == ["volume", "End call", "message", "Send"]
    keyboard.press("Shift+Tab")
    keyboard.type("Thank you")
    keyboard.press("Enter")
    server.wait_for("response.create")
    # Back past the controls and the rhythm strip to the gap, whose parts open.
    for _ in range(5):
        keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    assert visit.page.locator(".gap dl").is_visible()
    tab(visit, 4)
    keyboard.press("Enter")
    visit.page.wait_for_selector("body[data-phase=ended]")
    assert visit.page.evaluate(FOCUSED)["name"] == "Talk again"


def test_no_complaints_under_the_policy_to_the_letter(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url, ear=False).talk()
    converse(server, script)
    visit.page.locator(".gap summary").click()
    visit.button("Mute").click()
    visit.type("One more thing")
    server.wait_for("response.create")
    visit.button("End call").click()
    visit.button("Talk again").wait_for()
    assert visit.complaints == []
    assert visit.violations == []


def test_everything_comes_from_the_server_itself(page_for: Open, server: PageServer) -> None:
    visit = page_for(None)
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.page.on("websocket", lambda socket: asked.append(socket.url))
    visit.open(server.url).talk()
    assert len(asked) > 10
    assert {url.split("/")[2] for url in asked} == {f"127.0.0.1:{server.port}"}


def test_landmarks_and_names(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url).talk()
    converse(server, script)
    page = visit.page
    assert page.get_by_role("banner").count() == 1
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("region", name="Conversation").is_visible()
    assert page.get_by_role("list").get_by_role("listitem").count() == 3
    assert page.get_by_role("group", name="Call").is_visible()
    live = page.locator("[aria-live], [role=log], [role=status], [role=alert]")
    assert sorted(live.evaluate_all("all => all.map(one => one.id)")) == [
        "connection",
        "log",
        "rhythm-said",
    ]


STATES: list[dict[str, Any]] = [
    {"viewport": {"width": 390, "height": 844}},
    {"viewport": {"width": 320, "height": 640}},
    {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},  # 1280 at 200 %
    {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"},
]


@pytest.mark.parametrize("screen", STATES, ids=["phone", "small", "zoomed", "still"])
def test_nothing_overflows(
    page_for: Open, server: PageServer, script: Script, screen: dict[str, Any]
) -> None:
    visit = page_for(server.url, **screen)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert visit.page.evaluate(wide) == 0
    visit.talk()
    converse(server, script)
    script.user_said("Supercalifragilistic" * 6)
    server.send("voiceagent.notice", code="x", message="Something of some length happened. " * 3)
    visit.notice("x").wait_for()
    visit.page.locator(".gap summary").click()
    assert visit.page.evaluate(wide) == 0
    for button in visit.page.locator("button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= screen["viewport"]["width"]


def test_less_motion_draws_levels_and_runs_nothing(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url, reduced_motion="reduce").talk()
    drawn = """() => { const strip = document.querySelector("#strip");
      const { data } = strip.getContext("2d").getImageData(0, 0, strip.width, strip.height);
      return data.filter((value, n) => n % 4 === 3 && value > 0).length; }"""
    visit.until(f"({drawn})() > 0")
    silent = visit.page.evaluate(drawn)
    script.reply(("Steady.", tone(1)))
    server.report("playing")
    visit.until(f"({drawn})() > {silent} + document.querySelector('#strip').width")
    assert visit.page.evaluate("document.getAnimations().length") == 0

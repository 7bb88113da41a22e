"""The report of a session in a real Chromium, from its file: light, dark, and on a small screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import ARTEFACTS
from tests.kit.turn_records import a_session
from voiceagent.report.html import report_html

pytestmark = pytest.mark.browser
Look = Literal["light", "dark"]

CONTRAST = """() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = rgb => { const [r, g, b] = rgb.slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = at => { for (; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.length === 3 || color[3] > 0) return color; } };
  const found = {};
  for (const at of document.querySelectorAll(".class, .band, .pause-text, text.note, .soft")) {
    const style = getComputedStyle(at), svg = at instanceof SVGElement;
    const ink = light(parse(svg ? style.fill : style.color)), paper = light(ground(at));
    found[at.getAttribute("class")] =
      (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); }
  return found; }"""

OVERLAPS = """() => { const found = [];
  for (const row of document.querySelectorAll(".row > svg")) {
    const boxes = [...row.querySelectorAll("text")]
      .map(text => [text.getBoundingClientRect(), text.textContent]);
    boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, two]) => {
      if (a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
        found.push(`${row.getAttribute("aria-label")}: ${one} / ${two}`); })); }
  return found; }"""


@pytest.fixture(params=[("light", 1280), ("dark", 1280), ("light", 390)], ids=str)
def page(chromium: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The report of 30 turns; nothing in it may complain."""
    look, width = request.param
    file = tmp_path / "report.html"
    file.write_text(report_html(*a_session(30, text=True)), encoding="utf-8")
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=look, offline=True
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    yield page
    picture = ARTEFACTS / "report" / f"{look}_{width}.png"
    page.screenshot(path=picture, full_page=True)
    context.close()
    assert complaints == []


def test_it_reads_well(page: Page) -> None:
    wide = "() => document.scrollingElement.scrollWidth - innerWidth"
    assert page.evaluate(wide) <= 0
    contrast = page.evaluate(CONTRAST)
    assert {name for name in contrast if name.startswith("class class--")} >= {
        "class class--broken",
        "class class--noticeable",
    }
    assert {name: ratio for name, ratio in contrast.items() if ratio < 4.5} == {}
    assert page.evaluate(OVERLAPS) == []
    names = page.evaluate(
        "() => [...document.querySelectorAll('svg:not([aria-hidden])')]"
        ".map(svg => svg.getAttribute('role') + svg.querySelector('title')?.textContent)"
    )
    assert len(names) >= 34
    assert all(name.startswith("img") and len(name) > 6 for name in names)
    page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(wide) <= 0


def test_the_timeline_scrolls_by_itself_and_a_moment_leads_to_its_turn(page: Page) -> None:
    box = page.locator(".timeline")
    box.focus()
    assert box.evaluate("at => at.scrollHeight > at.clientHeight")
    page.locator(".moments a").last.click()
    target = page.locator(".row:target")
    assert target.count() == 1
    assert box.evaluate("at => at.scrollTop") > 0

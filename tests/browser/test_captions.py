"""The conversation as text: partials in place, words that light up, what was cut off, the gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]

PARTS = {"endpointing": 220.4, "transcription": 130.0, "first token": 150.6, "voice": 0.0}


@pytest.fixture
def visit(page_for: Open, server: PageServer) -> Visit:
    """A call in progress."""
    return page_for(server.url).talk()


def shows(visit: Visit, *texts: str) -> None:
    """Wait until the entries on the page are exactly these."""
    visit.until(
        """texts => JSON.stringify([...document.querySelectorAll(".turn .turn__text")]
          .map(line => line.textContent.replace(/\\s+/g, " ").trim())) === JSON.stringify(texts)""",
        list(texts),
    )


def test_s11_partials_replace_each_other_and_a_final_counts_once(
    visit: Visit, script: Script
) -> None:
    item = script.user_begins("hello", "hello world")
    shows(visit, "hello world")
    assert visit.page.locator(".turn--user").get_attribute("data-final") == "false"
    script.user_said("Hello, world.", item)
    script.user_said("Hello, world.", item)
    script.server.send("voiceagent.transcript.partial", item_id=item, text="late")
    script.user_said("Next.")
    shows(visit, "Hello, world.", "Next.")
    said = visit.page.locator("#log p").all_text_contents()
    assert said == ["You: Hello, world.", "You: Next."]  # no partial is read out


def test_u06_two_replies_are_two_entries(visit: Visit, script: Script) -> None:
    script.user_said("Who is coming?")
    for text in ("Daniel Brooks.", "Anything else?"):
        item = script.reply((text, tone(0.2)))
        script.server.report("stopped", item_id=item)
        script.heard(item, "completed", text)
    shows(visit, "Who is coming?", "Daniel Brooks.", "Anything else?")
    assert visit.page.locator(".turn--agent").count() == 2


def test_words_light_up_as_they_are_heard(visit: Visit, script: Script) -> None:
    texts = ("On Thursday, Daniel", " replaces the control board of the pump.")
    item = script.reply(*((text, tone(1.5)) for text in texts))
    shows(visit, "".join(texts))
    words = visit.page.locator(".turn--agent .word")
    assert words.all_text_contents()[:3] == ["On", "Thursday,", "Daniel"]
    progress = """samples => { const lit = document.querySelectorAll(".word--heard").length;
      return [lit, lab.context.currentTime]; }"""
    script.server.report("started", item_id=item)
    seen = []
    for _ in range(6):
        visit.page.wait_for_timeout(300)
        seen.append(visit.page.evaluate(progress)[0])
    assert seen == sorted(seen)
    assert 0 < seen[1] < seen[4] < words.count()
    assert visit.page.locator(".word--now").count() == 1
    script.server.report("stopped", item_id=item)
    visit.until("!document.querySelector('.word:not(.word--heard)')")


def test_t13_what_was_cut_off_is_struck_and_said(visit: Visit, script: Script) -> None:
    text = "It is Thursday. And the window is from nine to eleven."
    item = script.reply((text, tone(2)), done=False)
    script.server.report("playing", item_id=item)
    script.flush(item)
    script.heard(item, "interrupted", text, "It is Thursday.")
    visit.page.wait_for_selector(".cut")
    assert visit.page.locator(".cut").evaluate("cut => cut.tagName") == "S"
    shown = "It is Thursday. Cut off, not heard: And the window is from nine to eleven."
    shows(visit, shown)
    script.heard(item, "interrupted", text, "It is Thursday. And")  # a late report corrects it
    shows(visit, "It is Thursday. And Cut off, not heard: the window is from nine to eleven.")
    assert visit.page.locator("#log p").all_text_contents() == [f"Assistant: {shown}"]


def test_text_that_the_voice_failed_to_say_is_there_unstruck(visit: Visit, script: Script) -> None:
    item = script.reply(("It is Thursday.", tone(0.2)))
    script.heard(item, "failed", "It is Thursday. At nine.", "It is Thursday.")
    shows(visit, "It is Thursday. Not spoken: At nine.")
    assert visit.page.locator("s").count() == 0


def test_a07_what_came_to_nothing_leaves_no_entry(visit: Visit, script: Script) -> None:
    item = script.user_begins("mm-hm")
    shows(visit, "mm-hm")
    script.server.send("voiceagent.turn.dropped", item_id=item, reason="backchannel")
    shows(visit)


def test_gap_in_milliseconds_in_words_and_in_parts(visit: Visit, script: Script) -> None:
    script.user_said("When is my next visit?")
    item = script.reply(("On Thursday.", tone(0.3)))
    script.gap(item, PARTS, "comfortable")
    gap = visit.page.locator(".turn--agent .gap")
    gap.wait_for()
    assert " ".join(gap.locator("summary").inner_text().split()).endswith("501 ms comfortable")
    assert not gap.locator("dl").is_visible()
    gap.locator("summary").click()
    rows = [" ".join(row.split()) for row in gap.locator(".gap__part").all_inner_texts()]
    assert rows == [
        "Being sure that you had finished 220 ms",
        "Understanding your words 130 ms",
        "The first word of the answer 151 ms",
    ]
    assert gap.get_by_text("Measured at your ear").is_visible()


def test_no_gap_is_shown_where_none_was_measured(visit: Visit, script: Script) -> None:
    item = script.reply(("Hello!", tone(0.2)))
    nothing: dict[str, Any] = {"gap_ms": None, "class": None, "measured": True, "parts": []}
    script.server.send("voiceagent.gap", item_id=item, **nothing)
    script.heard(item, "completed", "Hello!")
    shows(visit, "Hello!")
    assert visit.page.locator(".gap").count() == 0


@pytest.mark.parametrize(
    ("user", "agent", "words"),
    [
        ("quiet", "idle", "Listening"),
        ("speaking", "idle", "You are speaking"),
        ("paused", "idle", "Listening"),
        ("quiet", "thinking", "Thinking"),
        ("quiet", "speaking", "The assistant is speaking"),
        ("speaking", "speaking", "You are both speaking"),
    ],
)
def test_who_is_speaking(visit: Visit, script: Script, user: str, agent: str, words: str) -> None:
    script.state(user, agent)
    visit.until("words => document.querySelector('#speaker').textContent === words", words)


def test_what_is_said_is_text_never_markup(visit: Visit, script: Script) -> None:
    evil = "<img src=x onerror=alert(1)> <b>bold</b>"
    script.user_said(evil)
    item = script.reply((evil, tone(0.1)))
    script.heard(item, "interrupted", evil, "<img src=x")
    visit.page.wait_for_selector(".cut")
    assert visit.turns("turn--user") == [evil]
    assert visit.page.locator("#turns img, #turns b").count() == 0


def test_reader_of_older_text_is_left_alone(visit: Visit, script: Script) -> None:
    for number in range(30):
        script.user_said(f"Sentence {number}.")
    visit.page.get_by_text("Sentence 29.", exact=True).first.wait_for()
    visit.until("document.documentElement.scrollTop > 300")
    visit.page.mouse.wheel(0, -10_000)
    visit.until("document.documentElement.scrollTop === 0")
    script.user_said("One more.")
    visit.page.get_by_text("One more.", exact=True).first.wait_for(state="attached")
    assert visit.page.evaluate("document.documentElement.scrollTop") == 0
    visit.page.mouse.wheel(0, 10_000)
    visit.page.get_by_text("One more.", exact=True).first.scroll_into_view_if_needed()
    visit.page.wait_for_timeout(500)
    script.user_said("And one.")
    end = "scrollHeight - d.scrollTop - d.clientHeight"
    visit.until(
        f"(d => document.querySelectorAll('.turn').length === 32 && d.{end} < 2)"
        "(document.documentElement)"
    )


def test_hanging_up_in_mid_reply_strikes_the_rest(visit: Visit, script: Script) -> None:
    item = script.reply(("One two three four five six seven eight.", tone(4)))
    script.server.report("playing", item_id=item)
    visit.page.wait_for_selector(".word--heard")
    visit.button("End call").click()
    text = visit.turns()[0]
    assert text.startswith("One")
    assert "Cut off, not heard:" in text
    assert text.endswith("eight.")

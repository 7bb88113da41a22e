"""The rhythm strip: what it keeps of the server's events, draws, writes and says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
Event = dict[str, Any]

MODEL = """async ([steps, shown]) => {
  const { RhythmModel } = await import("/web/rhythm-model.js");
  const model = new RhythmModel();
  for (const [now, event] of steps) event ? model.handle(event, now) : model.advance(now);
  return Object.fromEntries(shown.map(name => [name, model[name]]));
}"""
DRAWN = """() => { const strip = document.querySelector("#strip");
  const { data } = strip.getContext("2d").getImageData(0, 0, strip.width, strip.height);
  let hash = 0;
  for (let n = 0; n < data.length; n += 4) hash = (hash * 31 + data[n] + data[n + 3]) | 0;
  return hash; }"""
COUNT_DRAWINGS = """() => { window.drawings = 0;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (x, y, ...size) {
    if (x === 0 && y === 0) window.drawings++;
    return clear.call(this, x, y, ...size);
  }; }"""
NOTE_WORDS = """() => { window.written = new Set();
  const fill = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
    window.written.add(text);
    return fill.call(this, text, ...where);
  }; }"""
NOTE_SAID = """() => { window.said = [];
  const line = document.querySelector("#rhythm-said");
  new MutationObserver(() => line.textContent && window.said.push(line.textContent))
    .observe(line, { childList: true, characterData: true, subtree: true }); }"""
SOURCE = "input_audio_buffer."


@pytest.fixture
def visit(page_for: Open, server: PageServer) -> Visit:
    """A call in progress."""
    return page_for(server.url).talk()


@pytest.fixture
def page(page_for: Open, server: PageServer) -> Visit:
    """The page without a call: its modules alone."""
    return page_for(server.url, ear=False)


def after(page: Visit, *steps: tuple[float, Event | None], shown: str) -> Any:
    """What the model says after these events at these moments (milliseconds)."""
    wanted = shown.split()
    found = page.page.evaluate(MODEL, [[list(step) for step in steps], wanted])
    return found[wanted[0]] if len(wanted) == 1 else found


def state(user: str, agent: str, at_ms: Any = None) -> Event:
    return {"type": "voiceagent.state", "user": user, "agent": agent, "at_ms": at_ms}


def pause(ms: Any, kind: Any, at_ms: Any = None, **more: Any) -> Event:
    known = {"duration_ms": ms, "class": kind, "at_ms": at_ms, "item_id": "a"}
    return {"type": "voiceagent.pause", "place": "phrase", "cause": "underrun", **known, **more}


def gap(ms: Any, kind: Any, at_ms: Any = None, item: str = "a", **more: Any) -> Event:
    known = {"gap_ms": ms, "class": kind, "at_ms": at_ms, "measured": True}
    return {"type": "voiceagent.gap", "item_id": item, **known, **more}


def started(at_ms: float) -> Event:
    return {"type": SOURCE + "speech_started", "item_id": "u", "audio_start_ms": at_ms}


def stopped(at_ms: float) -> Event:
    return {"type": SOURCE + "speech_stopped", "item_id": "u", "audio_end_ms": at_ms}


def test_a_turn_becomes_spans_of_both_lanes(page: Visit) -> None:
    steps = [
        (1_200, started(1_000)),
        (1_210, state("speaking", "idle", 1_050)),
        (2_100, state("paused", "idle", 2_000)),
        (2_400, state("quiet", "thinking", 2_390)),
        (2_410, stopped(1_980)),
        (2_700, state("quiet", "speaking", 2_650)),
        (2_800, gap(760, "noticeable", 2_760, user_end_ms=2_000)),
        (4_000, state("quiet", "idle", 3_990)),
    ]
    seen = after(page, *steps, shown="user agent gaps waiting")
    assert seen["user"] == [{"from": 1_000, "to": 2_000, "item": "u"}]
    assert [(each["phase"], each["from"], each["to"]) for each in seen["agent"]] == [
        ("hold", 2_000, 2_390),
        ("thinking", 2_390, 2_760),
        ("speaking", 2_760, 3_990),
    ]
    kept = {"from": 2_000, "to": 2_760, "ms": 760, "class": "noticeable", "measured": True}
    assert seen["gaps"] == [{"item": "a", **kept}]
    assert seen["waiting"] is None


def test_a_hold_ends_when_the_person_goes_on(page: Visit) -> None:
    spoken = [(0, state("speaking", "idle", 0)), (900, state("paused", "idle", 800))]
    assert after(page, *spoken, shown="waiting") == 800
    seen = after(
        page, *spoken, (1_300, state("speaking", "idle", 1_200)), shown="user agent waiting"
    )
    assert seen["waiting"] is None
    assert [(each["from"], each["to"]) for each in seen["user"]] == [(0, 800), (1_200, None)]
    assert [(each["phase"], each["to"]) for each in seen["agent"]] == [("hold", 1_200)]


def test_times_that_are_missing_or_incredible_mean_now(page: Visit) -> None:
    for at in (None, "soon", 9e99, -9e99, []):
        user = after(page, (5_000, state("speaking", "idle", at)), shown="user")
        assert user == [{"from": 5_000, "to": None, "item": None}]
    seen = after(
        page, (5_000, pause(300, "awkward")), (5_000, gap(500, "comfortable")), shown="pauses gaps"
    )
    assert (seen["pauses"][0]["from"], seen["pauses"][0]["to"]) == (4_700, 5_000)
    assert (seen["gaps"][0]["from"], seen["gaps"][0]["to"]) == (4_500, 5_000)


def test_ticks_stops_and_evenness_are_kept(page: Visit) -> None:
    tokens = {"type": "voiceagent.tokens", "item_id": "a", "evenness": 0.61, "band": "uneven"}
    stop = {"type": "voiceagent.stop", "item_id": "a", "stop_ms": 310, "class": "ok", "at_ms": 900}
    steps = [(1_000, {**tokens, "ticks": [[800, 1], [860, None]]}), (1_000, stop)]
    seen = after(page, *steps, shown="ticks evenness stops")
    assert seen["ticks"] == [{"at": 800, "tokens": 1}, {"at": 860, "tokens": None}]
    assert seen["evenness"] == {"value": 0.61, "band": "uneven"}
    assert seen["stops"] == [{"at": 900, "ms": 310, "class": "ok", "measured": False}]


def test_what_is_older_than_the_picture_goes_but_the_gaps_stay(page: Visit) -> None:
    old = [
        (0, state("speaking", "idle")),
        (500, state("quiet", "speaking")),
        (600, pause(100, "fine")),
    ]
    steps = [*old, (700, gap(400, "comfortable")), (900, state("quiet", "idle")), (30_000, None)]
    seen = after(page, *steps, shown="user agent pauses gaps")
    assert (seen["user"], seen["agent"], seen["pauses"]) == ([], [], [])
    assert len(seen["gaps"]) == 1


def test_the_last_eight_gaps_one_for_each_reply(page: Visit) -> None:
    steps = [(1_000 + n, gap(100 + n, "seamless", item=f"a{n}")) for n in range(12)]
    steps.append((2_000, gap(999, "noticeable", item="a11")))  # corrected
    gaps = after(page, *steps, shown="gaps")
    assert [each["ms"] for each in gaps] == [*range(104, 111), 999]


def test_memory_is_bounded_however_much_is_sent(page: Visit) -> None:
    size = page.page.evaluate(
        """async () => {
          const { RhythmModel } = await import("/web/rhythm-model.js");
          const model = new RhythmModel();
          const ticks = Array.from({ length: 900 }, (_, n) => [1000 + n, 1]);
          const kinds = ["fine", "severe"], floor = ["speaking", "paused"];
          const state = { type: "voiceagent.state" }, pause = { type: "voiceagent.pause" };
          let most = 0;
          for (let n = 0; n < 2000; n++) {
            const item_id = `a${n}`, at_ms = 1000 + n % 7;
            for (const event of [
              { ...state, user: floor[n % 2], agent: n % 3 ? "idle" : "speaking" },
              { type: "voiceagent.tokens", item_id, ticks, evenness: 0.5, band: "uneven" },
              { type: "voiceagent.gap", item_id, gap_ms: 500, class: "comfortable", at_ms },
              { ...pause, item_id: "a", duration_ms: 5, class: kinds[n % 2], at_ms },
              { type: "voiceagent.stop", item_id, stop_ms: 5, class: "good", at_ms },
              { type: "voiceagent.clause", item_id, first_sample: 0, samples: 9 },
            ]) model.handle(event, 1000 + n / 10);
            most = Math.max(most, model.size);
          }
          return most;
        }"""
    )
    assert 2_000 < size < 2_600


HOSTILE: list[Any] = [None, True, -1, 1e308, "x", "constructor", [], {}, [[]], [None, 3]]


def test_hostile_and_missing_fields_never_throw(page: Visit) -> None:
    names = ["state", "tokens", "gap", "pause", "stop", "clause", "heard", "playout.flush"]
    types = [f"voiceagent.{name}" for name in names]
    types += [SOURCE + "speech_started", SOURCE + "speech_stopped", "response.output_audio.done"]
    fields = ["user", "agent", "at_ms", "item_id", "ticks", "evenness", "band", "gap_ms", "class"]
    fields += ["parts", "user_end_ms", "measured", "duration_ms", "place", "cause", "stop_ms"]
    fields += ["first_sample", "samples", "audio_start_ms", "audio_end_ms"]
    events: list[Any] = [*HOSTILE, *({"type": bad} for bad in HOSTILE)]
    for kind in types:
        events.append({"type": kind})
        events += [{"type": kind, "item_id": "a"} | dict.fromkeys(fields, bad) for bad in HOSTILE]
        events += [
            {"type": kind, "item_id": "a", field: bad} for field in fields for bad in HOSTILE
        ]
    seen = after(page, *((1_000, event) for event in events), shown="size pauses gaps stops")
    assert (seen["pauses"], seen["gaps"], seen["stops"]) == ([], [], [])
    assert seen["size"] < 200


def test_hostile_events_on_the_page_leave_it_as_it_was(visit: Visit, server: PageServer) -> None:
    for name in ("state", "tokens", "gap", "pause", "stop"):
        for bad in HOSTILE:
            server.send(f"voiceagent.{name}", at_ms=bad, ticks=bad, gap_ms=bad, duration_ms=bad)
    server.send("voiceagent.gap", item_id="a", gap_ms=300, **{"class": "comfortable"})
    visit.page.locator(".figure--gaps", has_text="300 ms comfortable").wait_for()
    assert visit.complaints == []


def test_figures_of_tokens_gaps_and_reserve(visit: Visit, script: Script) -> None:
    value = visit.page.locator
    item = script.reply(("On Thursday.", tone(1.2)), ("At nine.", tone(3)), done=False)
    visit.until("parseFloat(document.querySelector('.figure--reserve dd').textContent) > 3")
    script.tokens(item, [(0, 1)], 0.31, "bursty")
    value(".figure--tokens dd", has_text="bursty 0.31").wait_for()
    for ms, kind in ((500.0, "comfortable"), (1_500.0, "awkward")):
        script.gap(f"item_{ms}", {"hold": ms}, kind)
    value(".figure--gaps dd", has_text="1500 ms awkward").wait_for()
    heights = value(".figure__bar").evaluate_all("all => all.map(bar => bar.offsetHeight)")
    assert len(heights) == 2
    assert heights[1] == pytest.approx(3 * heights[0], abs=2)
    low = "document.querySelector('.figure--reserve dd').textContent.endsWith(' low')"
    assert not visit.page.evaluate(low)
    visit.until(low)  # as it is heard
    script.server.send("response.output_audio.done", item_id=item)
    visit.until(f"!{low}")
    script.heard(item, "completed", "On Thursday. At nine.")
    visit.until("document.querySelector('.figure--reserve dd').textContent === '\u2013'")


def test_the_picture_names_what_disturbs_and_not_what_is_fine(visit: Visit, script: Script) -> None:
    visit.page.evaluate(NOTE_WORDS)
    item = script.reply(("One moment.", tone(2)))
    script.state("quiet", "speaking")
    now = script.server.heard_seconds * 1_000
    script.gap(item, {"hold": 640.0}, "comfortable", at_ms=now - 4_000)
    script.pause(item, 90, "micro", at_ms=now - 3_500)
    script.pause(item, 700, "fine", at_ms=now - 3_000, place="clause")
    script.pause(item, 420, "awkward", at_ms=now - 2_000)
    script.stop(item, 240, "good", at_ms=now)
    wanted = ["640 ms comfortable", "420 ms awkward", "stopped in 240 ms, good"]
    visit.until("wanted => wanted.every(words => window.written.has(words))", wanted)
    written = visit.page.evaluate("[...window.written]")
    assert {"Tokens", "Assistant", "You"} < set(written)
    assert not any(words.startswith(("90 ms", "700 ms")) for words in written)


def test_while_one_waits_the_gap_grows(visit: Visit, script: Script) -> None:
    visit.page.evaluate(NOTE_WORDS)
    script.state("speaking", "idle")
    script.state("paused", "idle")
    visit.until("window.written.has('0.1 s') && window.written.has('0.3 s')")


def test_each_turn_is_told_in_words_once(visit: Visit, script: Script) -> None:
    visit.page.evaluate(NOTE_SAID)
    item = script.reply(("On Thursday.", tone(0.2)))
    script.gap(item, {"hold": 640.0}, "comfortable")
    script.tokens(item, [(0, 1)], 0.93, "even")
    script.pause(item, 420, "awkward")
    script.heard(item, "interrupted", "On Thursday.", "On")
    script.stop(item, 240, "good")  # known a moment after the end
    script.heard(item, "interrupted", "On Thursday.", "On Thursday")  # a late report corrects it
    words = (
        "Pause before the answer 640 ms, comfortable. Tokens came evenly, 0.93. One pause of "
        "420 ms inside a phrase, awkward: the player had nothing to play. "
        "It stopped 240 ms after you began, good."
    )
    visit.until("words => window.said[0] === words", words)
    second = script.reply(("Yes.", tone(0.2)))
    script.pause(second, 500, "awkward", place="word", cause="authored")
    script.pause(second, 700, "severe", place="word", cause="authored")
    script.heard(second, "completed", "Yes.")
    visit.until("window.said.length === 2")
    visit.page.wait_for_timeout(800)
    longest = (
        "2 awkward pauses, the longest 700 ms inside a word, severe: it is in the voice itself."
    )
    assert visit.page.evaluate("window.said") == [words, longest]
    assert visit.page.locator("#rhythm-said").get_attribute("role") == "status"
    assert "ms" not in visit.page.locator("#log").inner_text()


def test_nothing_is_told_of_a_turn_of_which_nothing_is_known(visit: Visit, script: Script) -> None:
    item = script.reply(("Hello.", tone(0.1)))
    script.heard(item, "completed", "Hello.")
    visit.page.wait_for_timeout(900)
    assert visit.page.locator("#rhythm-said").text_content() == ""


def test_it_folds_stays_folded_and_then_draws_nothing(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url, ear=False).talk()
    rhythm = "document.querySelector('#rhythm').open"
    assert visit.page.evaluate(rhythm)
    visit.page.evaluate(COUNT_DRAWINGS)
    visit.until("window.drawings > 3")
    visit.page.locator("#rhythm summary").click()
    assert not visit.page.evaluate(rhythm)
    visit.page.evaluate("window.drawings = 0")
    server.send(
        "voiceagent.gap", item_id="a", gap_ms=300, measured=True, **{"class": "comfortable"}
    )
    visit.page.locator("#rhythm summary", has_text="300 ms comfortable").wait_for()
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate("window.drawings") == 0
    visit.page.reload()
    visit.open(server.url).talk()
    assert not visit.page.evaluate(rhythm)
    visit.page.locator("#rhythm summary").focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate(rhythm)
    assert visit.page.evaluate("localStorage.getItem('voiceagent.rhythm')") == "open"
    assert visit.complaints == []


def test_a_page_that_is_not_seen_draws_nothing(visit: Visit) -> None:
    visit.page.evaluate(COUNT_DRAWINGS)
    visit.until("window.drawings > 3")
    hide = "Object.defineProperty(document, 'hidden', { value: true, configurable: true })"
    visit.page.evaluate(f"{hide}; window.drawings = 0")
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate("window.drawings") == 0


@pytest.mark.parametrize(("motion", "least", "most"), [("no-preference", 6, 31), ("reduce", 2, 4)])
def test_how_often_it_is_drawn(
    page_for: Open, server: PageServer, motion: str, least: int, most: int
) -> None:
    visit = page_for(server.url, ear=False, reduced_motion=motion).talk()
    visit.page.evaluate(COUNT_DRAWINGS)
    count = """() => new Promise(done => { window.drawings = 0; const from = performance.now();
      setTimeout(() => done(window.drawings * 1000 / (performance.now() - from)), 2000); })"""
    assert least <= visit.page.evaluate(count) <= most


def test_with_less_motion_the_past_stands_still(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url, "zeros", reduced_motion="reduce").talk()
    edges = """async () => {
      const { StripDrawing } = await import("/web/strip-drawing.js");
      const drawing = new StripDrawing(document.createElement("canvas"));
      return [0, 4000, 8000, 8999, 9001, 12000].map(now => drawing.turnLeaf(now, 12000)); }"""
    assert visit.page.evaluate(edges) == [-3_000, -3_000, -3_000, -3_000, 6_001, 6_001]


def test_it_scrolls(visit: Visit) -> None:
    first = visit.page.evaluate(DRAWN)
    visit.until(f"({DRAWN})() !== {first}")


def test_on_a_phone_it_is_folded_and_open_it_fits(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url, viewport={"width": 390, "height": 844}, has_touch=True).talk()
    summary = visit.page.locator("#rhythm summary")
    assert not visit.page.evaluate("document.querySelector('#rhythm').open")
    script.user_said("When is my next visit, and who is coming?")
    item = script.reply(("On Thursday, Daniel Brooks.", tone(0.5)))
    script.gap(item, {"hold": 640.0}, "comfortable")
    script.tokens(item, [(0, 1)], 0.61, "uneven")
    visit.page.locator("#rhythm-brief", has_text="640 ms comfortable · uneven 0.61").wait_for()
    summary.tap()
    visit.page.locator("#strip").wait_for()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert visit.page.evaluate(wide) == 0
    boxes = [
        visit.page.locator(one).bounding_box()
        for one in ("#rhythm summary", "#strip", "#rhythm-figures", "#speaker", "#mute", "#compose")
    ]
    assert all(box is not None for box in boxes)
    places = [box for box in boxes if box is not None]
    assert places[0]["height"] >= 44
    for above, below in pairwise(places):
        assert above["y"] + above["height"] <= below["y"] + 1
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in places)

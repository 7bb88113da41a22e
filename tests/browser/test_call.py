"""Beginning and ending a call: the click, the microphone's audio, mute, typing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.browser.visit import SPEECH, Visit, read_wav
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import WIRE_RATE, PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]


def loud(pcm: np.ndarray) -> float:
    """Root mean square, 1.0 is full scale."""
    return float(np.sqrt(np.mean(np.square(pcm / 32_768)))) if len(pcm) else 0.0


def test_u02_context_runs_from_the_click_and_sounds_later(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    visit.page.wait_for_timeout(5_000)  # long after the gesture
    assert visit.page.evaluate("lab.context.state") == "running"
    assert visit.page.evaluate("lab.context.sampleRate") == WIRE_RATE
    item = script.reply(("Hello.", tone(0.5)))
    server.report("stopped", item_id=item)
    visit.page.wait_for_timeout(200)
    assert visit.recording().last_sound() > 5
    assert visit.complaints == []


def test_u02_without_a_gesture_the_page_asks_for_a_tap(page_for: Open, server: PageServer) -> None:
    # A click that the page makes by itself is no gesture; whatever looks into the page is one, so
    # nothing does until then.
    visit = page_for(None)
    press = "setTimeout(() => document.querySelector('#start').click(), 1500)"
    visit.page.add_init_script(f"addEventListener('load', () => {press})")
    visit.page.goto(server.url)
    visit.page.wait_for_timeout(3_500)
    visit.button("Tap to hear").click()
    visit.notice("audio-suspended").wait_for(state="detached")
    assert visit.page.evaluate("lab.context.state") == "running"


def test_microphone_is_asked_for_with_processing(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    asked = visit.page.evaluate("lab.constraints.audio")
    assert asked["echoCancellation"] is True
    assert asked["noiseSuppression"] is True
    assert asked["autoGainControl"] is True


def test_speech_reaches_the_server_as_it_was_said(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.wait(lambda: server.heard_seconds > 0.3)
    pcm, rate = read_wav(SPEECH / "goforward.wav")
    seconds = visit.say(pcm, rate)
    server.wait(lambda: server.heard_seconds > seconds + 1)
    assert {len(frame) for frame in server.heard} == {480}
    heard = np.concatenate(server.heard)
    # The loudness of each 50 ms, of what was said and of what came, at the best alignment.
    said, came = (
        np.sqrt([np.mean(part**2) for part in np.split(wave[: len(wave) // n * n], len(wave) // n)])
        for wave, n in ((pcm / 32_768, rate // 20), (heard / 32_768, WIRE_RATE // 20))
    )
    scores = np.correlate(came - came.mean(), said - said.mean(), "valid")
    assert scores.max() / (said.std() * came.std() * len(said)) > 0.9


def test_audio_is_sent_without_gaps(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.wait(lambda: server.heard_seconds > 0.2)
    before, at = server.heard_seconds, visit.audio_now()
    visit.page.wait_for_timeout(3_000)
    after, later = server.heard_seconds, visit.audio_now()
    assert after - before == pytest.approx(later - at, abs=0.15)


def test_mute_sends_zeros_and_time_goes_on(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    visit.button("Mute").click()
    assert visit.page.locator("#speaker").text_content() == "Your microphone is muted"
    visit.page.wait_for_timeout(300)
    begin = len(server.heard)
    visit.say_wav(SPEECH / "cards_001.wav")
    visit.page.wait_for_timeout(3_500)  # longer than the limit for a silent microphone
    muted = np.concatenate(server.heard[begin:])
    assert len(muted) / WIRE_RATE > 3
    assert not muted.any()
    assert visit.notice("mic-silent").count() == 0
    visit.button("Unmute").click()
    begin = len(server.heard)
    visit.say(tone(0.5), WIRE_RATE)
    server.wait(lambda: loud(np.concatenate(server.heard[begin:] or [tone(0)])) > 0.01)


def test_u07_pcm_worklet_needs_no_media_recorder(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url, "device", permissions=["microphone"])
    visit.page.add_init_script("delete window.MediaRecorder")
    visit.open(server.url).talk()
    server.wait(lambda: server.heard_seconds > 2)
    # Chromium's own fake device beeps once a second.
    assert loud(np.concatenate(server.heard)) > 0.001
    visit.button("End call").click()
    server.wait_for("simulation.closed")
    visit.button("Start talking").wait_for()


def test_typing_needs_no_microphone(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url)
    visit.type("When is my next visit?")
    created = server.wait_for("conversation.item.create")
    assert created["item"]["content"] == [{"type": "input_text", "text": "When is my next visit?"}]
    server.wait_for("response.create")
    assert visit.page.evaluate("lab.constraints") is None
    item = script.reply(("On Thursday.", tone(0.4)))
    assert server.report("stopped", item_id=item)["played_samples"] == len(tone(0.4))
    assert visit.turns() == ["When is my next visit?", "On Thursday."]
    assert server.heard == []
    assert server.queries[0]["greet"] == "0"  # a greeting would talk over the answer


def test_a_call_in_text_goes_on_by_voice(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url)
    visit.type("Hello")
    server.wait_for("response.create")
    visit.button("Use microphone").click()
    visit.button("Mute").wait_for()
    server.wait(lambda: server.heard_seconds > 0.3)
    visit.say(tone(0.3, 1_000), WIRE_RATE)
    server.wait(lambda: loud(np.concatenate(server.heard[-10:])) > 0.05)
    item = script.reply(("Now I hear you.", tone(0.3)))
    began = float(server.report("started", item_id=item)["input_ms"])
    assert began == pytest.approx(server.heard_seconds * 1_000, abs=600)  # not since the click
    assert len(server.protocols) == 1  # still the same call


def test_typing_over_the_voice_stops_it_first(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    visit.type("Stop, one more thing")
    server.wait_for("response.create")
    kinds = [event["type"] for event in server.events]
    assert kinds == ["response.cancel", "conversation.item.create", "response.create"]
    # The server's answer that nothing was being said is no trouble for the person.
    error = {"code": "response_cancel_not_active", "message": "There is no response to cancel."}
    server.send("error", error=error)
    visit.page.wait_for_timeout(200)
    assert visit.page.locator(".notice").count() == 0


def test_an_example_is_asked_by_a_click(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url)
    visit.button("Is my heat pump still under warranty?").click()
    server.wait_for("response.create")
    assert visit.turns("turn--user") == ["Is my heat pump still under warranty?"]


def test_second_call_works_after_the_first(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    script.user_said("First call.")
    visit.page.wait_for_selector(".turn--user[data-final=true]")
    visit.button("End call").click()
    server.wait_for("simulation.closed")
    assert visit.page.evaluate("lab.context.state") == "closed"
    sent = len(server.heard)
    visit.button("Talk again").click()
    visit.page.wait_for_selector("body[data-phase=live]")
    server.wait(lambda: len(server.heard) > sent + 20)
    item = script.reply(("Second call.", tone(0.3)))
    server.report("stopped", item_id=item)
    assert visit.turns() == ["First call.", "Second call."]
    assert visit.page.locator(".divider").text_content() == "New call"


def test_call_can_be_cancelled_while_the_prompt_is_open(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url)
    visit.page.evaluate("void (navigator.mediaDevices.getUserMedia = () => new Promise(() => {}))")
    visit.button("Start talking").click()
    visit.page.get_by_text("Your browser may ask to use the microphone").wait_for()
    visit.button("Cancel").click()
    visit.button("Start talking").wait_for()
    assert server.protocols == []

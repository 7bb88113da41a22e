"""Every trouble has a notice that helps, and a way on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import WIRE_RATE, PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]


def types_on(visit: Visit, server: PageServer, script: Script) -> None:
    """The conversation goes on in text, with the voice."""
    visit.type("Can you read this?")
    server.wait_for("response.create")
    item = script.reply(("I can.", tone(0.3)))
    played = server.report("stopped", item_id=item)["played_samples"]
    assert played == len(tone(0.3))
    assert visit.turns() == ["Can you read this?", "I can."]


def test_u03_insecure_address_has_no_microphone_but_text(
    page_for: Open, server: PageServer, script: Script
) -> None:
    # A real insecure origin: neither mediaDevices nor AudioWorklet exist there.
    url = f"http://insecure.test:{server.port}/"
    visit = page_for(url, "device", ear=False)
    assert visit.page.evaluate("[isSecureContext, 'audioWorklet' in AudioContext.prototype]") == [
        False,
        False,
    ]
    visit.button("Start talking").click()
    notice = visit.notice("insecure")
    notice.wait_for()
    assert f"http://localhost:{server.port}" in notice.inner_text()
    assert "https" in notice.inner_text()
    types_on(visit, server, script)


def test_u03_browser_without_media_devices(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url, "none")
    visit.button("Start talking").click()
    visit.notice("mic-unsupported").wait_for()
    types_on(visit, server, script)


def test_refused_by_the_browser_itself(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url, "device")  # nobody grants the permission
    visit.button("Start talking").click()
    visit.notice("mic-refused").wait_for()
    assert server.protocols == []
    visit.button("Type instead").click()
    assert visit.page.evaluate("document.activeElement.id") == "message"
    types_on(visit, server, script)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("NotAllowedError", "mic-refused"),
        ("NotFoundError", "mic-missing"),
        ("NotReadableError", "mic-busy"),
        ("TypeError", "mic-failed"),
    ],
)
def test_no_microphone(page_for: Open, server: PageServer, error: str, code: str) -> None:
    visit = page_for(server.url, error)
    visit.button("Start talking").click()
    visit.notice(code).wait_for()
    assert visit.button("Try again").is_visible()
    assert visit.button("Start talking").is_visible()


def test_u08_three_seconds_of_zeros(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url, "zeros").talk()
    visit.page.wait_for_timeout(2_000)
    assert visit.notice("mic-silent").count() == 0
    visit.notice("mic-silent").wait_for()
    assert "No sound from your microphone" in visit.notice("mic-silent").inner_text()
    assert not np.concatenate(server.heard).any()
    visit.say(tone(0.3), WIRE_RATE)
    visit.notice("mic-silent").wait_for(state="detached")


def test_u08_quiet_room_is_no_trouble(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    visit.page.wait_for_timeout(4_000)
    assert visit.page.locator(".notice").count() == 0


def test_microphone_lost_in_the_call(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    visit.page.evaluate("lab.mouth.stream.getTracks()[0].dispatchEvent(new Event('ended'))")
    visit.notice("mic-lost").wait_for()
    visit.button("Call anew").click()
    server.wait(lambda: len(server.protocols) == 2)
    visit.page.wait_for_selector("body[data-phase=live]")
    assert visit.page.locator(".notice").count() == 0


def test_warming_up_shows_its_parts_and_then_the_button(page_for: Open, server: PageServer) -> None:
    server.ready = False
    server.parts = {"recogniser": "loading", "voice": "warm", "turn model": "failed: no weights"}
    visit = page_for(server.url)
    assert not visit.button("Getting ready").is_enabled()
    rows = [" ".join(row.split()) for row in visit.page.locator(".part").all_inner_texts()]
    failed = "Knowing when you have finished failed: no weights"
    assert rows == ["Hearing words loading", "Voice ready", failed]
    visit.type("Hello?")
    visit.notice("warming").wait_for()
    assert visit.page.get_by_role("textbox").input_value() == "Hello?"
    server.ready = True
    visit.button("Start talking").wait_for()
    assert visit.page.locator(".notice").count() == 0
    assert not visit.page.locator("#readiness").is_visible()
    assert visit.page.locator("#connection").text_content() == "Ready"


def test_server_gone_in_the_call_and_back(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.stop()
    visit.notice("server-gone").wait_for()
    assert "The server does not answer" in visit.notice("server-gone").inner_text()
    again = PageServer(server.port).start()
    try:
        visit.button("Talk again").or_(visit.button("Start talking")).wait_for()
        visit.button("Connect again").click()
        visit.page.wait_for_selector("body[data-phase=live]")
        again.wait(lambda: again.heard_seconds > 0.3)
        assert visit.page.locator(".notice").count() == 0
    finally:
        again.stop()


def test_server_not_there_from_the_start(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url)
    server.stop()
    visit.button("Start talking").click()
    visit.notice("server-gone").wait_for()
    visit.button("Not connected").wait_for()
    assert visit.page.get_by_text("Trying to reach the server").is_visible()


def test_call_cut_by_the_server(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.close(1011)
    visit.notice("cut").wait_for()
    visit.button("Connect again").click()
    visit.page.wait_for_selector("body[data-phase=live]")


def test_server_hangs_up_as_agreed(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.close(1000)
    visit.button("Start talking").wait_for()
    assert visit.page.locator(".notice").count() == 0


def test_too_slow_a_listener(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.close(1013)
    visit.notice("slow").wait_for()


def test_full(page_for: Open, server: PageServer) -> None:
    server.full = True
    visit = page_for(server.url)
    visit.button("Start talking").click()
    visit.notice("full").wait_for()
    assert visit.page.locator(".notice").count() == 1
    assert "All lines are busy" in visit.notice("full").inner_text()
    server.full = False
    visit.button("Try again").click()
    visit.page.wait_for_selector("body[data-phase=live]")


def test_typed_message_is_kept_when_the_call_fails(page_for: Open, server: PageServer) -> None:
    server.full = True
    visit = page_for(server.url)
    visit.type("An important question")
    visit.notice("full").wait_for()
    assert visit.page.get_by_role("textbox").input_value() == "An important question"
    server.full = False
    visit.button("Try again").click()
    created = server.wait_for("conversation.item.create")
    assert created["item"]["content"][0]["text"] == "An important question"


@pytest.mark.parametrize("mark", ["#", "?"])
def test_n14_token_of_the_address_is_sent_and_taken_off(
    page_for: Open, server: PageServer, mark: str
) -> None:
    server.token = "s3cret"
    visit = page_for(f"{server.url}{mark}token=s3cret").talk()
    assert server.protocols == [["realtime", "openai-insecure-api-key.s3cret"]]
    assert visit.page.url == server.url
    assert "s3cret" not in visit.page.evaluate("document.documentElement.outerHTML")


@pytest.mark.parametrize(("given", "code"), [("", "token-needed"), ("#token=x", "token-wrong")])
def test_n14_token_missing_or_wrong(
    page_for: Open, server: PageServer, given: str, code: str
) -> None:
    server.token = "s3cret"
    visit = page_for(server.url + given)
    visit.button("Start talking").click()
    visit.notice(code).wait_for()
    assert visit.button("Try again").count() == 0


def test_notice_of_the_server_is_shown_in_its_words(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    message = "The voice failed; the answer is in text."
    server.send("voiceagent.notice", code="voice_failed", message=message)
    visit.notice("voice_failed").wait_for()
    assert message in visit.notice("voice_failed").inner_text()
    server.send("error", error={"type": "server_error", "code": "odd", "message": "Odd."})
    visit.notice("odd").wait_for()
    visit.notice("odd").get_by_role("button", name="Dismiss").click()
    assert visit.notice("odd").count() == 0


def test_nonsense_from_the_server_changes_nothing(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    server.send("voiceagent.unheard.of", item_id=None)
    server.raw("{not json")
    server.raw("[1, 2]")
    server.raw("null")
    item = script.reply(("Still here.", tone(0.2)))
    server.report("stopped", item_id=item)
    assert visit.complaints == []

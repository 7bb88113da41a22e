"""One visit to the page in a real Chromium: what it is told, plays, and complains of."""

from __future__ import annotations

import base64
import json
import time
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Route

HERE = Path(__file__).parent
SPEECH = HERE.parent / "speech"
FLAGS = [
    "--no-sandbox",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=document-user-activation-required",
    "--host-resolver-rules=MAP insecure.test 127.0.0.1",
    # A document that went through the test on its way (``_let_the_ear_in``) counts as a remote one.
    "--disable-features=LocalNetworkAccessChecks",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
]
"""The fake device is there, but nobody answers the permission prompt for the test."""


@dataclass(frozen=True)
class Recording:
    """What the ear heard: both channels as float32, on the page's audio clock."""

    rate: int
    first: int
    """The clock's frame of the first sample."""
    mic: NDArray[np.float32]
    out: NDArray[np.float32]

    def between(self, start: float, end: float) -> NDArray[np.float32]:
        """What was played between two moments (seconds) of the page's audio clock."""
        first, last = (max(0, int(at * self.rate) - self.first) for at in (start, end))
        return self.out[first:last]

    def last_sound(self, level: float = 1e-3) -> float:
        """When the page last played something louder than ``level`` (seconds of the clock)."""
        loud = np.flatnonzero(np.abs(self.out) > level)
        return float("-inf") if not len(loud) else (int(loud[-1]) + self.first) / self.rate

    def save(self, path: Path) -> None:
        """Write a stereo wav: the microphone on the left, the page on the right."""
        path.parent.mkdir(parents=True, exist_ok=True)
        both = (np.stack([self.mic, self.out], axis=1) * 32_767).astype("<i2")
        with wave.open(str(path), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(self.rate)
            file.writeframes(both.tobytes())


def read_wav(path: Path) -> tuple[NDArray[np.int16], int]:
    """A 16-bit mono wav and its rate."""
    with wave.open(str(path), "rb") as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            raise ValueError(f"{path.name} is not 16-bit mono")
        return np.frombuffer(file.readframes(file.getnframes()), "<i2"), file.getframerate()


def _let_the_ear_in(route: Route) -> None:
    """Worklets cannot be intercepted, so the ear comes as a blob, which the policy must allow."""
    response = route.fetch()
    policy = response.headers.get("content-security-policy", "")
    parts = [part.strip() for part in policy.split(";") if part.strip()]
    scripts = next((part for part in parts if part.startswith("script-src")), "script-src 'self'")
    rest = [part for part in parts if not part.startswith("script-src")]
    allowed = "; ".join([*rest, f"{scripts} blob:"])
    headers = {**response.headers, "content-security-policy": allowed}
    route.fulfill(response=response, headers=headers if policy else response.headers)


class Visit:
    """A page with a microphone and an ear.

    ``microphone``: ``room`` (a quiet room in which ``say`` speaks), ``zeros`` (exact silence),
    ``device`` (Chromium's own fake device, permission as the context has it), ``none`` (no
    ``mediaDevices``), or the name of the error with which it is refused. Without ``ear`` nothing is
    recorded, and the page runs under the server's content security policy to the letter. ``rate``:
    ``refused`` (the browser gives 44.1 kHz, whatever is asked for) or ``foreign microphone`` (it
    takes a microphone only at the device's own 48 kHz).
    """

    def __init__(
        self,
        context: BrowserContext,
        microphone: str = "room",
        *,
        ear: bool = True,
        rate: str | None = None,
    ) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        script = (HERE / "lab.js").read_text()
        code = (HERE / "ear-worklet.js").read_text() if ear else ""
        options = json.dumps({"microphone": microphone, "ear": code, "rate": rate})
        self.page.add_init_script(script.replace("__OPTIONS__", options))
        if ear:
            self.page.route(lambda url: urlsplit(url).path == "/", _let_the_ear_in)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    # --- acting --------------------------------------------------------------------------------

    def open(self, url: str) -> Visit:
        """Go to the page, and wait until it knows how the server is."""
        self.page.goto(url)
        known = "(id) => document.querySelector(id)"
        self.until(f"!({known})('#start').disabled || !({known})('#readiness').hidden")
        return self

    def talk(self) -> Visit:
        """Press the button, and wait until the call is there."""
        self.button("Start talking").click()
        self.page.wait_for_selector("body[data-phase=live]")
        return self

    def type(self, text: str) -> None:
        """Send a typed message."""
        self.page.get_by_role("textbox", name="Message").fill(text)
        self.page.keyboard.press("Enter")

    def say(self, pcm: NDArray[np.int16], rate: int) -> float:
        """Begin to say 16-bit samples into the microphone; returns how long it takes, seconds."""
        text = base64.b64encode(pcm.astype("<i2").tobytes()).decode()
        self.page.evaluate("([pcm, rate]) => lab.say(pcm, rate)", [text, rate])
        return len(pcm) / rate

    def say_wav(self, path: Path) -> float:
        """Begin to say a wav; returns how long it takes, seconds."""
        return self.say(*read_wav(path))

    def until(self, expression: str, arg: Any = None, timeout: float = 10.0) -> None:
        """Wait until the page finds this true (playwright's own wait needs ``unsafe-eval``)."""
        deadline = time.monotonic() + timeout
        while not self.page.evaluate(expression, arg):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}")
            self.page.wait_for_timeout(30)

    # --- seeing --------------------------------------------------------------------------------

    def button(self, name: str) -> Locator:
        """The button of exactly this name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def notice(self, code: str) -> Locator:
        """The notice of this trouble."""
        return self.page.locator(f".notice[data-code='{code}']")

    def turns(self, kind: str = "turn") -> list[str]:
        """The texts of the entries on the page: ``turn``, ``turn--user`` or ``turn--agent``."""
        return [
            " ".join(text.split())
            for text in self.page.locator(f".{kind} .turn__text").all_text_contents()
        ]

    def audio_now(self) -> float:
        """The page's audio clock, seconds."""
        return float(self.page.evaluate("lab.context.currentTime"))

    def marks(self, type: str) -> list[dict[str, Any]]:
        """When (``at``, seconds of the page's audio clock) events of this type came."""
        found: list[dict[str, Any]] = self.page.evaluate(
            "type => lab.marks.filter(mark => mark.type === type)", type
        )
        return found

    def recording(self) -> Recording:
        """What the ear has heard so far."""
        raw = self.page.evaluate("lab.recording()")
        pcm = np.frombuffer(base64.b64decode(raw["pcm"]), "<i2")
        samples = (pcm / 32_767).astype(np.float32)
        both: NDArray[np.float32] = samples.reshape(-1, 2)
        return Recording(int(raw["rate"]), int(raw["first"]), both[:, 0], both[:, 1])

    @property
    def recorded(self) -> bool:
        """Whether the ear heard anything at all."""
        return bool(self.page.evaluate("!!window.lab && lab.blocks.length > 0"))

    @property
    def violations(self) -> list[str]:
        """What the content security policy has stopped."""
        found: list[str] = self.page.evaluate("window.lab?.violations ?? []")
        return found

"""A real Chromium for the tests of the page, and the simulated server it talks to."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.visit import FLAGS, Visit
from tests.kit.page_conversation import Script
from tests.kit.page_server import PageServer

ARTEFACTS = Path(__file__).parents[2] / "artefacts"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One headless Chromium for all tests; each visit has its own context."""
    path = shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page_for(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visit]]:
    """``page_for(url, microphone="room", **more)``: an open page; without a url, not yet open.

    ``more`` goes to ``Visit`` (ear, rate) or to the browser's context (viewport, color_scheme, …).
    At the end its recording is kept under artefacts/, and nothing may have offended the content
    security policy.
    """
    visits: list[Visit] = []

    def visit(
        url: str | None,
        microphone: str = "room",
        *,
        ear: bool = True,
        rate: str | None = None,
        **options: Any,
    ) -> Visit:
        context = chromium.new_context(**options)
        visits.append(Visit(context, microphone, ear=ear, rate=rate))
        return visits[-1].open(url) if url else visits[-1]

    yield visit
    violations = []
    for number, each in enumerate(visits):
        violations += each.violations
        if each.recorded:
            each.recording().save(ARTEFACTS / "ear" / f"{request.node.name}_{number}.wav")
        each.page.context.close()
    assert violations == []


@pytest.fixture
def server() -> Iterator[PageServer]:
    """The simulated server, on a free port."""
    server = PageServer().start()
    yield server
    server.stop()


@pytest.fixture
def script(server: PageServer) -> Script:
    """Says a conversation through the simulated server."""
    return Script(server)

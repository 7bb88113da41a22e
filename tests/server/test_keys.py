"""Where a provider's key must never be: nothing that a client or a reader of logs gets holds it."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from routing.backend import Backend
from routing.candidate import Candidate
from routing.router import Router
from tests.kit.live_server import live_server
from tests.kit.provider_twin import KEY, Fault, ProviderTwin, error_in_stream, refuse, status

_PAGES = ("/", "/readyz", "/healthz", "/web/app.js")


@pytest.mark.parametrize("fault", [None, status(401), status(429), error_in_stream(3), refuse])
async def test_a_key_reaches_the_provider_and_nobody_else(
    fault: Fault | None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    told = []
    with caplog.at_level(logging.DEBUG):
        async with ProviderTwin("groq", fault=fault) as twin:
            backend = Backend(twin.backend_config(), now_us=Router.now_us)
            router = Router("interactive", [Candidate("groq", backend, assumed_first=300_000)])
            async with live_server(parts={"router": router}) as live:
                async with live.client("&extensions=voiceagent&greet=0") as client:
                    item = {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "When is my next visit?"}],
                    }
                    await client.send("conversation.item.create", item=item)
                    await client.send("response.create")
                    await client.wait_for("response.output_audio.delta")
                    told.append(json.dumps(client.events))
                async with httpx.AsyncClient(base_url=f"http://{live.address}") as http:
                    told += [(await http.get(path)).text for path in _PAGES]
            await backend.aclose()
            if fault is not refuse:
                assert KEY in str(twin.requests[0].headers)
    told.append(caplog.text)
    assert not [text for text in told if KEY in text]

"""How a backend fails, over a real socket: statuses, odd bodies, and no secret in any error."""

from __future__ import annotations

import asyncio

import pytest
from asked import ASK, KEY, answer, failure, failure_after, said, twin_and_backend

from routing.backend import BackendConfig
from routing.chunks import Chunk
from routing.errors import BackendError
from tests.kit import llm_script as script
from tests.kit.llm_script import (
    DONE,
    Cut,
    Hold,
    finish,
    reply,
    role,
    status,
)
from tests.kit.llm_twin import LlmTwin
from tests.kit.virtual_time import virtual


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (403, "auth", False),
        (404, "bad_request", False),
        (408, "timeout", True),
        (410, "bad_request", False),
        (429, "rate_limited", True),
        (498, "rate_limited", True),
        (500, "unavailable", True),
        (503, "unavailable", True),
        (529, "unavailable", True),
    ],
)
def test_status_codes(code: int, kind: str, retryable: bool) -> None:
    @virtual
    async def ask() -> None:
        async with twin_and_backend() as (twin, backend):
            error = await failure_after(twin, backend, status(code, "the reason"))
            assert (error.kind, error.retryable) == (kind, retryable)
            assert str(error) == error.message == f"twin: HTTP {code}: the reason"

    ask()


@virtual
async def test_l02_too_many_requests_says_when_to_come_back() -> None:
    async with twin_and_backend() as (twin, backend):
        error = await failure_after(twin, backend, status(429, "slow down", retry_after=30))
        assert (error.kind, error.retry_after_s) == ("rate_limited", 30)


@virtual
async def test_l04_an_error_status_is_raised_on_entering() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.will(status(500))
        with pytest.raises(BackendError):
            await backend.stream(ASK).__aenter__()


@virtual
async def test_nothing_is_retried() -> None:
    async with twin_and_backend() as (twin, backend):
        for steps in (status(500), status(429), status(503), [role(), Cut()], [role(), DONE]):
            asked = len(twin.requests)
            await failure_after(twin, backend, steps)
            assert len(twin.requests) == asked + 1
        assert backend.reconnects == 0


@virtual
async def test_redirects_are_not_followed() -> None:
    async with LlmTwin() as other, twin_and_backend(api_key=KEY) as (twin, backend):
        target = f"{other.url}/chat/completions"
        for code in (301, 302, 307, 308):
            error = await failure_after(twin, backend, reply(code, {}, location=target))
            assert error.kind == "bad_request"
        assert other.connections == 0


@virtual
async def test_pages_and_odd_bodies_are_no_answer() -> None:
    async with twin_and_backend() as (twin, backend):
        page = b"<html>Welcome to the proxy</html>"
        error = await failure_after(twin, backend, reply(200, page, content_type="text/html"))
        assert error.kind == "broken_stream"
        error = await failure_after(twin, backend, reply(502, page, content_type="text/html"))
        assert str(error) == "twin: HTTP 502"
        error = await failure_after(twin, backend, reply(200, {"error": {"message": "no luck"}}))
        assert (error.kind, str(error)) == ("in_stream", "twin: error in the stream: no luck")
        error = await failure_after(
            twin, backend, reply(200, b"\x1f\x8b\x08", content_encoding="gzip")
        )
        assert error.kind == "broken_stream"


@virtual
async def test_an_error_in_the_stream_comes_after_what_was_said() -> None:
    async with twin_and_backend() as (twin, backend):
        broken = script.event({"error": {"message": "out of memory", "code": 500}})
        twin.will([role(), script.text("So"), broken, script.text("never"), finish()])
        got: list[Chunk] = []
        error = await failure(backend, got)
        assert (error.kind, said(got)) == ("in_stream", "So")
        await twin.requests[0].disconnected.wait() if not twin.requests[
            0
        ].answered.is_set() else None


@virtual
async def test_an_answer_without_end_is_bounded() -> None:
    async with twin_and_backend() as (twin, backend):
        line = script.Send(b"data: " + b"x" * 1000)
        assert "too long" in str(await failure_after(twin, backend, [role(), *[line] * 1100]))
        huge = script.text("x" * 500_000)
        assert "too large" in str(await failure_after(twin, backend, [role(), *[huge] * 80]))


@virtual
async def test_a_huge_error_body_is_not_read_to_its_end() -> None:
    async with twin_and_backend() as (twin, backend):
        body = [script.Head(500), *[script.Send(b"x" * 60_000)] * 400]
        error = await failure_after(twin, backend, body)
        assert error.kind == "unavailable"
        await twin.requests[0].disconnected.wait()


@virtual
async def test_an_error_body_that_never_ends_is_not_waited_for() -> None:
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        begun = loop.time()
        error = await failure_after(twin, backend, [script.Head(503), script.Send(b"{"), Hold()])
        assert error.kind == "unavailable"
        assert loop.time() - begun <= 1


@virtual
async def test_nobody_listens() -> None:
    async with twin_and_backend() as (twin, backend):
        await twin.stop()
        error = await failure(backend)
        assert (error.kind, error.retryable) == ("refused", True)
        with pytest.raises(BackendError, match="twin: nothing accepts connections there"):
            await backend.check()
        await twin.start()
        assert said(await answer(backend)) == "Hello."


@virtual
async def test_no_error_shows_the_key_or_what_people_said() -> None:
    async with twin_and_backend(api_key=KEY) as (twin, backend):
        asked = ASK.messages[0]["content"]
        for steps in (
            status(401, f"Incorrect API key provided: {KEY}"),
            status(401, "x" * 285 + KEY),
            [script.event({"error": f"bad key {KEY}"})],
        ):
            error = await failure_after(twin, backend, steps)
            assert "sk-v" not in str(error)
        for steps in (status(400, f"can not read: {asked}"), [script.event({"error": asked})]):
            error = await failure_after(twin, backend, steps)
            assert "boiler" not in str(error)
            assert "\n" not in str(error)
        assert KEY not in repr(backend.config)
        assert error.__cause__ is error.__context__ is None


@pytest.mark.parametrize("key", ["", "a\nb", "schlüssel", "a\r\nHost: x"])
def test_keys_that_could_not_be_sent(key: str) -> None:
    with pytest.raises(ValueError, match="key") as caught:
        BackendConfig(name="n", url="http://127.0.0.1/v1", model="m", api_key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("url", ["", "ftp://x", "127.0.0.1:80", "http://", "http://me:pw@host/v1"])
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        BackendConfig(name="n", url=url, model="m")

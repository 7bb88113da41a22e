"""A backend over a real socket, on a virtual clock: answers, errors, and hanging up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from asked import ASK, answer, said

from routing.backend import Backend, BackendConfig
from routing.chunks import Chunk, Finished, TextDelta, UsageReported
from routing.errors import BackendError
from routing.messages import ChatRequest
from tests.kit import llm_script as script
from tests.kit.llm_script import (
    DONE,
    Cut,
    Hold,
    IgnoreClose,
    Wait,
    finish,
    reply,
    role,
    say,
    status,
)
from tests.kit.llm_twin import LlmTwin
from tests.kit.virtual_time import virtual

KEY = "sk-very-secret-key"


@asynccontextmanager
async def twin_and_backend(**changes: Any) -> AsyncIterator[tuple[LlmTwin, Backend]]:
    async with LlmTwin() as twin:
        backend = Backend(twin.config(**changes))
        try:
            yield twin, backend
        finally:
            await backend.aclose()


async def failure(backend: Backend, got: list[Chunk] | None = None) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await answer(backend, got)
    return caught.value


@virtual
async def test_an_answer_and_what_was_asked() -> None:
    async with twin_and_backend(api_key=KEY, extra_body={"cache_prompt": True}) as (twin, backend):
        twin.will(say("Next Tuesday at four.", first=0.3, every=0.05))
        chunks = await answer(backend)
        assert said(chunks) == "Next Tuesday at four."
        assert [type(c) for c in chunks[-2:]] == [Finished, UsageReported]
        seen = twin.requests[0]
        assert seen.body["messages"] == list(ASK.messages)
        assert seen.body["cache_prompt"] is True
        assert seen.headers["authorization"] == f"Bearer {KEY}"


@virtual
async def test_chunks_are_stamped_on_arrival() -> None:
    loop = asyncio.get_running_loop()
    async with LlmTwin() as twin:
        backend = Backend(twin.config(), now_us=lambda: round(loop.time() * 1e6))
        twin.will(say("one two", every=0.25))
        begun = round(loop.time() * 1e6)
        times = [c.at_us - begun for c in await answer(backend) if isinstance(c, TextDelta)]
        assert times == [250_000, 500_000]
        await backend.aclose()


@virtual
async def test_l09_no_token_then_stop_is_an_end_without_text() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.will([role(), finish(), DONE])
        (only,) = await answer(backend)
        assert isinstance(only, Finished)


@virtual
async def test_l01a_cut_in_the_middle() -> None:
    async with twin_and_backend() as (twin, backend):
        for reset in (False, True):
            twin.will([role(), *script.words("forty words"), Wait(1), Cut(reset)])
            got: list[Chunk] = []
            error = await failure(backend, got)
            assert said(got) == "forty words"
            assert (error.kind, error.retryable) == ("broken_stream", True)
        error = await failure_after(twin, backend, [role(), script.text("a"), DONE])
        assert error.kind == "broken_stream"


async def failure_after(twin: LlmTwin, backend: Backend, steps: script.Script) -> BackendError:
    twin.will(steps)
    return await failure(backend)


@virtual
async def test_l01b_standing_still_is_a_timeout_that_keepalives_do_not_renew() -> None:
    loop = asyncio.get_running_loop()
    empty = [Wait(0.4), script.PING, Wait(0.4), role(), Wait(0.4), script.delta(reasoning="hm")]
    async with twin_and_backend(first_content_s=3, between_chunks_s=2) as (twin, backend):
        for first, bound in (([], 3), ([script.text("a"), Wait(1.9), script.text("b")], 3.9)):
            twin.will([*first, *empty * 9])
            begun = loop.time()
            error = await failure(backend)
            assert (error.kind, error.retryable) == ("timeout", True)
            assert loop.time() - begun == pytest.approx(bound)


@virtual
async def test_no_head_within_the_bound_is_a_timeout() -> None:
    async with twin_and_backend(first_content_s=3) as (twin, backend):
        assert (await failure_after(twin, backend, [Hold()])).kind == "timeout"


@virtual
async def test_a_busy_reader_does_not_count_against_the_server() -> None:
    async with twin_and_backend(first_content_s=1, between_chunks_s=1) as (twin, backend):
        twin.will(say("one two three", every=0.5))
        got: list[Chunk] = []
        async with backend.stream(ASK) as chunks:
            async for chunk in chunks:
                got.append(chunk)
                await asyncio.sleep(5)
        assert said(got) == "one two three"


@virtual
async def test_l05_the_next_request_works_after_each_failure() -> None:
    async with twin_and_backend(first_content_s=1, between_chunks_s=1) as (twin, backend):
        stuck = [role(), *script.words("a b c d e"), Hold()]
        for steps in (stuck, [Hold()], [role(), Cut()], status(500)):
            await failure_after(twin, backend, steps)
            assert said(await answer(backend)) == "Hello."


@virtual
async def test_an_answer_is_whole_with_its_finish_reason() -> None:
    """Neither the usage nor the end are waited for long."""
    loop = asyncio.get_running_loop()
    async with twin_and_backend(tail_s=0.3) as (twin, backend):
        for end in ([Hold()], [Cut()], [Cut(reset=True)]):
            twin.will([role(), script.text("All of it."), finish(), *end])
            begun = loop.time()
            assert said(await answer(backend)) == "All of it."
            assert loop.time() - begun <= 0.31


# --- hanging up ---


@virtual
async def test_l11_leaving_closes_the_connection_at_once() -> None:
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        twin.will(say(" ".join(["word"] * 500), every=0.02))
        async with backend.stream(ASK) as chunks:
            for _ in range(10):
                await anext(chunks)
        left = loop.time()
        await twin.requests[0].disconnected.wait()
        assert loop.time() - left <= 0.1
        assert twin.log.count("disconnected 0") == 1
        assert len([line for line in twin.log if line.startswith("sent 0")]) <= 12
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)


@virtual
async def test_l11_cancelling_closes_the_connection_at_once() -> None:
    """Before the head, before the first token, and in the middle."""
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        starts = ([], [role()], [role(), *script.words("and now")])
        for number, before in enumerate(starts):
            twin.will([*before, Hold(str(number)), script.text("never")])
            got: list[Chunk] = []
            asking = asyncio.create_task(answer(backend, got))
            await twin.reached(str(number))
            await asyncio.sleep(0.01)
            left = loop.time()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert loop.time() == left
            await twin.requests[number].disconnected.wait()
            assert loop.time() - left <= 0.1
            assert said(got) == ("and now" if number == 2 else "")
        assert said(await answer(backend)) == "Hello."


@virtual
async def test_l12_a_peer_that_ignores_the_close_holds_nobody_up() -> None:
    loop = asyncio.get_running_loop()
    async with twin_and_backend() as (twin, backend):
        for number, first in enumerate(([IgnoreClose()], [IgnoreClose(), role()])):
            twin.will([*first, Hold(str(number)), Wait(10)])
            asking = asyncio.create_task(answer(backend))
            await twin.reached(str(number))
            await asyncio.sleep(0.01)
            left = loop.time()
            asking.cancel()
            await asyncio.wait({asking})
            assert loop.time() == left
            assert said(await answer(backend)) == "Hello."
            assert loop.time() - left < 0.5
        left = loop.time()
        await backend.aclose()
        assert loop.time() - left < 0.5


@virtual
async def test_a_backend_that_is_closed_says_so() -> None:
    async with twin_and_backend() as (_, backend):
        await backend.aclose()
        error = await failure(backend)
        assert (error.kind, error.retryable) == ("unavailable", False)


# --- errors ---


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


# --- secrets ---


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


# --- connections ---


def test_connections_are_kept_for_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    @virtual
    async def ask() -> None:
        clock = SimpleNamespace(monotonic=asyncio.get_running_loop().time)
        monkeypatch.setattr("httpcore._async.http11.time", clock)
        async with twin_and_backend() as (twin, backend):
            for pause in (0.1, 6, 290, 310):
                await answer(backend)
                await asyncio.sleep(pause)
            await answer(backend)
            assert [r.connection for r in twin.requests] == [0, 0, 0, 0, 1]
            assert backend.reconnects == 0

    ask()


async def keep_a_connection(backend: Backend) -> None:
    await answer(backend)
    await asyncio.sleep(1)


@virtual
async def test_a_kept_connection_that_died_is_replaced_once_and_counted() -> None:
    async with twin_and_backend() as (twin, backend):
        for number, reset in enumerate((False, True), 1):
            await keep_a_connection(backend)
            twin.will([Cut(reset)])  # before anything was received
            assert said(await answer(backend)) == "Hello."
            assert backend.reconnects == number
        await keep_a_connection(backend)
        twin.will([Cut()], [Cut()])
        assert (await failure(backend)).kind == "broken_stream"
        assert backend.reconnects == 3


@virtual
async def test_a_new_connection_that_dies_is_not_replaced() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.will([Cut()])
        assert (await failure(backend)).kind == "broken_stream"
        assert (len(twin.requests), backend.reconnects) == (1, 0)


@virtual
async def test_a_kept_connection_that_died_after_its_head_is_not_replaced() -> None:
    async with twin_and_backend() as (twin, backend):
        await keep_a_connection(backend)
        twin.will([script.Head(), role(), Cut()])
        assert (await failure(backend)).kind == "broken_stream"
        assert backend.reconnects == 0


@virtual
async def test_the_server_was_started_again() -> None:
    async with twin_and_backend() as (twin, backend):
        await keep_a_connection(backend)
        await twin.stop()
        await twin.start()
        assert said(await answer(backend)) == "Hello."


@virtual
async def test_a_connection_for_each_request_where_none_are_kept() -> None:
    async with twin_and_backend(keep_alive_s=0) as (twin, backend):
        for number in range(3):
            await answer(backend)
            assert twin.requests[number].headers["connection"] == "close"
        assert [r.connection for r in twin.requests] == [0, 1, 2]


@virtual
async def test_connections_are_bounded() -> None:
    async with twin_and_backend(max_connections=2, connect_s=1) as (twin, backend):
        twin.always([role(), Hold()])
        asking = [asyncio.create_task(failure(backend)) for _ in range(3)]
        done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().kind for task in done] == ["unavailable"]
        assert len(twin.requests) == 2
        await asyncio.wait(asking)


@virtual
async def test_cookies_are_not_kept() -> None:
    async with twin_and_backend() as (twin, backend):
        head = script.Head(
            headers=(("Set-Cookie", "who=first"), ("Content-Type", "text/event-stream"))
        )
        twin.will([head, *say("a")])
        await answer(backend)
        await answer(backend)
        assert "cookie" not in twin.requests[1].headers


@virtual
async def test_two_answers_at_once_do_not_mix() -> None:
    async with twin_and_backend() as (twin, backend):
        twin.always(lambda body: say(body["messages"][0]["content"] * 5, every=0.01))

        async def ask(word: str) -> str:
            request = ChatRequest(messages=({"role": "user", "content": f" {word}"},))
            async with backend.stream(request) as chunks:
                return said([chunk async for chunk in chunks])

        names = ["red", "green", "blue", "black"]
        assert await asyncio.gather(*map(ask, names)) == [f" {name}" * 5 for name in names]


# --- reading ahead, and checking ---


@virtual
async def test_prefill_asks_for_one_token() -> None:
    async with twin_and_backend(prefill_s=60, first_content_s=1) as (twin, backend):
        twin.will(say("Hm", first=30))
        await backend.prefill(ASK.messages)
        assert twin.requests[0].body["max_tokens"] == 1
        assert twin.requests[0].body["messages"] == list(ASK.messages)


@virtual
async def test_prefill_is_nothing_for_a_backend_without_it() -> None:
    async with twin_and_backend() as (twin, backend):
        await backend.prefill(ASK.messages)
        assert twin.connections == 0


@virtual
async def test_check() -> None:
    async with twin_and_backend() as (twin, backend):
        await backend.check()
        assert twin.paths == ["/v1/models"]


def test_check_tells_a_wrong_key() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    @virtual
    async def check() -> None:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        config = BackendConfig(name="n", url=f"http://127.0.0.1:{port}", model="m", api_key="wrong")
        backend = Backend(config)
        with pytest.raises(BackendError, match="n: HTTP 401") as caught:
            await backend.check()
        assert caught.value.kind == "auth"
        await backend.aclose()
        server.close()

    check()


@virtual
async def test_the_url_can_change() -> None:
    async with LlmTwin() as first, LlmTwin() as second:
        urls = [first.url]
        backend = Backend(first.config(url=lambda: urls[0]))
        await answer(backend)
        urls[0] = second.url + "/"
        await answer(backend)
        assert (len(first.requests), len(second.requests)) == (1, 1)
        await backend.aclose()


def test_only_this_machine_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    from routing.connections import _new_client

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    for url, proxied in (("http://127.0.0.1:8000/v1", False), ("http://model.example/v1", True)):
        client = _new_client(BackendConfig(name="n", url=url, model="m"), True)
        assert isinstance(client, httpx.AsyncClient)
        assert client.trust_env is proxied

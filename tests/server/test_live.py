"""The real server, sockets and sessions with scripted models: faults stay where they are made."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import logging
import random
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from socket import SO_LINGER, SO_RCVBUF, SOL_SOCKET, create_connection
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as connect_in_thread

from audio.transcribe import Transcript
from tests.kit.live_server import HZ, Client, Live, live_server
from tests.kit.scripted import clip

LONG = "This answer is long, and it goes on, and on, and on, until somebody has had enough of it."


async def refused(live: Live, query: str = "", **options: Any) -> int:
    url = f"ws://{live.address}/v1/realtime?model=voiceagent{query}"
    with pytest.raises(InvalidStatus) as caught:
        async with connect(url, **options):
            pass
    body = json.loads(caught.value.response.body or b"{}")
    assert body["error"]["message"]
    return caught.value.response.status_code


async def test_n14_refused_before_it_is_accepted_and_no_session_is_made() -> None:
    made: list[object] = []

    def never(connection: object, greet: bool) -> Any:
        made.append(connection)
        raise AssertionError("a session was made")

    async with live_server(new_session=never, token="right") as live:
        assert await refused(live, origin="http://evil.example") == 403
        assert await refused(live) == 401
        assert await refused(live, "&token=wrong") == 401
        assert await refused(live, additional_headers={"Authorization": "Bearer wrong"}) == 401
        assert await refused(live, subprotocols=["realtime", "openai-insecure-api-key.no"]) == 401
        assert await refused(live, "&token=right&intent=transcription") == 400
        assert not made
        assert live.endpoint.sessions == 0


async def test_the_token_lets_in_and_realtime_is_echoed_only_if_offered() -> None:
    async with live_server(token="right") as live:
        offered = ["realtime", "openai-insecure-api-key.right"]
        async with live.client(subprotocols=offered) as client:
            await client.wait_for("session.created")
            assert client.socket.subprotocol == "realtime"
        async with live.client("&token=right", origin=f"http://{live.address}") as client:
            await client.wait_for("session.created")
            assert client.socket.subprotocol is None


async def test_the_session_limit_is_told_and_a_slot_is_free_again_at_once() -> None:
    async with live_server(max_sessions=1) as live:
        async with live.client() as first:
            await first.wait_for("session.created")
            async with live.client() as second:
                error = await second.wait_for("error")
                assert error["error"]["code"] == "too_many_sessions"
                assert "1 sessions are in use" in error["error"]["message"]
                assert await second.wait_closed() == 1013
                assert "session.created" not in second.types()
        await live.until_empty()
        async with live.client() as third:
            await third.wait_for("session.created")


async def test_d04_no_session_before_the_models_are_warm() -> None:
    async with live_server(ready=False) as live:
        async with live.client() as client:
            error = await client.wait_for("error")
            assert error["error"]["code"] == "warming_up"
            assert await client.wait_closed() == 1013
        live.engine.ready = True
        async with live.client() as client:
            await client.wait_for("session.created")


async def test_clients_with_the_extensions_are_greeted_and_stock_clients_are_not() -> None:
    async with live_server() as live:
        async with live.client("&extensions=voiceagent") as ours, live.client() as stock:
            await ours.wait_for("response.created")
            assert "voiceagent.state" in ours.types()
            await stock.send("session.update", session={})
            await stock.wait_for("session.updated")
            assert stock.types() == ["session.created", "session.updated"]
        async with live.client("&extensions=voiceagent&greet=0") as quiet:
            await quiet.send("session.update", session={})
            await quiet.wait_for("session.updated")
            assert "response.created" not in quiet.types()


class Neighbour:
    """A second session that is talking while the first misbehaves."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def begin(self) -> None:
        await self.client.send("response.create")
        await self.client.wait_for("response.output_audio.delta")

    async def undisturbed(self) -> None:
        done = await self.client.wait_for("response.done")
        assert done["response"]["status"] == "completed"
        assert not self.client.of("error")
        assert self.client.closed is None


GARBAGE: list[str | bytes] = [
    "x" * 2**21,
    json.dumps({"type": "response.create", "metadata": "m" * 2**20}),
    random.Random(6).randbytes(10**6),
]


async def test_n06_too_large_ends_that_session_with_1009_and_no_other() -> None:
    async with live_server() as live, live.client() as other:
        neighbour = Neighbour(other)
        await neighbour.begin()

        async def misbehave(garbage: str | bytes) -> int:
            async with live.client() as bad:
                await bad.wait_for("session.created")
                await bad.socket.send(garbage)
                return await bad.wait_closed()

        codes = await asyncio.gather(*(misbehave(garbage) for garbage in GARBAGE))
        # The close frame may be lost when the server cuts a peer that is still sending.
        assert set(codes) <= {1009, 1006}
        await neighbour.undisturbed()


async def test_n06_a_megabyte_of_garbage_in_small_messages_is_errors_for_that_session() -> None:
    dice = random.Random(6)
    async with live_server() as live, live.client() as other, live.client() as bad:
        neighbour = Neighbour(other)
        await neighbour.begin()
        for _ in range(1_000):
            await bad.socket.send(dice.randbytes(1_000))
        await bad.wait_for("error", nth=1_000)
        assert {event["error"]["code"] for event in bad.of("error")} == {"invalid_json"}
        await bad.send("session.update", session={})  # and the session goes on
        await bad.wait_for("session.updated")
        await neighbour.undisturbed()


def malformed(dice: random.Random) -> str:
    """An event of a real type with something wrong in it, or something right in the wrong place."""
    kinds = [
        "session.update",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
        "input_audio_buffer.clear",
        "conversation.item.create",
        "conversation.item.delete",
        "conversation.item.retrieve",
        "conversation.item.truncate",
        "response.create",
        "response.cancel",
        "output_audio_buffer.clear",
        "voiceagent.playout.report",
        "nonsense",
    ]
    values: list[Any] = [
        None,
        True,
        -1,
        1e300,
        "",
        "x" * 300,
        [],
        [[]],
        {},
        {"type": "message"},
        "item_1",
    ]
    fields = ["session", "audio", "item", "item_id", "audio_end_ms", "response", "kind", "event_id"]
    chosen = dice.sample(fields, dice.randint(0, 4))
    event = {"type": dice.choice(kinds), **{name: dice.choice(values) for name in chosen}}
    text = json.dumps(event)
    return text[: dice.randrange(len(text))] if dice.random() < 0.2 else text


async def test_thousands_of_malformed_events_leave_another_session_undisturbed() -> None:
    dice = random.Random(14)
    async with (
        live_server(answers=[[(0.02, "Long enough for it.")]]) as live,
        live.client() as other,
        live.client("&extensions=voiceagent&greet=0") as bad,
    ):
        neighbour = Neighbour(other)
        await neighbour.begin()
        for _ in range(2_000):
            await bad.socket.send(malformed(dice))
        await bad.send("conversation.item.retrieve", item_id="last", event_id="last one")
        await bad.wait_until(
            lambda: any(event["error"]["event_id"] == "last one" for event in bad.of("error")[-9:])
        )
        assert len(bad.of("error")) > 1_000
        await neighbour.undisturbed()


async def hang_up(live: Live, how: str) -> None:
    """Leave in the middle of an answer."""
    async with live.client() as client:
        await client.send("response.create")
        await client.wait_for("response.output_audio.delta", nth=3)
        if how == "reset":
            raw = client.socket.transport.get_extra_info("socket")
            raw.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        if how in ("reset", "cut"):
            client.socket.transport.abort()
        else:
            await client.socket.close()
        await live.until_empty(within=1.0)


@pytest.mark.parametrize("how", ["closed", "cut", "reset"])
async def test_c08_n02_s10_gone_in_mid_answer_ends_everything_within_a_second(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    answers = [[(0.02, LONG), (20.0, "more")]]
    async with live_server(answers=answers) as live:
        before = len(asyncio.all_tasks())
        with caplog.at_level(logging.INFO):
            await hang_up(live, how)
        assert live.model.open_streams == 0
        assert live.model.cancelled == 1
        assert len(caplog.records) == 1
        assert "Traceback" not in caplog.text
        async with live.client() as second:  # the server goes on
            await second.wait_for("session.created")
            await second.socket.close()
            await live.until_empty()
        async with asyncio.timeout(1):
            while len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(0.01)


async def test_n03_a_peer_that_reads_nothing_does_not_hold_its_session() -> None:
    async with live_server(answers=[[(0.02, LONG)]]) as live:
        raw = create_connection(("127.0.0.1", live.port))
        raw.setsockopt(SOL_SOCKET, SO_RCVBUF, 4_096)
        raw.sendall(
            b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        async with asyncio.timeout(2):
            while live.endpoint.sessions == 0:  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(0.01)
        (protocol,) = live.server.server_state.connections
        (task,) = live.server.server_state.tasks
        # Fill every buffer between the two, as a long answer to a dead peer would.
        transport = protocol.transport
        while transport.get_write_buffer_size() < 2**20:
            transport.write(b"\0" * 2**20)
        protocol.shutdown()
        await live.until_empty(within=1.0)
        async with asyncio.timeout(2):
            await asyncio.wait({task})
            while live.server.server_state.connections:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        raw.close()


async def test_c02_c06_many_calls_leave_nothing_behind(caplog: pytest.LogCaptureFixture) -> None:
    async with live_server() as live:
        asyncio.get_running_loop().set_debug(True)
        before = len(asyncio.all_tasks())
        for _ in range(20):
            async with live.client() as client:
                await client.send("response.create")
                await client.wait_for("response.created")
            await live.until_empty()
        async with asyncio.timeout(2):
            while len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(0.01)
        assert not live.server.server_state.connections
        gc.collect()
        assert "was destroyed but it is pending" not in caplog.text
        assert "never retrieved" not in caplog.text


class BusyRecogniser:
    """Works for longer than a ping may take, in an executor of its own (a simulation)."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)

    async def transcribe(
        self, pcm: NDArray[np.float32], *, final: bool, prompt: str | None = None
    ) -> Transcript:
        await asyncio.get_running_loop().run_in_executor(self.pool, self._burn)
        return Transcript("what is my balance", 0.0, 0.0, None, len(pcm) // 16, 0)

    @staticmethod
    def _burn() -> None:
        until = time.thread_time() + 0.8
        while time.thread_time() < until:
            sum(range(1_000))


def impatient_client(address: str) -> list[str]:
    """A client in a thread that gives up a server which is silent for 0.4 s; what it was told."""
    told: list[str] = []
    url = f"ws://{address}/v1/realtime?model=voiceagent"
    silence = base64.b64encode(bytes(4_800)).decode()
    manual = {"audio": {"input": {"turn_detection": None}}}
    with connect_in_thread(url, ping_interval=0.05, ping_timeout=0.4) as socket:
        for event in (
            {"type": "session.update", "session": manual},
            {"type": "input_audio_buffer.append", "audio": silence},
            {"type": "input_audio_buffer.commit"},
        ):
            socket.send(json.dumps(event))
        while not told or told[-1] != "conversation.item.done":
            told.append(json.loads(socket.recv(timeout=20))["type"])
    return told


async def test_n05_hard_work_does_not_cost_the_connection() -> None:
    busy = BusyRecogniser()
    async with live_server(parts={"recogniser": busy}) as live:
        told = await asyncio.to_thread(impatient_client, live.address)
        assert told[-1] == "conversation.item.done"
    busy.pool.shutdown()


async def test_two_clients_share_nothing() -> None:
    async with live_server() as live, live.client() as one, live.client() as two:
        for client, words in ((one, "alpha"), (two, "beta")):
            content = [{"type": "input_text", "text": words}]
            item = {"id": "mine", "type": "message", "role": "user", "content": content}
            await client.send("conversation.item.create", item=item)
            await client.wait_for("conversation.item.done")
        for client, words in ((one, "alpha"), (two, "beta")):
            await client.send("conversation.item.retrieve", item_id="mine")
            retrieved = await client.wait_for("conversation.item.retrieved")
            assert retrieved["item"]["content"][0]["text"] == words


async def test_the_extensions_tell_a_whole_turn_and_nothing_said_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        await a_whole_turn("&token=t0ken&extensions=voiceagent&greet=0")
    assert caplog.records
    for private in ("balance", "Yes", "t0ken"):
        assert private not in caplog.text


async def a_whole_turn(query: str) -> None:
    async with live_server(token="t0ken") as live, live.client(query) as client:
        await client.hear(clip("cards_001.wav"))
        speaking = asyncio.create_task(client.quiet(4))
        clause = await client.wait_for("voiceagent.clause")
        item = clause["item_id"]
        spoken_until = len(clip("cards_001.wav")) * 1_000 / HZ

        async def report(kind: str, samples: int, at: float) -> None:
            fields = {"item_id": item, "played_samples": samples, "input_ms": at, "kind": kind}
            await client.send("voiceagent.playout.report", **fields)

        await report("started", 0, spoken_until + 400)
        gap = await client.wait_for("voiceagent.gap")
        assert gap["measured"] is True
        assert sum(part["ms"] for part in gap["parts"]) == pytest.approx(gap["gap_ms"])
        total = clause["first_sample"] + clause["samples"]
        await report("playing", total, spoken_until + 900)
        heard = await client.wait_for("voiceagent.heard")
        assert (heard["status"], heard["heard"]) == ("completed", "Yes.")
        speaking.cancel()
        kinds = client.types()
        assert "voiceagent.transcript.partial" in kinds
        states = [(event["user"], event["agent"]) for event in client.of("voiceagent.state")]
        assert states[0] == ("speaking", "idle")
        assert states[-1] == ("quiet", "idle")

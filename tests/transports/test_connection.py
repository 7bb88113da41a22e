"""One connection with a simulated socket and session: its end comes once, in time, and quietly."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.kit.virtual_time import VirtualLoop, virtual
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.listener_clock import ListenerClock
from voiceagent.transports.websocket import Connection

DISCONNECT = {"type": "websocket.disconnect", "code": 1001}


class Socket:
    """An accepted WebSocket (a simulation): ``arrive`` is what the peer sends."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.closed: list[tuple[int, str]] = []
        self.send_error: Exception | None = None
        self.hangs = False

    def arrive(self, **event: Any) -> None:
        self.incoming.put_nowait({"type": "websocket.receive", "text": json.dumps(event)})

    async def receive(self) -> dict[str, Any]:
        message = await self.incoming.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def send_text(self, text: str) -> None:
        if self.hangs:
            await asyncio.sleep(3_600)
        if self.send_error:
            raise self.send_error
        self.sent.append(json.loads(text))

    async def close(self, code: int, reason: str) -> None:
        if self.hangs:
            await asyncio.sleep(3_600)
        self.closed.append((code, reason))


class IdleSession:
    """A session that does as a test says (a simulation)."""

    id = "sess_test"

    def __init__(self, client: Connection) -> None:
        self.client, self.clock = client, ListenerClock()
        self.closed = 0
        self.stubborn = False
        self.ended = asyncio.Event()
        self.posted: list[ev.Event] = []
        self.heard = 0

    async def run(self) -> None:
        try:
            await self.ended.wait()
        except asyncio.CancelledError:
            if self.stubborn:  # a library that swallows its cancellation
                await asyncio.sleep(3_600)
            raise

    def close(self) -> None:
        self.closed += 1
        if not self.stubborn:
            self.ended.set()

    def now_us(self) -> int:
        return int(asyncio.get_running_loop().time() * 1e6)

    def hear(self, pcm: NDArray[np.int16]) -> None:
        self.heard += len(pcm)

    def post(self, event: ev.Event) -> None:
        self.posted.append(event)

    def set_manual(self, manual: bool) -> None: ...

    def commit_input(self) -> bool:
        raise RuntimeError("a fault of ours")

    def clear_input(self) -> None: ...

    def playout_report(self, *report: object) -> None: ...

    def clock_answered(self, number: int, input_ms: float) -> None: ...

    def item(self, item_id: str) -> dict[str, Any] | None:
        return None


class Line:
    """A running connection."""

    def __init__(self, *, extensions: bool = True) -> None:
        self.socket = Socket()
        self.connection = Connection(self.socket, extensions=extensions)  # type: ignore[arg-type]
        self.sessions: list[IdleSession] = []
        self.running = asyncio.create_task(self.connection.run(self._new))

    def _new(self, connection: Connection) -> IdleSession:
        self.sessions.append(IdleSession(connection))
        return self.sessions[-1]

    @property
    def session(self) -> IdleSession:
        return self.sessions[0]

    async def started(self) -> Line:
        await asyncio.sleep(0.01)
        assert self.socket.sent[0]["type"] == "session.created"
        return self

    async def ended(self, within: float) -> None:
        begun = asyncio.get_running_loop().time()
        await self.running
        assert asyncio.get_running_loop().time() - begun <= within

    def speak(self, frames: int) -> None:
        """As a session that speaks: 80 ms each."""
        for _ in range(frames):
            self.connection.audio(1, "item_1", np.zeros(1_920, np.int16))


async def a_line(**options: Any) -> Line:
    return await Line(**options).started()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


@virtual
async def test_n01_send_and_receive_both_fail_and_the_end_comes_once() -> None:
    line = await a_line()
    line.socket.send_error = RuntimeError("send after close")
    line.connection.tell(act.StateChanged("quiet", "idle"))
    line.socket.incoming.put_nowait(RuntimeError("receive after close"))
    await line.ended(within=1.0)
    assert line.session.closed == 1


def test_n02_two_hundred_frames_after_the_peer_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    @virtual
    async def scene() -> None:
        line = await a_line()
        line.connection.tell(act.ReplyStarted(1, "item_1"))
        line.speak(2)
        line.socket.send_error = RuntimeError("gone")
        line.socket.incoming.put_nowait(DISCONNECT)
        line.speak(200)
        await line.ended(within=1.0)
        line.speak(200)
        assert line.session.closed == 1

    with caplog.at_level(logging.INFO):
        scene()
    assert len(lines(caplog)) == 1
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("stubborn", [False, True])
def test_n03_c07_a_peer_that_never_answers_and_a_task_that_never_ends(
    stubborn: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        line = await a_line()
        line.session.stubborn = stubborn
        line.socket.hangs = True
        line.speak(3)
        line.socket.incoming.put_nowait(DISCONNECT)
        await line.ended(within=1.0)

    loop = VirtualLoop()
    with caplog.at_level(logging.INFO):
        loop.run_until_complete(scene())
    (told,) = lines(caplog)
    assert ("still running: session" in told) == stubborn
    left = asyncio.all_tasks(loop)
    assert len(left) == stubborn
    for task in left:
        task.cancel()
        loop.run_until_complete(asyncio.wait({task}))
    loop.close()


@virtual
async def test_a_client_that_does_not_keep_up_is_closed_with_1013() -> None:
    line = await a_line()
    line.socket.hangs = True
    line.connection.tell(act.ReplyStarted(1, "item_1"))
    line.speak(3_000)
    line.socket.hangs = False
    await line.ended(within=1.0)
    assert line.socket.closed == [(1013, "the client does not keep up")]
    assert line.session.closed == 1


@virtual
async def test_the_session_may_end_the_connection() -> None:
    line = await a_line()
    line.connection.close(1011, "the server could not keep up")
    await line.ended(within=1.0)
    assert line.socket.closed == [(1011, "the server could not keep up")]


@virtual
async def test_what_was_queued_before_an_orderly_end_is_still_sent() -> None:
    line = await a_line()
    line.connection.tell(act.StateChanged("quiet", "idle"))
    line.session.ended.set()
    await line.ended(within=1.0)
    assert [event["type"] for event in line.socket.sent][-1] == "voiceagent.state"
    assert line.socket.closed == [(1000, "")]


def test_a_fault_of_ours_ends_that_session_with_one_report(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @virtual
    async def scene() -> None:
        line = await a_line()
        manual = {"audio": {"input": {"turn_detection": None}}}
        line.socket.arrive(type="session.update", session=manual)
        line.socket.arrive(type="input_audio_buffer.commit")
        await line.ended(within=1.0)
        assert line.socket.closed == [(1011, "internal error")]

    with caplog.at_level(logging.INFO):
        scene()
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info


@virtual
async def test_audio_that_comes_too_fast_is_dropped_counted_and_told_once() -> None:
    line = await a_line()
    second = base64.b64encode(np.zeros(24_000, np.int16).tobytes()).decode()
    for _ in range(30):
        line.socket.arrive(type="input_audio_buffer.append", audio=second)
    await asyncio.sleep(5)
    assert line.session.heard == 20 * 24_000
    assert line.connection.audio_allowance.dropped == 10 * 24_000
    errors = [event for event in line.socket.sent if event["type"] == "error"]
    assert [error["error"]["code"] for error in errors] == ["audio_too_fast"]
    line.socket.incoming.put_nowait(DISCONNECT)
    await line.ended(within=1.0)


@virtual
async def test_a_flood_of_messages_is_slowed_and_each_is_answered() -> None:
    line = await a_line()
    began = asyncio.get_running_loop().time()
    for _ in range(5_000):
        line.socket.arrive(type="nonsense")
    while len(line.socket.sent) < 5_001:  # noqa: ASYNC110 - the clock is virtual
        await asyncio.sleep(0.05)
    took = asyncio.get_running_loop().time() - began
    assert 4.5 < took < 6  # virtual seconds: 2000 messages at once, then 600 a second
    line.socket.incoming.put_nowait(DISCONNECT)
    await line.ended(within=1.0)


@virtual
async def test_binary_frames_and_oversized_ones_are_one_clear_error_each() -> None:
    line = await a_line()
    line.socket.incoming.put_nowait({"type": "websocket.receive", "bytes": b"\xff\x00"})
    line.socket.incoming.put_nowait({"type": "websocket.receive", "text": "x" * 300_000})
    line.socket.incoming.put_nowait({"type": "websocket.receive", "text": ""})
    await asyncio.sleep(0.1)
    codes = [event["error"]["code"] for event in line.socket.sent if event["type"] == "error"]
    assert codes == ["invalid_json", "message_too_large", "invalid_json"]
    line.socket.incoming.put_nowait(DISCONNECT)
    await line.ended(within=1.0)


def steps_to_start(count: Callable[[Line], bool]) -> int:
    """How many turns of the loop a start takes."""

    async def scene() -> int:
        line, steps = Line(), 0
        while not count(line):
            await asyncio.sleep(0)
            steps += 1
        line.socket.incoming.put_nowait(DISCONNECT)
        await line.running
        return steps

    return asyncio.run(scene())


def test_c01_c06_closed_at_any_point_of_the_start_leaves_no_task(
    caplog: pytest.LogCaptureFixture,
) -> None:
    most = steps_to_start(lambda line: bool(line.socket.sent)) + 3
    for steps in range(most):
        for how in ("cancelled", "disconnected"):

            async def scene(steps: int = steps, how: str = how) -> None:
                line = Line()
                for _ in range(steps):
                    await asyncio.sleep(0)
                if how == "cancelled":
                    line.running.cancel()
                else:
                    line.socket.incoming.put_nowait(DISCONNECT)
                await asyncio.wait({line.running}, timeout=2)
                assert line.running.done()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert asyncio.all_tasks() == {asyncio.current_task()}

            asyncio.run(scene(), debug=True)
            gc.collect()
    assert "was destroyed but it is pending" not in caplog.text
    assert "never retrieved" not in caplog.text

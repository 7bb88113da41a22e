"""What is on its way to a client is bounded, ordered, and never blocks who puts it there."""

from __future__ import annotations

import asyncio

from tests.kit.virtual_time import virtual
from voiceagent.transports.outbox import SEND_BOUND_S, Outbox


class Wire:
    """A peer that can be made slow or broken (a simulation)."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.delay = 0.0
        self.error: Exception | None = None

    async def send(self, message: str) -> None:
        await asyncio.sleep(self.delay)
        if self.error:
            raise self.error
        self.sent.append(message)


@virtual
async def test_messages_leave_in_order_and_closing_lets_them() -> None:
    wire = Wire()
    outbox = Outbox(wire.send)
    running = asyncio.create_task(outbox.run())
    for number in range(50):
        assert outbox.put(str(number))
    outbox.close()
    assert not outbox.put("late")
    await running
    assert wire.sent == [str(number) for number in range(50)]
    assert outbox.failure is None


@virtual
async def test_a_full_box_refuses_by_number_and_by_bytes() -> None:
    outbox = Outbox(Wire().send, most_messages=3, most_bytes=10)
    assert [outbox.put("x") for _ in range(4)] == [True, True, True, False]
    outbox = Outbox(Wire().send, most_messages=100, most_bytes=10)
    assert [outbox.put("xxxx") for _ in range(3)] == [True, True, False]


@virtual
async def test_room_comes_back_as_messages_leave() -> None:
    wire = Wire()
    outbox = Outbox(wire.send, most_messages=2, most_bytes=8)
    running = asyncio.create_task(outbox.run())
    for _ in range(20):
        assert outbox.put("xxxx")
        assert outbox.put("xxxx")
        await asyncio.sleep(0.01)
    outbox.close()
    await running
    assert len(wire.sent) == 40


@virtual
async def test_n02_a_broken_peer_ends_delivery_once_and_quietly() -> None:
    wire = Wire()
    wire.error = RuntimeError("gone")
    outbox = Outbox(wire.send)
    running = asyncio.create_task(outbox.run())
    outbox.put("first")
    await running
    assert str(outbox.failure) == "gone"
    assert outbox.closed
    assert [outbox.put("more") for _ in range(200)] == [False] * 200
    assert wire.sent == []


@virtual
async def test_n03_a_peer_that_takes_nothing_is_given_up() -> None:
    wire = Wire()
    wire.delay = 3_600
    outbox = Outbox(wire.send)
    running = asyncio.create_task(outbox.run())
    outbox.put("first")
    began = asyncio.get_running_loop().time()
    await running
    assert asyncio.get_running_loop().time() - began <= SEND_BOUND_S + 0.01
    assert isinstance(outbox.failure, TimeoutError)


@virtual
async def test_discarding_forgets_what_is_queued() -> None:
    wire = Wire()
    outbox = Outbox(wire.send)
    outbox.put("old")
    outbox.close(discard=True)
    await outbox.run()
    assert wire.sent == []

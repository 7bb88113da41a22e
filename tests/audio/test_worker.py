import asyncio
import threading
from collections.abc import Iterator

import pytest

from audio.worker import Busy, Worker


class Gate:
    """A call that begins, and ends when it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.go.wait(10)
        return threading.current_thread().name


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("testing", queue_limit=3)
    yield worker
    worker.close()


async def begun(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.begun.wait, 10)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_runs_in_its_own_named_thread_and_leaves_the_loop_free(worker: Worker) -> None:
    gate = Gate()
    running = asyncio.create_task(worker.run(gate))
    await begun(gate)
    assert not running.done()  # and yet this line runs
    gate.go.set()
    assert (await running).startswith("testing")


async def test_errors_come_back_to_the_caller(worker: Worker) -> None:
    def fail() -> None:
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        await worker.run(fail)
    assert await worker.run(lambda: 7) == 7


async def test_urgent_calls_overtake_patient_ones(worker: Worker) -> None:
    gate, order = Gate(), list[str]()
    first = asyncio.create_task(worker.run(gate))
    await begun(gate)
    calls = [
        asyncio.create_task(worker.run(lambda: order.append("partial"), urgent=False)),
        asyncio.create_task(worker.run(lambda: order.append("final 1"))),
        asyncio.create_task(worker.run(lambda: order.append("final 2"))),
    ]
    await settled()
    gate.go.set()
    await asyncio.gather(first, *calls)
    assert order == ["final 1", "final 2", "partial"]


async def test_a_patient_call_is_refused_when_anything_waits(worker: Worker) -> None:
    gate = Gate()
    running = asyncio.create_task(worker.run(gate))
    await begun(gate)
    waiting = asyncio.create_task(worker.run(lambda: 1))
    await settled()
    with pytest.raises(Busy):
        await worker.run(lambda: 2, urgent=False)
    gate.go.set()
    assert await waiting == 1
    await running
    assert await worker.run(lambda: 3, urgent=False) == 3


async def test_the_queue_is_bounded(worker: Worker) -> None:
    gate = Gate()
    running = asyncio.create_task(worker.run(gate))
    await begun(gate)
    waiting = [asyncio.create_task(worker.run(lambda n=n: n)) for n in range(3)]
    await settled()
    assert worker.waiting == 3
    with pytest.raises(Busy):
        await worker.run(lambda: 99)
    gate.go.set()
    assert await asyncio.gather(*waiting) == [0, 1, 2]
    await running


async def test_cancelling_drops_what_has_not_begun_and_frees_its_place(worker: Worker) -> None:
    gate, ran = Gate(), list[int]()
    running = asyncio.create_task(worker.run(gate))
    await begun(gate)
    waiting = [asyncio.create_task(worker.run(lambda n=n: ran.append(n))) for n in range(3)]
    await settled()
    waiting[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]
    replacement = asyncio.create_task(worker.run(lambda: ran.append(7)))
    await settled()
    assert worker.waiting == 3
    gate.go.set()
    await asyncio.gather(running, waiting[0], waiting[2], replacement)
    assert ran == [0, 2, 7]


async def test_cancelling_what_has_begun_does_not_harm_the_next(worker: Worker) -> None:
    gate = Gate()
    running = asyncio.create_task(worker.run(gate))
    await begun(gate)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    after = asyncio.create_task(worker.run(lambda: "next"))
    gate.go.set()
    assert await after == "next"


async def test_close_fails_those_that_wait_and_refuses_new_ones() -> None:
    worker, gate = Worker("closing"), Gate()
    running = asyncio.create_task(worker.run(gate))
    await begun(gate)
    waiting = asyncio.create_task(worker.run(lambda: 1))
    await settled()
    closing = asyncio.create_task(asyncio.to_thread(worker.close))
    with pytest.raises(RuntimeError, match="closed"):
        await waiting
    gate.go.set()
    await closing
    assert (await running).startswith("closing")
    with pytest.raises(RuntimeError, match="closed"):
        await worker.run(lambda: 2)
    assert not [t for t in threading.enumerate() if t.name.startswith("closing")]

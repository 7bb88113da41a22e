"""A thread of its own for a model, with a short queue in front of it.

Inference must neither run on the event loop nor share asyncio's default executor: that one also
encodes the audio of a call, and a voice stops while it waits for a thread. So each model has its
own thread, and because a queue that grows is a delay that grows, the queue is short and refuses.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class Busy(RuntimeError):
    """The queue is full, or somebody more urgent is in it. Nothing was started: drop the work,
    or ask again later."""


class Worker:
    """Runs calls in `threads` threads: urgent ones first, otherwise in the order they came."""

    def __init__(self, name: str, *, threads: int = 1, queue_limit: int = 8) -> None:
        """`name` names the threads; `queue_limit` is how many calls may wait for a thread."""
        self._executor = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._limit = queue_limit
        self._lock = threading.Lock()
        self._urgent: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._patient: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Calls that wait for a thread; those whose caller was cancelled do not count."""
        with self._lock:
            self._sweep()
            return len(self._urgent) + len(self._patient)

    async def run(self, call: Callable[[], T], *, urgent: bool = True) -> T:
        """Run `call` in a thread of this worker and return what it returns, or raise likewise.

        A call that is not urgent is refused when anything waits at all. Cancelling the awaiting
        task drops a call that has not begun; one that has begun ends by itself, unheard.
        Raises Busy when the call is refused, RuntimeError when the worker is closed.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("this worker is closed")
            self._sweep()
            waiting = len(self._urgent) + len(self._patient)
            if waiting >= (self._limit if urgent else 1):
                raise Busy(f"{waiting} calls are waiting")
            (self._urgent if urgent else self._patient).append((future, call))
            self._executor.submit(self._run_next)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Refuse new calls, fail those that wait (RuntimeError), and wait for the one that runs."""
        with self._lock:
            self._closed = True
            self._sweep()
            for future, _ in (*self._urgent, *self._patient):
                if future.set_running_or_notify_cancel():
                    future.set_exception(RuntimeError("this worker was closed"))
            self._urgent.clear()
            self._patient.clear()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _run_next(self) -> None:
        # One of these is submitted for each call, but it takes whichever call is due by now.
        with self._lock:
            self._sweep()
            queue = self._urgent or self._patient
            if not queue:
                return
            future, call = queue.popleft()
            if not future.set_running_or_notify_cancel():
                return
        try:
            result = call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    def _sweep(self) -> None:
        for queue in (self._urgent, self._patient):
            kept = [entry for entry in queue if not entry[0].cancelled()]
            queue.clear()
            queue.extend(kept)

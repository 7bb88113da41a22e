"""A child process that says where it listens, keeps what it complains about, and can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence

from routing.errors import one_line

log = logging.getLogger(__name__)

_TAIL_LINES = 4
_GRACE_S = 2.0
_SECRETS = ("API_KEY", "TOKEN", "SECRET", "PASSWORD")


class ChildFailed(RuntimeError):
    """The child did not start; the message says why, shortened."""


class Child:
    """One running child. Made by ``launch``."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._reading = asyncio.create_task(self._read_complaints())
        self.url = ""

    @classmethod
    async def launch(cls, command: Sequence[str], first_line: str, start_s: float) -> Child:
        """Start ``command``, give it ``first_line``, and wait until it reports its URL.

        Raises ``ChildFailed`` when it ends, reports nonsense, or takes longer than ``start_s``.
        """
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(),
            start_new_session=True,  # a Ctrl-C in the terminal is not meant for it
        )
        child = cls(process)
        try:
            async with asyncio.timeout(start_s):
                await child._greet(first_line)
        except TimeoutError:
            await child.stop(grace_s=0)
            raise ChildFailed(f"it was not ready within {start_s:g} s") from None
        except BaseException:
            await child.stop(grace_s=0)
            raise
        return child

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def complaints(self) -> str:
        """The last lines that it wrote to its standard error, in one short line."""
        return one_line(" | ".join(self._tail))

    async def wait(self) -> int:
        """The exit status, when it has ended; negative for a signal."""
        status = await self._process.wait()
        await self._reading
        return status

    async def stop(self, grace_s: float = _GRACE_S) -> None:
        """End it: ask, and after ``grace_s`` kill."""
        if self._process.returncode is None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                async with asyncio.timeout(grace_s):
                    await self._process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def _greet(self, first_line: str) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(ConnectionError):  # it has ended; the report tells
            stdin.write(first_line.encode())
            await stdin.drain()
        try:
            self.url = str(json.loads(await stdout.readline())["url"])
        except (ValueError, TypeError, KeyError):
            if stdout.at_eof():
                status = await self.wait()
            else:
                raise ChildFailed("it reported no URL") from None
            why = self.complaints or "it said nothing"
            raise ChildFailed(f"it ended with status {status}: {why}") from None

    async def _read_complaints(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        rest = b""
        while data := await stderr.read(4096):
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-4096:]
            for line in lines:
                self._complain(line)
        self._complain(rest)

    def _complain(self, line: bytes) -> None:
        text = one_line(line.decode(errors="replace"))
        if text:
            self._tail.append(text)
            log.debug("child %d: %s", self.pid, text)


def _environment() -> dict[str, str]:
    """Ours without its secrets: the child needs none of them."""
    return {k: v for k, v in os.environ.items() if not k.upper().endswith(_SECRETS)}

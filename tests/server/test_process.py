"""How the server's process begins and ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

ROOT = Path(__file__).parents[2]
Process = asyncio.subprocess.Process


@contextlib.asynccontextmanager
async def a_server(port: int = 0) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.kit.serve_scripted",
        str(port),
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "VOICEAGENT" not in name},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def line_of(process: Process) -> str:
    assert process.stdout
    async with asyncio.timeout(30):
        return (await process.stdout.readline()).decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_c13_a_signal_ends_the_process_with_live_sessions_in_three_seconds(
    number: signal.Signals,
) -> None:
    async with a_server() as process:
        told = [await line_of(process), await line_of(process)]
        ((address, port),) = re.findall(r"Open (http://localhost:(\d+)/)", "".join(told))
        assert any(line.startswith("Ready") for line in told)
        async with httpx.AsyncClient() as browser:
            assert (await browser.get(f"{address}readyz")).status_code == 200
        async with (
            connect(f"ws://127.0.0.1:{port}/v1/realtime") as idle,
            connect(f"ws://127.0.0.1:{port}/v1/realtime") as talking,
        ):
            await talking.send(json.dumps({"type": "response.create"}))
            while json.loads(await talking.recv())["type"] != "response.output_audio.delta":
                pass
            process.send_signal(number)
            async with asyncio.timeout(3):
                assert await process.wait() == 0
            await idle.recv()  # session.created
            with pytest.raises(ConnectionClosed) as closed:
                await idle.recv()
            assert closed.value.rcvd
            assert closed.value.rcvd.code == 1012
        assert process.stderr
        assert b"Traceback" not in await process.stderr.read()


async def test_a_busy_port_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with a_server(port) as process:
            _, errors = await process.communicate()
            assert process.returncode == 1
            assert errors.decode().splitlines() == [
                f"error: 127.0.0.1 port {port} is in use by another program. "
                "Choose another with VOICEAGENT_PORT."
            ]

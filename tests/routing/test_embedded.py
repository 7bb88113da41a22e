"""The supervision of the embedded server, with a simulated child that needs no model."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from asked import answer

from routing.backend import Backend
from routing.child import Child, ChildFailed
from routing.embedded import EmbeddedServer, EmbeddedServerError
from routing.errors import BackendError
from routing.llama_options import LlamaOptions
from routing.restarts import RestartPolicy

FAKE = Path(__file__).parent / "fake_child.py"


def command(mode: str) -> list[str]:
    return [sys.executable, "-S", "-E", str(FAKE), mode]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and more")
    return path


def server_of(model: Path, mode: str = "well", **changes: Any) -> EmbeddedServer:
    policy = RestartPolicy(backoff_s=(0,), per_minute=100)
    return EmbeddedServer(model, command=command(mode), **{"restarts": policy} | changes)


@asynccontextmanager
async def started(server: EmbeddedServer) -> AsyncIterator[EmbeddedServer]:
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


def is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


async def test_start_and_stop(model: Path) -> None:
    changes: list[bool] = []
    server = server_of(model, on_change=changes.append)
    with pytest.raises(BackendError, match="not started"):
        _ = server.url
    url = await server.start()
    assert url == server.url
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/v1")
    assert server.ready
    pid = server.pid
    assert pid is not None
    with pytest.raises(EmbeddedServerError, match="already"):
        await server.start()
    await server.stop()
    await server.stop()
    assert not is_running(pid)
    assert (server.ready, server.pid, changes) == (False, None, [True, False])


def test_each_server_has_a_key_of_its_own_that_is_not_shown(model: Path) -> None:
    first, second = EmbeddedServer(model), EmbeddedServer(model)
    assert first.api_key != second.api_key
    assert len(first.api_key) >= 32
    assert first.api_key not in repr(LlamaOptions(model=model, api_key=first.api_key))
    assert first.api_key not in repr(first.backend_config())


def test_options_survive_the_pipe(model: Path) -> None:
    options = LlamaOptions(
        model=model, api_key="k", port=7, threads=1, context=512, slots=3, spin=9
    )
    assert LlamaOptions.from_line(options.to_line()) == options


@pytest.mark.parametrize("content", [None, b"", b"GGU", b"PK\x03\x04 not a model"])
async def test_a_missing_or_damaged_model_is_told_without_starting_anything(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    server = EmbeddedServer(path, command=["/nowhere"])
    with pytest.raises(EmbeddedServerError, match=r"missing|damaged") as caught:
        await server.start()
    assert str(path) in str(caught.value)


async def test_a_child_that_dies_at_the_start_is_told_by_its_last_words(model: Path) -> None:
    server = server_of(model, "die")
    with pytest.raises(EmbeddedServerError) as caught:
        await server.start()
    words = "complaint 46 | complaint 47 | complaint 48 | complaint 49"
    assert str(caught.value) == (f"the embedded language model: it ended with status 3: {words}")
    assert not server.ready
    await server.stop()


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("no library", "apt-get install libgomp1"),
        ("die silently", "said nothing"),
        ("nonsense", "no URL"),
        ("never", "not ready within"),
    ],
)
async def test_other_ways_not_to_start(model: Path, mode: str, told: str) -> None:
    server = server_of(model, mode, start_s=0.2 if mode == "never" else 30)
    with pytest.raises(EmbeddedServerError, match=told):
        await server.start()


async def test_the_child_gets_none_of_our_secrets(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk")
    monkeypatch.setenv("KEYBOARD", "us")
    with pytest.raises(EmbeddedServerError, match=r"\['KEYBOARD'\]"):
        await server_of(model, "secrets").start()


async def test_a_killed_child_is_started_again_on_the_same_port(model: Path) -> None:
    changes: list[bool] = []
    async with started(server_of(model, on_change=changes.append)) as server:
        for number in (1, 2):
            url, pid = server.url, server.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            while server.restarts < number:
                await server.wait_ready()
                await asyncio.sleep(0)
            assert server.url == url
            assert server.pid != pid
    assert changes == [True, False, True, False, True, False]


async def test_the_backend_sees_an_error_and_then_the_restarted_child(model: Path) -> None:
    changed = asyncio.Event()
    async with started(server_of(model, on_change=lambda _ready: changed.set())) as server:
        backend = Backend(server.backend_config())
        changed.clear()
        with pytest.raises(BackendError) as caught:
            await answer(backend)  # kills this child
        assert caught.value.kind == "broken_stream"
        await changed.wait()
        await server.wait_ready()
        await backend.check()
        await backend.aclose()


async def test_the_port_was_taken_in_the_meantime(model: Path) -> None:
    async with started(server_of(model)) as server:
        backend = Backend(server.backend_config())
        url, pid = server.url, server.pid
        assert pid is not None
        port = int(url.split(":")[2].removesuffix("/v1"))
        gone = asyncio.Event()
        server._on_change = lambda _ready: gone.set()
        thief = socket.socket()
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        os.kill(pid, signal.SIGKILL)
        await gone.wait()  # its socket is closed, and the next child is not there yet
        thief.bind(("127.0.0.1", port))
        thief.listen()
        await server.wait_ready()
        assert server.url != url
        await backend.check()
        await backend.aclose()
        thief.close()


async def test_a_stubborn_child_is_killed(model: Path) -> None:
    child = await Child.launch(command("stubborn"), '{"api_key": "secret-key", "port": 0}\n', 30)
    await child.stop(grace_s=0.05)
    assert not is_running(child.pid)
    assert await child.wait() == -signal.SIGKILL


async def test_a_program_that_is_not_there() -> None:
    with pytest.raises((ChildFailed, OSError)):
        await Child.launch(["/nowhere/at/all"], "\n", 30)


async def test_no_orphan_when_the_parent_is_killed(tmp_path: Path, model: Path) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from routing.embedded import EmbeddedServer\n"
        "async def main():\n"
        f"    server = EmbeddedServer(Path({str(model)!r}), command={command('well')!r})\n"
        "    await server.start()\n"
        "    print(server.url[7:-3], flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(parent), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    host, port = (await process.stdout.readline()).decode().strip().split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    process.kill()
    await process.wait()
    assert await reader.read() == b""  # the child is gone, and its sockets with it
    writer.close()


def test_restarts_back_off_and_are_bounded_in_any_minute() -> None:
    policy = RestartPolicy(backoff_s=(0, 1, 5), per_minute=4)
    now, delays = 1000.0, []
    for _ in range(6):
        delays.append(policy.delay_s(now))
        now += delays[-1]
    assert delays[:4] == [0, 1, 5, 5]
    assert now - 1000 >= 60
    assert delays[4] == 49
    assert policy.delay_s(now + 500) == 0


def test_restarts_never_exceed_the_bound() -> None:
    policy = RestartPolicy(per_minute=3)
    now, starts = 0.0, []
    for _ in range(30):
        now += policy.delay_s(now)
        starts.append(now)
        now += 0.2
    for third, first in zip(starts[3:], starts, strict=False):
        assert third - first >= 59.99

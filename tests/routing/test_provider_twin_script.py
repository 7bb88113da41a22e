"""The providers' twins from the command line: faults by name, and a server to point at."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from asked import answer, said

from routing.backend import Backend
from routing.backend_config import BackendConfig
from tests.kit.provider_twin import (
    Fault,
    cut_after,
    empty,
    error_in_stream,
    garbage,
    late,
    parse_fault,
    refuse,
    stall_after,
    status,
)

SCRIPT = Path(__file__).parents[2] / "scripts" / "provider_twin"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("status=503", status(503)),
        ("status=429,5", status(429, 5)),
        ("quota", status(429, spent=True)),
        ("late=2.5", late(2.5)),
        ("stall_after=20,30", stall_after(20, 30)),
        ("cut_after=20", cut_after(20)),
        ("garbage=1", garbage(1)),
        ("error_in_stream=0", error_in_stream(0)),
        ("empty", empty),
        ("refuse", refuse),
    ],
)
def test_faults_by_name(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault


@pytest.mark.parametrize("text", ["", "late", "late=x", "stall_after=1", "empty=1", "fire=1"])
def test_what_is_no_fault(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_fault(text)


async def test_the_script_serves_says_that_it_is_a_simulation_and_stops() -> None:
    command = [str(SCRIPT), "cerebras", "--first", "0", "--rate", "100000", "--answer", "Hello you"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        first = (await process.stdout.readline()).decode()
        url = (await process.stdout.readline()).decode().strip()
        assert first.startswith("SIMULATION of Cerebras")
        hint = (await process.stdout.readline()).decode()
        assert f"CEREBRAS_BASE_URL={url} CEREBRAS_API_KEY=" in hint
        backend = Backend(BackendConfig(name="twin", url=url, model="m"))
        assert said(await answer(backend)) == "Hello you"
        await backend.aclose()
    finally:
        process.terminate()
        code = await process.wait()
    assert code == 0
    assert os.access(SCRIPT, os.X_OK)

"""What the embedded model made of a prompt, kept for the next start; with a real, small model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audio.weights import weights_dir
from routing.backend import Backend
from routing.chunks import UsageReported
from routing.embedded import EmbeddedServer
from routing.messages import ChatRequest
from routing.prompt_file import prepare_prompt

pytestmark = pytest.mark.models

MESSAGES = [{"role": "system", "content": "You know this record. " + "A note about a pump. " * 30}]


def kept(folder: Path) -> Path:
    """The one file that is kept."""
    (file,) = folder.glob("*.kv")
    return file


async def tokens_read(folder: Path, messages: list[dict[str, Any]]) -> int:
    """Start a server, read the prompt ahead, ask: how many tokens had to be read then?"""
    model = weights_dir() / "smollm2-135m" / "model.gguf"
    server = EmbeddedServer(model, context=1024, prompts=folder)
    await server.start()
    try:
        await prepare_prompt(server, messages, folder)
        backend = Backend(server.backend_config(first_content_s=60.0))
        question = (*messages, {"role": "user", "content": "What is it?"})
        async with backend.stream(ChatRequest(question, max_tokens=2)) as chunks:
            usage = [chunk async for chunk in chunks if isinstance(chunk, UsageReported)][-1]
        await backend.aclose()
    finally:
        await server.stop()
    return usage.prompt_tokens - (usage.cached_tokens or 0)


async def test_the_second_start_takes_the_prompt_from_its_file(tmp_path: Path) -> None:
    assert await tokens_read(tmp_path, MESSAGES) < 40
    file = kept(tmp_path)
    assert file.stat().st_mode & 0o077 == 0, "as secret as the prompt"
    written = file.stat().st_mtime_ns
    assert await tokens_read(tmp_path, MESSAGES) < 40
    assert file.stat().st_mtime_ns == written, "it was taken, not made again"


async def test_d03_a_damaged_file_costs_time_and_nothing_else(tmp_path: Path) -> None:
    await tokens_read(tmp_path, MESSAGES)
    file = kept(tmp_path)
    file.write_bytes(b"damaged" * 100)
    assert await tokens_read(tmp_path, MESSAGES) < 40
    again = kept(tmp_path)
    assert again.stat().st_size > 10_000


async def test_another_prompt_replaces_the_file(tmp_path: Path) -> None:
    await tokens_read(tmp_path, MESSAGES)
    first = kept(tmp_path)
    await tokens_read(tmp_path, [{"role": "system", "content": "Another record altogether."}])
    second = kept(tmp_path)
    assert first.name != second.name

"""What the embedded model made of a prompt, kept in a file, so that the next start is quick.

Reading a prompt of 600 tokens takes a small machine several seconds; llama.cpp can write the
result (its key-value cache) to disk and take it back in a tenth of one. The file is as secret as
the prompt it was made from: only its owner may read it, and only the newest is kept.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from routing.backend import Backend
from routing.embedded import EmbeddedServer
from routing.messages import ChatRequest

log = logging.getLogger(__name__)

_SLOT = 0
_BOUND_S = 10.0
_READING_S = 120.0


async def prepare_prompt(
    server: EmbeddedServer, messages: Sequence[Mapping[str, Any]], folder: Path
) -> None:
    """Let the model know a prompt: from its file, else by reading it and writing the file.

    ``folder`` is the one that the server was started with. A file that is missing, damaged or of
    another model only costs time. Raises ``BackendError`` when the model does not answer.
    """
    path = folder / f"{_digest(server.model, messages)}.kv"
    if path.exists() and not await _slot(server, "restore", path):
        path.unlink(missing_ok=True)
    known = path.exists()
    backend = Backend(
        server.backend_config(
            first_content_s=_READING_S, extra_body={"cache_prompt": True, "id_slot": _SLOT}
        )
    )
    try:
        async with backend.stream(ChatRequest(tuple(map(dict, messages)), max_tokens=1)) as chunks:
            async for _ in chunks:
                pass
    finally:
        await backend.aclose()
    if not known and await _slot(server, "save", path):
        _keep_only(path)
    if path.exists():  # a second conversation at one time begins as well prepared
        for slot in range(1, server.slots):
            await _slot(server, "restore", path, slot)


async def _slot(server: EmbeddedServer, action: str, path: Path, slot: int = _SLOT) -> bool:
    """Write the slot's cache to the file or take it back; False when that did not work."""
    url = f"{server.url.removesuffix('/v1')}/slots/{slot}"
    headers = {"Authorization": f"Bearer {server.api_key}"}
    try:
        async with httpx.AsyncClient(timeout=_BOUND_S, trust_env=False) as client:
            response = await client.post(
                url, params={"action": action}, headers=headers, json={"filename": path.name}
            )
    except httpx.HTTPError as error:
        log.warning("prompt file: %s failed (%s)", action, type(error).__name__)
        return False
    if response.status_code != 200:
        log.warning("prompt file: %s answered %d", action, response.status_code)
    return response.status_code == 200


def _keep_only(path: Path) -> None:
    path.chmod(0o600)
    for old in path.parent.glob("*.kv"):
        if old != path:
            old.unlink(missing_ok=True)


def _digest(model: Path, messages: Sequence[Mapping[str, Any]]) -> str:
    """Changes with all that the cache depends on."""
    stat = model.stat()
    facts = [model.name, stat.st_size, stat.st_mtime_ns, version("xllamacpp"), list(messages)]
    return hashlib.sha256(json.dumps(facts, default=dict).encode()).hexdigest()[:24]

"""HTTP/1.1 as ``LlmTwin`` speaks it: requests read, heads written."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """What the twin saw of one request."""

    number: int
    connection: int
    headers: dict[str, str]
    body: dict[str, Any]
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)


class CutOff(Exception):
    """The script breaks the connection."""

    def __init__(self, reset: bool) -> None:
        self.reset = reset


@dataclass
class Connection:
    """One client's connection."""

    number: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    early: bytes = b""

    async def read_request(self) -> tuple[str, dict[str, str], bytes]:
        """The path, the headers (names in lower case) and the body of the next request."""
        read = self.early + await self.reader.readuntil(b"\r\n\r\n")
        self.early = b""
        first, *lines = read.decode().split("\r\n")
        fields = (line.partition(":") for line in lines if line)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return first.split(" ")[1], headers, body

    async def hung_up(self) -> None:
        """Wait until the client closes its side."""
        with contextlib.suppress(OSError):
            if data := await self.reader.read(1):
                self.early += data  # its next request, sent as soon as it had this answer
                await asyncio.Event().wait()


def http_head(code: int, headers: Sequence[tuple[str, str]]) -> bytes:
    """The head of an answer."""
    lines = [f"HTTP/1.1 {code} Simulated", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode()


def http_json(code: int, payload: object) -> bytes:
    """A whole answer in JSON."""
    data = json.dumps(payload).encode()
    headers = (("Content-Type", "application/json"), ("Content-Length", str(len(data))))
    return http_head(code, headers) + data

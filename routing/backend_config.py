"""Where a backend is, how it is asked, and how long it may take."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from routing.dialect import GENERAL, Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a backend can do beside answering."""

    prefill: bool = False
    """It gains from reading a prompt ahead, and that costs nothing."""
    priority: bool = False
    """It serves requests in the order of the ``priority`` that comes with them."""
    tools: bool = True
    continues: bool = False
    """It goes on with a last message of the assistant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendConfig:
    """One OpenAI-compatible server. Times are in seconds.

    Raises ValueError for a URL or a key that could not be sent.
    """

    name: str
    """Stands in errors and logs."""
    url: str | Callable[[], str]
    """The base URL, such as ``https://host/v1``; a callable where it can change."""
    model: str
    api_key: str | None = field(default=None, repr=False)
    first_content_s: float = 10.0
    """From asking to the first text or tool call. A role, a keep-alive or thinking is neither."""
    between_chunks_s: float = 5.0
    """The longest wait from one piece of content to the next."""
    connect_s: float = 2.0
    tail_s: float = 0.3
    """After the finish reason: how long to wait for the usage and the end."""
    keep_alive_s: float = 300.0
    """How long an idle connection is kept for the next request; 0: every request has its own."""
    max_connections: int = 32
    prefill_s: float | None = None
    """How long reading a prompt ahead may take; None: this backend gains nothing from it."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the request that only this backend knows."""
    provider: str = ""
    """The name of its ``routing.providers.Provider``; "" where it has none."""
    dialect: Dialect = field(default=GENERAL, repr=False)
    abilities: Abilities = Abilities()
    priority: int | None = None
    """Sent with each request where the backend has the ability; a lower number is served first."""

    def __post_init__(self) -> None:
        if isinstance(self.url, str):
            _check_url(self.url)
        if self.api_key is not None and not (
            self.api_key and self.api_key.isascii() and self.api_key.isprintable()
        ):
            raise ValueError(f"the API key of {self.name} holds characters that no key has")

    def base_url(self) -> str:
        """The base URL as it is now, without a slash at its end."""
        return (self.url if isinstance(self.url, str) else self.url()).rstrip("/")


def _check_url(url: str) -> None:
    """Raise ValueError for what is no base URL; the error does not repeat it."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isprintable() or " " in url:
        raise ValueError("a backend's URL begins with http:// or https:// and a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("a backend's URL holds no user name, password, query or fragment")


def is_loopback(url: str) -> bool:
    """Does this URL stay on this machine?"""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

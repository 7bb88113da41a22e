"""Who may talk to the server: decided from the request alone, before a connection is accepted.

A browser sends a page's origin with every WebSocket, and lets any page open one to any server, also
to one on this machine. So without a token only pages that this server itself served may connect,
and programs, which send no origin. The ``Host`` must then be a loopback name: a page whose hostile
name was made to resolve to 127.0.0.1 would otherwise look like one of ours (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

TOKEN_SUBPROTOCOL = "openai-insecure-api-key."  # noqa: S105  (the prefix before a token)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status and one sentence for the client."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Caller:
    """What a request says of who sends it."""

    host: str | None
    origins: Sequence[str] = ()
    authorization: str | None = None
    subprotocols: Sequence[str] = ()
    query_token: str | None = None

    def tokens(self) -> Iterable[str]:
        """Every token offered, wherever the protocol allows one."""
        scheme, _, bearer = (self.authorization or "").partition(" ")
        if scheme.lower() == "bearer":
            yield bearer.strip()
        for offered in self.subprotocols:
            if offered.startswith(TOKEN_SUBPROTOCOL):
                yield offered.removeprefix(TOKEN_SUBPROTOCOL)
        if self.query_token is not None:
            yield self.query_token


class Gate:
    """Checks callers against the server's settings.

    ``host`` is the address the server listens on, ``token`` the shared secret (None: no token),
    ``allowed_origins`` further pages that may connect, such as ``https://voice.example.com``.
    """

    def __init__(
        self, *, host: str, token: str | None = None, allowed_origins: Iterable[str] = ()
    ) -> None:
        self._token = token or None
        self._local = is_loopback(host)
        self._allowed = {origin.rstrip("/").lower() for origin in allowed_origins}
        self._allowed_hosts = {urlsplit(origin).netloc for origin in self._allowed}

    def check(self, caller: Caller) -> Refusal | None:
        """Why this caller may not connect; None when it may."""
        if not self._origin_allowed(caller):
            return Refusal(403, "Pages of this origin may not connect.")
        if self._token is not None:
            expected = self._token.encode()
            given = [token.encode("utf-8", "surrogatepass") for token in caller.tokens()]
            if not any(secrets.compare_digest(token, expected) for token in given):
                return Refusal(401, "A valid token is needed.")
            return None
        if not self._local:
            return Refusal(403, "This server needs VOICEAGENT_TOKEN to be reached from elsewhere.")
        if not self._host_allowed(caller.host):
            return Refusal(403, "Without a token, connect by a loopback name such as localhost.")
        return None

    def _origin_allowed(self, caller: Caller) -> bool:
        if not caller.origins:
            return True
        if len(caller.origins) > 1:
            return False
        origin = caller.origins[0].rstrip("/").lower()
        if origin in self._allowed:
            return True
        parts = urlsplit(origin) if _splits(origin) else None
        same = parts is not None and parts.netloc == (caller.host or "").lower()
        return same and parts is not None and parts.scheme in ("http", "https")

    def _host_allowed(self, host: str | None) -> bool:
        if host is None or not _splits(f"//{host}"):
            return False
        name = urlsplit(f"//{host}").hostname
        return (name is not None and is_loopback(name)) or host.lower() in self._allowed_hosts


def caller_of_request(request: HTTPConnection) -> Caller:
    """What a request, or a WebSocket's handshake, says of its sender."""
    return Caller(
        host=request.headers.get("host"),
        origins=request.headers.getlist("origin"),
        authorization=request.headers.get("authorization"),
        subprotocols=request.scope.get("subprotocols") or [],
        query_token=request.query_params.get("token"),
    )


def is_loopback(host: str) -> bool:
    """Is this name or address this machine itself, and reachable from nowhere else?"""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _splits(url: str) -> bool:
    try:
        return bool(urlsplit(url).netloc)
    except ValueError:
        return False

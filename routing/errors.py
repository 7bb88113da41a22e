"""How a backend can fail, in one error with a kind that a router can act on."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal[
    "rate_limited",  # too many requests, or a full queue; see retry_after_s
    "quota",  # an allowance is spent, which takes longer; retry_after_s is always given
    "unavailable",  # it answered that it cannot (5xx, loading, overloaded)
    "refused",  # nothing accepts connections there (refused, unknown host, TLS)
    "timeout",  # connecting, the first content or the next content took too long
    "broken_stream",  # the answer ended without a finish reason, or is no event stream
    "bad_request",  # the request, the model name or the address is wrong
    "auth",  # the key is missing, wrong or not allowed
    "in_stream",  # an error was reported inside an answer that began well
]

_NEVER_RETRYABLE: frozenset[Kind] = frozenset({"bad_request", "auth"})
_MESSAGE_LIMIT = 300


class BackendError(Exception):
    """A request to a backend failed.

    ``message`` (also ``str(error)``) is one short line that is safe to show: no key, no prompt.
    ``retryable``: the same request may succeed at the same backend, now or after ``retry_after_s``.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        retry_after_s: float | None = None,
        retryable: bool | None = None,
    ) -> None:
        self.kind: Kind = kind
        self.message = one_line(message)
        self.retry_after_s = retry_after_s
        self.retryable = kind not in _NEVER_RETRYABLE if retryable is None else retryable
        super().__init__(self.message)

    def with_message(self, message: str) -> BackendError:
        """The same failure in other words."""
        return BackendError(
            self.kind, message, retry_after_s=self.retry_after_s, retryable=self.retryable
        )


class StreamBroken(BackendError):
    """The answer ended before the model did, or was no answer at all."""

    def __init__(self, message: str) -> None:
        super().__init__("broken_stream", message)


def one_line(text: str, limit: int = _MESSAGE_LIMIT) -> str:
    """``text`` without control characters and line ends, at most ``limit`` characters."""
    flat = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029\s]+", " ", text[: 4 * limit]).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"

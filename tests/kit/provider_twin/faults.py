"""What goes wrong at a provider's twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "status", "late", "stall_after", "cut_after", "garbage", "error_in_stream", "empty", "refuse"
]


@dataclass(frozen=True)
class Fault:
    """One kind of failure; the makers below say what the numbers are."""

    kind: Kind
    tokens: int = 0
    seconds: float = 0.0
    status: int = 0
    spent: bool = False

    @property
    def breaks_at(self) -> int | None:
        """The number of tokens after which it happens in the stream."""
        in_stream = ("stall_after", "cut_after", "garbage", "error_in_stream")
        return self.tokens if self.kind in in_stream else None


def status(code: int, retry_after: float = 0.0, *, spent: bool = False) -> Fault:
    """An error answer in the provider's own shape. ``retry_after``: seconds; 0 leaves it out.

    ``spent``: a 429 since the quota is used up, not since the server is busy.
    """
    return Fault("status", status=code, seconds=retry_after, spent=spent)


def late(seconds: float) -> Fault:
    """So many seconds more before the first token."""
    return Fault("late", seconds=seconds)


def stall_after(tokens: int, seconds: float) -> Fault:
    """After so many tokens nothing for so many seconds; then it goes on."""
    return Fault("stall_after", tokens, seconds)


def cut_after(tokens: int) -> Fault:
    """After so many tokens the connection breaks."""
    return Fault("cut_after", tokens)


def garbage(tokens: int) -> Fault:
    """After so many tokens one event that is no JSON; then it goes on."""
    return Fault("garbage", tokens)


def error_in_stream(tokens: int) -> Fault:
    """After so many tokens an error event, and the end."""
    return Fault("error_in_stream", tokens)


empty = Fault("empty")
"""An answer without a token, which ends well."""
refuse = Fault("refuse")
"""Nobody listens."""


def parse_fault(text: str) -> Fault:
    """A fault as on a command line: ``stall_after=20,30``, ``status=429,5``, ``empty``.

    Raises ValueError.
    """
    name, _, rest = text.partition("=")
    numbers = [float(part) for part in rest.split(",")] if rest else []
    match name, numbers:
        case "status", [code, *pause] if len(pause) < 2:
            return status(int(code), *pause)
        case "quota", []:
            return status(429, spent=True)
        case "late", [seconds]:
            return late(seconds)
        case "stall_after", [tokens, seconds]:
            return stall_after(int(tokens), seconds)
        case ("cut_after" | "garbage" | "error_in_stream") as kind, [tokens]:
            return Fault(kind, int(tokens))
        case ("empty" | "refuse") as kind, []:
            return Fault(kind)
    raise ValueError(
        "a fault is status=CODE[,RETRY_AFTER], quota, late=SECONDS, stall_after=TOKENS,SECONDS, "
        "cut_after=TOKENS, garbage=TOKENS, error_in_stream=TOKENS, empty or refuse"
    )

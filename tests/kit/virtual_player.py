"""The page's player in virtual time, and SIMULATED audio, senders and networks to feed it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page

RATE = 24_000
BLOCK = 128
FRAME = 1_920
SILENT = 33
"""Samples below this are silence: -60 dBFS."""
PAUSES = (0.15, 0.22, 0.33)
"""What the voice appends to a clause, seconds."""
_LOOP = (Path(__file__).parent / "virtual-player.js").read_text()

Pcm = NDArray[np.int16]
Rule = Literal["page", "unstretched", "stepped", "none"]


@dataclass(frozen=True)
class Trace:
    """One item and when each message of it arrives: (frame, first sample, last sample)."""

    pcm: Pcm
    messages: list[tuple[int, int, int]]

    @property
    def end(self) -> int:
        """When the last message arrives (frame)."""
        return self.messages[-1][0]


@dataclass(frozen=True)
class Played:
    """What left the player, and what it reported."""

    out: Pcm
    reports: list[dict[str, Any]]

    @property
    def added(self) -> list[tuple[str, int, int, int]]:
        """(underrun or stretch, the item's sample before it, first frame, last frame)."""
        found = []
        for one, two in pairwise(self.reports):
            kind = "stretch" if one["holding"] else one["kind"]
            if kind in ("stretch", "underrun"):
                found.append((kind, one["played"], one["frame"], two["frame"]))
        return [one for one in _merged(found) if one[0] == "underrun" or one[3] > one[2]]

    @property
    def started(self) -> int:
        """The frame of the first sample."""
        return int(self.reports[0]["frame"])


def _merged(found: list[tuple[str, int, int, int]]) -> list[tuple[str, int, int, int]]:
    merged: list[tuple[str, int, int, int]] = []
    for kind, played, first, last in found:
        if merged and merged[-1][:2] == (kind, played) and merged[-1][3] == first:
            first = merged.pop()[2]
        merged.append((kind, played, first, last))
    return merged


def play(
    page: Page,
    trace: Trace,
    rule: Rule = "page",
    *,
    done: bool = True,
    flush: int | None = None,
    ducks: Sequence[tuple[int, bool]] = (),
    seconds: float = 1.0,
) -> Played:
    """Play a trace, and ``seconds`` of silence after it (``page``: any that serves ``web/``)."""
    frames = trace.end + len(trace.pcm) + int(seconds * RATE)
    items = [_item(trace, done)]
    return _run(page, items, rule=rule, flush=flush, ducks=list(ducks), frames=frames)


def play_all(page: Page, traces: Sequence[Trace], rule: Rule = "page") -> list[Played]:
    """Play items one after the other in one player, which learns from each for the next."""
    frames = traces[-1].end + len(traces[-1].pcm) + RATE
    items = [_item(trace, True) for trace in traces]
    told = _run(page, items, rule=rule, flush=None, ducks=[], frames=frames)
    names = [f"item_{number}" for number in range(len(traces))]
    return [
        Played(told.out, [report for report in told.reports if report["item"] == name])
        for name in names
    ]


def _item(trace: Trace, done: bool) -> dict[str, Any]:
    pcm = base64.b64encode(trace.pcm.astype("<i2").tobytes()).decode()
    return {"pcm": pcm, "messages": trace.messages, "done": trace.end if done else None}


def _run(page: Page, items: list[dict[str, Any]], **options: Any) -> Played:
    told = page.evaluate(_LOOP, {"items": items, **options, "rate": RATE, "block": BLOCK})
    return Played(np.frombuffer(base64.b64decode(told["out"]), "<i2"), told["reports"])


# --- audio ---------------------------------------------------------------------------------------


def speech(random: np.random.Generator, seconds: float) -> tuple[Pcm, list[int]]:
    """Noise in clauses, with short silences inside and a pause after; where clauses begin."""
    parts: list[Pcm] = []
    begins = []
    while sum(map(len, parts)) < seconds * RATE:
        begins.append(sum(map(len, parts)))
        for _ in range(random.integers(2, 6)):
            parts.append(_word(random, random.uniform(0.1, 0.5)))
            parts.append(np.zeros(int(random.uniform(0, 0.065) * RATE), np.int16))
        parts[-1] = np.zeros(int(random.choice(PAUSES) * RATE), np.int16)
    return np.concatenate(parts), begins


def _word(random: np.random.Generator, seconds: float) -> Pcm:
    wave = random.integers(100, 8_000, int(seconds * RATE)) * random.choice([-1, 1])
    word: Pcm = wave.astype(np.int16)
    return word


def silences(pcm: Pcm, least: float = 0.1) -> list[tuple[int, int]]:
    """The silences of ``least`` seconds and more: first sample, and the one after the last."""
    quiet = np.concatenate([[0], np.abs(pcm.astype(np.int32)) < SILENT, [0]])
    edges = np.flatnonzero(np.diff(quiet)).reshape(-1, 2)
    return [(int(a), int(b)) for a, b in edges if b - a >= least * RATE]


# --- sender and network --------------------------------------------------------------------------


def sent(
    pcm: Pcm, *, lead: float = 0.4, ready: Sequence[tuple[int, float]] = ((0, 0.0),)
) -> list[tuple[float, int, int]]:
    """When a sender that runs at most ``lead`` seconds ahead sends each message, seconds.

    ``ready``: from which sample on the audio is there only at which moment (the text was late).
    """
    starts = [0, 480, *range(480 + FRAME, len(pcm), FRAME)]
    messages = []
    ends_at = 0.0
    for first, last in pairwise([*starts, len(pcm)]):
        there = max(at for sample, at in ready if sample < last)
        at = max(there, ends_at - max(0.0, lead - FRAME / RATE))
        messages.append((at, first, last))
        ends_at = max(at, ends_at) + (last - first) / RATE
    return messages


def over(
    messages: list[tuple[float, int, int]], delays: NDArray[np.floating], begin: float = 0.02
) -> list[tuple[int, int, int]]:
    """Arrivals over an ordered network (what is late holds up what follows), in frames."""
    at = np.maximum.accumulate(np.array([at for at, *_ in messages]) + delays + begin)
    return [
        (int(one * RATE), first, last) for one, (_, first, last) in zip(at, messages, strict=True)
    ]


def uniform(random: np.random.Generator, count: int, jitter: float) -> NDArray[np.floating]:
    """Each message is late by 0 to ``jitter`` seconds."""
    return random.uniform(0, jitter, count)


def bursts(
    random: np.random.Generator, count: int, jitter: float, share: float = 0.08
) -> NDArray[np.floating]:
    """A ``share`` of the messages is late by ``jitter`` seconds, the rest by nothing."""
    return np.where(random.random(count) < share, jitter, 0.0)


# --- what a listener would complain of -----------------------------------------------------------


@dataclass(frozen=True)
class Breaks:
    """What was added to an item while it played."""

    inside: int
    """Underruns inside a clause."""
    inside_ms: float
    """Their silence."""
    total_ms: float
    """All silence that was added: underruns and longer pauses."""
    first_ms: float
    """From the first arrival to the first sound."""


def breaks(trace: Trace, played: Played) -> Breaks:
    """Count what was added, by where it lies."""
    pauses = silences(trace.pcm)
    inside = [
        (last - first) / RATE * 1_000
        for kind, sample, first, last in played.added
        if kind == "underrun" and last > first and not any(a < sample <= b for a, b in pauses)
    ]
    total = sum(last - first for _, _, first, last in played.added) / RATE * 1_000
    waited = (played.started - trace.messages[0][0]) / RATE * 1_000
    return Breaks(len(inside), sum(inside), total, waited)

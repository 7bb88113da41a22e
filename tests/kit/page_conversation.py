"""Pieces of a conversation for the simulated server: what a real one would send, in its order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.kit.page_server import WIRE_RATE, PageServer

Pcm = NDArray[np.int16]


def tone(seconds: float, hertz: float = 220.0, level: float = 0.3) -> Pcm:
    """A steady sound, 24 kHz: easy to find in a recording."""
    time = np.arange(int(seconds * WIRE_RATE)) / WIRE_RATE
    return (np.sin(2 * np.pi * hertz * time) * level * 32_767).astype(np.int16)


def words_of(text: str, first: int, samples: int) -> list[dict[str, int]]:
    """Word spans that share the clause's samples by their number of characters."""
    spans = [match.span() for match in re.finditer(r"[\w'-]+", text)]
    at = [first + samples * start // len(text) for start, _ in spans] + [first + samples]
    return [
        {"start": start, "end": end, "first_sample": at[n], "last_sample": at[n + 1]}
        for n, (start, end) in enumerate(spans)
    ]


@dataclass
class Script:
    """Says a conversation through a ``PageServer``."""

    server: PageServer
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def state(self, user: str, agent: str, at_ms: float | None = None) -> None:
        """Who speaks, as the server sees it, since a moment of the page's input audio."""
        self.server.send("voiceagent.state", user=user, agent=agent, at_ms=at_ms)

    def user_begins(self, *partials: str, at_ms: float = 0) -> str:
        """The person begins to speak; returns the item."""
        item = f"item_u{next(self._numbers)}"
        self.server.send("input_audio_buffer.speech_started", item_id=item, audio_start_ms=at_ms)
        for text in partials:
            self.server.send("voiceagent.transcript.partial", item_id=item, text=text)
        return item

    def user_said(self, text: str, item: str | None = None, end_ms: float = 0) -> str:
        """A complete turn of the person; returns the item."""
        item = item or self.user_begins()
        self.server.send("input_audio_buffer.speech_stopped", item_id=item, audio_end_ms=end_ms)
        self.server.send("input_audio_buffer.committed", item_id=item, previous_item_id=None)
        done = "conversation.item.input_audio_transcription.completed"
        self.server.send(done, item_id=item, content_index=0, transcript=text)
        return item

    def reply(self, *clauses: tuple[str, Pcm], done: bool = True) -> str:
        """The agent answers, all at once; returns the item."""
        number = next(self._numbers)
        response, item = f"resp_{number}", f"item_a{number}"
        self.server.send("response.created", response={"id": response, "status": "in_progress"})
        shell = {"id": item, "type": "message", "role": "assistant"}
        self.server.send("response.output_item.added", response_id=response, item=shell)
        first = 0
        for index, (text, pcm) in enumerate(clauses):
            clause = {"clause": index, "text": text, "first_sample": first, "samples": len(pcm)}
            words = words_of(text, first, len(pcm))
            ids = {"response_id": response, "item_id": item}
            self.server.send("voiceagent.clause", **ids, **clause, words=words)
            self.server.audio(item, pcm)
            first += len(pcm)
        if done:
            self.server.send("response.output_audio.done", response_id=response, item_id=item)
        return item

    def gap(
        self, item: str, parts: dict[str, float], kind: str, at_ms: float | None = None
    ) -> None:
        """The response gap of a reply, from its parts in milliseconds; it ended at ``at_ms``."""
        listed = [{"name": name, "ms": ms} for name, ms in parts.items()]
        total = sum(parts.values())
        known = {"item_id": item, "gap_ms": total, "class": kind, "measured": True}
        at = {"at_ms": at_ms, "user_end_ms": None if at_ms is None else at_ms - total}
        self.server.send("voiceagent.gap", **known, parts=listed, **at)

    def tokens(
        self,
        item: str,
        ticks: list[tuple[float, int | None]],
        evenness: float | None = None,
        band: str | None = None,
    ) -> None:
        """Tokens of a reply that have arrived: when, how many; and how evenly so far."""
        known = {"item_id": item, "evenness": evenness, "band": band}
        self.server.send("voiceagent.tokens", **known, ticks=ticks)

    def pause(
        self,
        item: str,
        duration_ms: float,
        kind: str,
        *,
        at_ms: float | None = None,
        place: str = "phrase",
        cause: str = "underrun",
    ) -> None:
        """A silence inside a reply, which is over."""
        known = {"item_id": item, "at_ms": at_ms, "duration_ms": duration_ms, "class": kind}
        why = {"place": place, "cause": cause, "measured": True}
        self.server.send("voiceagent.pause", **known, **why)

    def stop(self, item: str, stop_ms: float, kind: str, at_ms: float | None = None) -> None:
        """How fast a reply stopped when the person cut in."""
        known = {"item_id": item, "stop_ms": stop_ms, "class": kind, "at_ms": at_ms}
        self.server.send("voiceagent.stop", **known, measured=True)

    def route(
        self, item: str, badge: str, reason: str = "it is the quickest", **marks: bool
    ) -> None:
        """Who answers a reply."""
        known = {"item_id": item, "backend": badge.split(" ")[0], "badge": badge, "reason": reason}
        off = {"hedged": False, "failed_over": False, "handed_over": False}
        self.server.send("voiceagent.route", **known, **(off | marks))

    def flush(self, item: str) -> None:
        """Stop the voice."""
        self.server.send("voiceagent.playout.flush", item_id=item)

    def heard(self, item: str, status: str, text: str, heard: str | None = None) -> None:
        """What was heard of a reply that is over."""
        known: dict[str, Any] = {"item_id": item, "status": status, "text": text}
        self.server.send("voiceagent.heard", **known, heard=text if heard is None else heard)

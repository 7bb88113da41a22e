"""The stream of an OpenAI-compatible chat completion, from bytes to chunks. No I/O, no clock.

    bytes ─ SseDecoder ─ events ─ ChatStreamParser ─ chunks

A stream ends well only with a finish reason. ``[DONE]`` is neither needed nor enough.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from routing.chunks import Chunk, Finished, ReasoningDelta, TextDelta
from routing.delta import delta_of, delta_reasoning, delta_text, finish_reason, first_choice
from routing.dialect import GENERAL, Dialect
from routing.errors import BackendError, StreamBroken
from routing.reasoning import Piece, ThinkSplitter
from routing.server_timing import ServerTiming
from routing.sse import MAX_LINE, SseDecoder, SseEvent
from routing.stream_errors import error_in
from routing.surrogates import SurrogateJoiner, whole_characters
from routing.tool_calls import ToolFragments
from routing.usage import TokenCounter, Usage, read_usage

_NO_REASON = "the answer ended without a finish reason"


class ChatStreamParser:
    """Feed it bytes with the time they arrived; the chunks do not depend on the byte split.

    ``feed`` never raises, so that what came before a failure is not lost: look at ``failure``, or
    call ``close``, which raises it.
    """

    def __init__(self, *, max_line: int = MAX_LINE, dialect: Dialect = GENERAL) -> None:
        self._dialect = dialect
        self._sse = SseDecoder(max_line)
        self._think = ThinkSplitter()
        self._joiner = SurrogateJoiner()
        self._tools = ToolFragments()
        self._counter = TokenCounter()
        self._held_tokens: int | None = 0
        self._usage: Usage | None = None
        self._timing: ServerTiming | None = None
        self._at_us = 0
        self.skipped = 0
        """Events that were no sense, and were left out."""
        self.finished = False
        """The finish reason has come: the answer is whole."""
        self.done = False
        """``[DONE]`` has come: nothing more will."""
        self.failure: BackendError | None = None
        """Why the answer cannot go on; nothing is parsed after it."""

    def feed(self, data: bytes, at_us: int) -> list[Chunk]:
        """The chunks that ``data``, which arrived at ``at_us``, completes."""
        self._at_us = at_us
        chunks: list[Chunk] = []
        if self._over():
            return chunks
        self._events(self._sse.feed(data), chunks)
        self._check_size()
        return chunks

    def close(self) -> list[Chunk]:
        """The bytes have ended: the chunks of the last, unended event.

        Raises ``StreamBroken`` where there was no finish reason, or the ``failure`` there was.
        """
        chunks: list[Chunk] = []
        if not self._over():
            self._events(self._sse.close(), chunks)
            self._check_size()
        if self.failure is not None:
            raise self.failure
        if not self.finished:
            raise StreamBroken(_NO_REASON)
        self.done = True
        return chunks

    def _over(self) -> bool:
        return self.done or self.failure is not None

    def _check_size(self) -> None:
        if self._sse.overflow and not self._over():
            self.failure = StreamBroken("the server sent a line that is too long")

    def _events(self, events: list[SseEvent], chunks: list[Chunk]) -> None:
        for event in events:
            if self._over():
                return
            joined = "\n".join(event.lines)
            if not joined.strip():
                continue
            if not self._document(joined, event.type, chunks):
                # Some servers leave out the blank line between events.
                whole = [self._document(line, event.type, chunks) for line in event.lines]
                self.skipped += whole.count(False)

    def _document(self, text: str, event_type: str, chunks: list[Chunk]) -> bool:
        """Take one JSON document; False where it is none."""
        if self._over():
            return True
        if text.strip() == "[DONE]":
            self.done = True
            if not self.finished:
                self.failure = StreamBroken(_NO_REASON)
            return True
        try:
            payload = json.loads(text)
        except (ValueError, RecursionError):
            payload = None
        if isinstance(payload, dict):
            self._payload(payload, event_type, chunks)
            return True
        if event_type == "error" and not self.finished:
            self.failure = error_in({"error": text}, event_type)
            return True
        return False

    def _payload(self, payload: dict[str, Any], event_type: str, chunks: list[Chunk]) -> None:
        failure = None if self.finished else error_in(payload, event_type)
        if failure is not None:
            self.failure = failure
            return
        usage = read_usage(payload)
        choice = first_choice(payload)
        reason = None
        if choice is not None and not self.finished:
            self._content(choice, usage, chunks)
            reason = finish_reason(choice)
            if reason:
                self._flush(chunks)
        if usage is not None and usage != self._usage:
            self._usage = usage
            chunks.append(usage.reported(self._at_us))
        timing = self._dialect.timing(payload)
        if timing is not None and timing != self._timing:
            self._timing = timing
            chunks.append(timing.reported(self._at_us))
        if reason:
            self.finished = True
            chunks.append(Finished(self._at_us, reason))

    def _content(self, choice: Mapping[str, Any], usage: Usage | None, chunks: list[Chunk]) -> None:
        delta = delta_of(choice)
        thinking, text = delta_reasoning(delta), delta_text(delta)
        if thinking:
            chunks.append(ReasoningDelta(self._at_us, whole_characters(thinking)))
        tools = self._tools.read(delta.get("tool_calls"), self._at_us)
        if text or thinking or tools:
            tokens = self._counter.count(choice, usage)
            if text:
                pieces = self._think.feed(self._joiner.feed(text))
                self._pieces(pieces, None if thinking or tools else tokens, chunks)
        chunks.extend(tools)

    def _pieces(self, pieces: list[Piece], tokens: int | None, chunks: list[Chunk]) -> None:
        """Text and thinking as chunks. Tokens count only where no thinking came with the text."""
        before = self._held_tokens
        total = None if tokens is None or before is None else before + tokens
        if any(piece.thinking for piece in pieces):
            total = None
        holds = self._think.holds or self._joiner.holds
        if not pieces and holds:
            self._held_tokens = total
            return
        # What is still held back shares its tokens with what goes out: then neither is known.
        self._held_tokens = None if holds else 0
        if holds:
            total = None
        for piece in pieces:
            chunks.append(
                ReasoningDelta(self._at_us, piece.text)
                if piece.thinking
                else TextDelta(self._at_us, piece.text, total)
            )

    def _flush(self, chunks: list[Chunk]) -> None:
        pieces = self._think.feed(self._joiner.close()) + self._think.close()
        self._pieces(pieces, 0, chunks)

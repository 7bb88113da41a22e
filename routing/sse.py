"""Server-sent events from bytes (WHATWG HTML, 9.2.6), forgiving where servers are sloppy.

Lines are cut before they are decoded, so a character split over two reads stays whole. What servers
in the field get wrong and is accepted here: no space after ``data:``, a JSON line without a field
name, an ``error:`` field (older llama.cpp), a last event without its blank line.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINE = 1 << 20
"""Bytes in one line, and in one event."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its type ("" where none was given) and its ``data`` lines."""

    type: str
    lines: tuple[str, ...]


class SseDecoder:
    """Feed it bytes as they arrive; the events do not depend on where the bytes were split."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._pieces: list[bytes] = []  # the line that has not ended yet
        self._pieces_size = 0
        self._skip_lf = False
        self._at_start = True
        self._type = ""
        self._lines: list[str] = []
        self._event_size = 0
        self.overflow = False
        """A line or an event was too long; nothing is decoded after it."""

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that ``data`` completes."""
        if self._skip_lf and data:  # the LF of a CRLF that was split
            self._skip_lf = False
            if data[:1] == b"\n":
                data = data[1:]
        if not data or self.overflow:
            return []
        self._skip_lf = data.endswith(b"\r")
        *lines, rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[SseEvent] = []
        for line in lines:
            self._line(self._unfinished() + line if self._pieces else line, events)
            if self.overflow:
                return events
        if rest:
            self._pieces.append(rest)
            self._pieces_size += len(rest)
            self.overflow = self._pieces_size > self._max_line
        return events

    def close(self) -> list[SseEvent]:
        """The event that was under way when the bytes ended, if there is one."""
        events: list[SseEvent] = []
        if self._pieces and not self.overflow:
            self._line(self._unfinished(), events)
        if not self.overflow:
            self._line(b"", events)
        return events

    def _unfinished(self) -> bytes:
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._pieces_size = 0
        return line

    def _line(self, line: bytes, events: list[SseEvent]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            if self._lines or self._type:
                events.append(SseEvent(self._type, tuple(self._lines)))
            self._type, self._event_size = "", 0
            self._lines.clear()
            return
        comment = line.startswith(b":")
        self._event_size += 0 if comment else len(line)
        if max(len(line), self._event_size) > self._max_line:
            self.overflow = True
        elif line.startswith(b"data:"):  # nearly every line
            self._lines.append(line[6 if line[5:6] == b" " else 5 :].decode(errors="replace"))
        elif not comment:
            self._field(line.decode(errors="replace"))

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        if name == "event":
            self._type = value.removeprefix(" ")
        elif name == "error":
            self._type = "error"
            self._lines.append(value.removeprefix(" "))
        elif line.startswith("{"):
            self._lines.append(line)

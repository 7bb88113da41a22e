"""A session as a file: what happened and what was done, one JSON object a line.

The first line names the format and the words that are ours (system prompt, greeting). Then each
event is followed by the actions that the conversation answered it with. Audio is written beside it
only when asked for.
"""

from __future__ import annotations

import json
import logging
import os
import wave
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.rules import Rules, Script

log = logging.getLogger(__name__)

FORMAT = 2
_WORDS = tuple(field.name for field in fields(Script) if field.name != "fixed_answer")
_EVENTS: dict[str, TypeAdapter[ev.Event]] = {
    cls.__name__: TypeAdapter(cls) for cls in ev.Event.__subclasses__()
}


class RecordingError(Exception):
    """A recording that cannot be read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a recording, and the actions that followed (as plain data)."""

    line: int
    event: ev.Event
    actions: list[dict[str, Any]]


def plain(value: act.Action | ev.Event) -> dict[str, Any]:
    """An event or action as JSON data with its type's name, as recordings hold it."""
    data = {"type": type(value).__name__, **asdict(value)}
    return json.loads(json.dumps(data, allow_nan=False))  # type: ignore[no-any-return]


def _private(path: str, flags: int) -> int:
    """What people said is for the operator's eyes only."""
    return os.open(path, flags, 0o600)


class Recorder:
    """Writes a session to ``DIR/<session>.jsonl``, and its input audio to ``.wav`` if asked."""

    def __init__(
        self, folder: Path, session: str, script: Script, rules: Rules, *, audio: bool = False
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{session}.jsonl"
        self._file = open(path, "w", encoding="utf-8", opener=_private)  # noqa: SIM115
        words = {name: getattr(script, name) for name in _WORDS}
        self._line({"format": FORMAT, "script": words, "rules": asdict(rules)})
        self._wav: wave.Wave_write | None = None
        if audio:
            self._sound = open(folder / f"{session}.wav", "wb", opener=_private)  # noqa: SIM115
            self._wav = wave.open(self._sound)  # noqa: SIM115 - both are closed in close
            self._wav.setparams((1, 2, 24_000, 0, "NONE", ""))

    def write(self, event: ev.Event, actions: list[act.Action]) -> None:
        """Append an event and its actions. A full disk ends the recording, not the session."""
        self._line({"event": plain(event), "actions": [plain(action) for action in actions]})

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """Append input audio (24 kHz)."""
        if self._wav:
            try:
                self._wav.writeframesraw(pcm.tobytes())
            except OSError as error:
                log.error("recording of audio stopped: %s", error)
                self._wav = None

    def close(self) -> None:
        """Finish the files."""
        try:
            self._file.close()
            if self._wav:
                self._wav.close()
                self._sound.close()
        except OSError as error:
            log.error("recording not complete: %s", error)

    def _line(self, data: dict[str, Any]) -> None:
        if self._file.closed:
            return
        try:
            self._file.write(json.dumps(data, allow_nan=False) + "\n")
        except OSError as error:
            log.error("recording stopped: %s", error)
            self._file.close()


def read_recording(path: Path) -> tuple[Script, Rules, Iterator[Step]]:
    """The script, rules and steps of a recording; ``RecordingError`` says what is wrong with it."""
    text = path.read_text(encoding="utf-8", errors="replace")
    whole = text.rpartition("\n")[0]  # a crash or a full disk may have cut the last line
    lines = enumerate(whole.splitlines(), start=1)
    try:
        head = json.loads(next(lines)[1])
        if head.get("format") != FORMAT:
            raise RecordingError(f"{path}: recording format {head.get('format')!r} is unknown")
        script = Script(**{name: head["script"][name] for name in _WORDS})
        rules = Rules(**head["rules"])
    except (StopIteration, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{path}: line 1 is not the head of a recording") from error
    return script, rules, _steps(path, lines)


def _steps(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[Step]:
    for number, line in lines:
        try:
            data = json.loads(line)
            event = dict(data["event"])
            adapter = _EVENTS[event.pop("type")]
            yield Step(number, adapter.validate_python(event), data["actions"])
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise RecordingError(f"{path}: line {number} is not a recorded event") from error

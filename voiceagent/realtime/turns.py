"""The person's turns as server events: speech, its commit, its text."""

from __future__ import annotations

from collections.abc import Callable

from voiceagent.conversation import actions as act
from voiceagent.realtime import server_events as out
from voiceagent.realtime.items import Items
from voiceagent.realtime.server_events import ServerEvent


class Turns:
    """``position`` gives the place (microseconds) of a session time in the input audio.

    With manual turns the client ends an utterance itself and waits for the confirmation, so there
    it comes at once, and no speech is announced.
    """

    def __init__(self, items: Items, position: Callable[[int], int]) -> None:
        self.manual = False
        self._items, self._position = items, position
        self._onsets: dict[str, int] = {}

    def started(self, action: act.TurnStarted) -> list[ServerEvent]:
        """Speech began (or, with manual turns, an utterance was committed)."""
        self._onsets[action.item] = action.onset
        if self.manual:
            return [out.committed(action.item, self._items.last)]
        return [out.speech_started(action.item, self._ms(action.onset))]

    def committed(self, action: act.TurnCommitted) -> list[ServerEvent]:
        """The turn is complete and its text is known."""
        onset = self._onsets.pop(action.item, action.last_voiced)
        if not action.spoken:
            return self._typed(action)
        end = max(onset, action.last_voiced)
        events: list[ServerEvent] = []
        if not self.manual:
            events.append(out.speech_stopped(action.item, self._ms(end)))
            events.append(out.committed(action.item, self._items.last))
        item = out.message_item(action.item, "user", out.spoken_content("user", action.text))
        events += self._items.add_whole(item, "audio")
        events.append(out.transcription_completed(action.item, action.text, (end - onset) / 1e6))
        return events

    def dropped(self, action: act.TurnDropped, now: int) -> list[ServerEvent]:
        """Nothing came of it; a client that saw speech start must see it stop."""
        self._onsets.pop(action.item, None)
        events: list[ServerEvent] = []
        if not self.manual:
            events.append(out.speech_stopped(action.item, self._ms(now)))
        if action.reason == "unrecognised":
            events.append(out.transcription_failed(action.item))
        elif self.manual:
            events.append(out.transcription_completed(action.item, "", 0.0))
        return [*events, out.ours("turn.dropped", item_id=action.item, reason=action.reason)]

    def _typed(self, action: act.TurnCommitted) -> list[ServerEvent]:
        if self._items.kind(action.item):  # the client's own message, confirmed when it came
            return []
        item = out.message_item(action.item, "user", out.text_content("user", action.text))
        return self._items.add_whole(item, "text")

    def _ms(self, at: int) -> int:
        return self._position(at) // 1_000

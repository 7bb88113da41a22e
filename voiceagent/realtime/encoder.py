"""The conversation's actions as server events, in the order that clients accept.

Holds the order state of one session: which item came last, which response is in progress, what of
it was sent. A reply that has ended gets no further audio, whatever arrives late.
"""

from __future__ import annotations

import base64
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from voiceagent.conversation import actions as act
from voiceagent.conversation.events import WordSpan
from voiceagent.realtime import server_events as out
from voiceagent.realtime.errors import ProtocolError
from voiceagent.realtime.fields import RATE
from voiceagent.realtime.items import Items
from voiceagent.realtime.responses import Response
from voiceagent.realtime.rhythm_events import RhythmEvents
from voiceagent.realtime.server_events import ServerEvent
from voiceagent.realtime.session_config import SessionConfig
from voiceagent.realtime.turns import Turns

_REMEMBERED_RESPONSES = 16


class Encoder:
    """``position`` gives the place (microseconds) of a session time in the input audio."""

    def __init__(
        self, session_id: str, position: Callable[[int], int], *, extensions: bool = False
    ) -> None:
        self.session_id, self.extensions = session_id, extensions
        self._config = SessionConfig()
        self.items = Items()
        self._turns = Turns(self.items, position)
        self._conversation_id = f"conv_{session_id.removeprefix('sess_')}"
        self._events = 0
        self._responses: OrderedDict[int, Response] = OrderedDict()
        self._asked: deque[tuple[dict[str, str] | None, str | None]] = deque(maxlen=8)
        """Metadata and event id of the responses asked for and not yet begun or refused."""
        self._culprits: dict[str, str | None] = {}
        self._truncations: dict[str, int] = {}
        rhythm = RhythmEvents(position)
        self._on: dict[type[act.Action], Callable[[Any, int], list[ServerEvent]]] = {
            act.StateChanged: rhythm.state,
            act.TurnStarted: lambda a, _: self._turns.started(a),
            act.PartialHeard: lambda a, _: [
                out.ours("transcript.partial", item_id=a.item, text=a.text)
            ],
            act.TurnCommitted: lambda a, _: self._turns.committed(a),
            act.TurnDropped: self._turns.dropped,
            act.ReplyStarted: self._reply_started,
            act.ReplyText: self._reply_text,
            act.ReplyAudioDone: self._reply_audio_done,
            act.ReplySounded: rhythm.gap,
            act.PauseHeard: rhythm.pause,
            act.ReplyStopped: rhythm.stopped,
            act.TokensSeen: rhythm.tokens,
            act.RouteTold: self._route,
            act.ReplyEnded: self._reply_ended,
            act.HeardChanged: self._heard_changed,
            act.Trouble: self._trouble,
            act.Duck: self._duck,
            act.Flush: self._flush,
        }

    # --- what is known -------------------------------------------------------------------------

    @property
    def active(self) -> Response | None:
        """The response in progress."""
        last = next(reversed(self._responses.values()), None)
        return last if last and last.ended is None else None

    @property
    def config(self) -> SessionConfig:
        """What is in effect."""
        return self._config

    def configure(self, config: SessionConfig) -> None:
        """From now on this is in effect."""
        self._config, self._turns.manual = config, config.manual

    # --- answers to client events --------------------------------------------------------------

    def session(self, kind: Literal["created", "updated"]) -> ServerEvent:
        """``session.created`` or ``session.updated``."""
        return self._stamp(out.session_event(kind, self._config.as_object(self.session_id)))

    def refusal(self, error: ProtocolError) -> ServerEvent:
        """A client event that cannot be carried out."""
        return self._stamp(
            out.error(error.message, code=error.code, param=error.param, event_id=error.event_id)
        )

    def answer(self, event: ServerEvent) -> ServerEvent:
        """An event that needs nothing but its id."""
        return self._stamp(event)

    def ask_clock(self, number: int) -> ServerEvent:
        """What does the client's clock read now?"""
        return self._stamp(out.ours("clock", id=number))

    def message_added(self, item_id: str, role: str, text: str) -> list[ServerEvent]:
        """The client's own message is in the conversation."""
        item = out.message_item(item_id, role, out.text_content(role, text))
        return self._stamped(self.items.add_whole(item, "text"))

    def expect_response(self, metadata: dict[str, str] | None, event_id: str | None) -> None:
        """The client asked for a response: the next one carries its metadata."""
        self._asked.append((metadata, event_id))

    def expect_cancel(self, event_id: str | None) -> None:
        """The client asked to stop the response in progress."""
        self._culprits[act.NOT_ACTIVE] = event_id
        if self.active:
            self.active.cancel_asked = True

    def expect_truncation(self, item_id: str, audio_end_ms: int, event_id: str | None) -> None:
        """The client says how much it played; never more than it was sent."""
        known = self._of_item(item_id)
        sent_ms = known.samples * 1_000 // RATE if known else audio_end_ms
        self._truncations[item_id] = min(audio_end_ms, sent_ms)
        self._culprits[act.NO_ITEM] = event_id

    # --- what happens --------------------------------------------------------------------------

    def action(self, action: act.Action, now: int) -> list[ServerEvent]:
        """The events that tell a client of ``action`` (session time ``now``); maybe none."""
        encode = self._on.get(type(action))
        events = encode(action, now) if encode else []
        if not self.extensions:
            events = [event for event in events if not event["type"].startswith("voiceagent.")]
        return self._stamped(events)

    def audio(self, reply: int, pcm: NDArray[np.int16]) -> list[ServerEvent]:
        """The next samples (24 kHz) of a reply; none of one that has ended."""
        response = self._responses.get(reply)
        if response is None or response.ended or response.audio_done:
            return []
        response.samples += len(pcm)
        delta = base64.b64encode(pcm.astype("<i2", copy=False).tobytes()).decode("ascii")
        sent = out.audio_delta(response.id, response.item, delta)
        return self._stamped([sent, *response.audio_sent()])

    def clause(
        self,
        reply: int,
        clause: int,
        text: str,
        first: int,
        samples: int,
        words: tuple[WordSpan, ...],
    ) -> list[ServerEvent]:
        """A clause was handed to playout."""
        response = self._responses.get(reply)
        if response is None or response.ended:
            return []
        response.total = first + samples
        if not self.extensions:
            return []
        event = out.clause(response.id, response.item, clause, text, first, samples, words)
        return self._stamped([event])

    # --- replies -------------------------------------------------------------------------------

    def _reply_started(self, action: act.ReplyStarted, _now: int) -> list[ServerEvent]:
        response = Response(
            action.reply,
            action.item,
            self.items.add(action.item, "audio"),
            self._conversation_id,
            self._config,
            self._next_asked()[0],
        )
        self._responses[action.reply] = response
        while len(self._responses) > _REMEMBERED_RESPONSES:
            self._responses.popitem(last=False)
        return response.begin()

    def _reply_text(self, action: act.ReplyText, _now: int) -> list[ServerEvent]:
        response = self._responses.get(action.reply)
        if response is None or response.ended or response.audio_done:
            return []
        response.text += action.delta
        return [out.transcript_delta(response.id, response.item, action.delta)]

    def _reply_audio_done(self, action: act.ReplyAudioDone, _now: int) -> list[ServerEvent]:
        response = self._responses.get(action.reply)
        if response is None or response.ended:
            return []
        response.whole_text = action.text
        return response.audio_sent()

    def _reply_ended(self, action: act.ReplyEnded, _now: int) -> list[ServerEvent]:
        response = self._responses.get(action.reply)
        if response is None or response.ended:
            return []
        return [*response.end(action), self._heard(response, action.heard)]

    def _route(self, action: act.RouteTold, _now: int) -> list[ServerEvent]:
        response_id = f"resp_{action.reply}"
        return [out.ours("route", response_id=response_id, item_id=action.item, **action.route)]

    def _heard_changed(self, action: act.HeardChanged, _now: int) -> list[ServerEvent]:
        events = []
        audio_end_ms = self._truncations.pop(action.item, None)
        if audio_end_ms is not None:
            events.append(out.item_truncated(action.item, audio_end_ms))
        response = self._responses.get(action.reply)
        return [*events, self._heard(response, action.heard)] if response else events

    def _heard(self, response: Response, heard: str) -> ServerEvent:
        ended = response.ended
        status, text = (ended.status, ended.text) if ended else ("interrupted", response.text)
        return out.heard(response.id, response.item, status, text, heard)

    def _duck(self, action: act.Duck, _now: int) -> list[ServerEvent]:
        return self._playout("playout.duck", action.reply, on=action.on)

    def _flush(self, action: act.Flush, _now: int) -> list[ServerEvent]:
        return self._playout("playout.flush", action.reply)

    def _playout(self, kind: str, reply: int, **fields: Any) -> list[ServerEvent]:
        response = self._responses.get(reply)
        if response is None:
            return []
        return [out.ours(kind, response_id=response.id, item_id=response.item, **fields)]

    # --- troubles ------------------------------------------------------------------------------

    def _trouble(self, action: act.Trouble, _now: int) -> list[ServerEvent]:
        code, message = action.code, action.message
        if code == act.ACTIVE:
            return [out.error(message, code=code, event_id=self._next_asked()[1])]
        if code == act.NOT_ACTIVE:
            return [out.error(message, code=code, event_id=self._culprits.pop(code, None))]
        if code == act.NO_ITEM:
            return self._not_truncated(message)
        if self.active:  # told with the response's end, which a client need not take for fatal
            self.active.trouble = (code, message)
        if self.extensions:
            return [out.ours("notice", code=code, message=message)]
        return [] if self.active else [out.error(message, code=code, kind="server_error")]

    def _not_truncated(self, message: str) -> list[ServerEvent]:
        if not self._truncations:  # an item that was deleted after the history had let it go
            return []
        self._truncations.clear()
        event_id = self._culprits.pop(act.NO_ITEM, None)
        return [out.error(message, code="item_truncate_invalid_item_id", event_id=event_id)]

    def _next_asked(self) -> tuple[dict[str, str] | None, str | None]:
        return self._asked.popleft() if self._asked else (None, None)

    # --- small things --------------------------------------------------------------------------

    def _of_item(self, item_id: str) -> Response | None:
        return next((known for known in self._responses.values() if known.item == item_id), None)

    def _stamped(self, events: list[ServerEvent]) -> list[ServerEvent]:
        return [self._stamp(event) for event in events]

    def _stamp(self, event: ServerEvent) -> ServerEvent:
        self._events += 1
        return {"event_id": f"event_{self._events}", **event}

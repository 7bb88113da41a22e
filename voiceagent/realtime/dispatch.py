"""A client's events carried out on its session; what can be answered at once is answered here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from audio.pcm import ByteCarry
from voiceagent.conversation import events as ev
from voiceagent.realtime import client_events as ce
from voiceagent.realtime import server_events as out
from voiceagent.realtime.encoder import Encoder
from voiceagent.realtime.errors import ProtocolError
from voiceagent.realtime.fields import RATE
from voiceagent.realtime.server_events import ServerEvent
from voiceagent.realtime.session_config import SessionConfig

MOST_MESSAGES = 1_000
"""Messages that a client may put into one session's conversation."""


class Conversing(Protocol):
    """What a client's events need of a session; see ``voiceagent.session.Session``."""

    def now_us(self) -> int: ...

    def hear(self, pcm: NDArray[np.int16]) -> None: ...

    def post(self, event: ev.Event) -> None: ...

    def set_manual(self, manual: bool) -> None: ...

    def commit_input(self) -> bool: ...

    def clear_input(self) -> None: ...

    def playout_report(
        self,
        item: str,
        played_samples: int,
        input_ms: float | None,
        kind: ev.PlayoutKind,
        stretched_samples: int = 0,
        cushion_ms: float | None = None,
    ) -> None: ...

    def clock_answered(self, number: int, input_ms: float) -> None: ...

    def item(self, item_id: str) -> dict[str, Any] | None: ...


class Dispatcher:
    """``send`` takes the server events that answer; it must not block.

    ``admit`` is asked about each piece of audio (its number of samples); False drops it.
    """

    def __init__(
        self,
        session: Conversing,
        encoder: Encoder,
        send: Callable[[ServerEvent], None],
        admit: Callable[[int], bool] = lambda _samples: True,
    ) -> None:
        self._session, self._encoder = session, encoder
        self._send, self._admit = send, admit
        self._carry = ByteCarry()
        self._messages = 0
        self._on: dict[type[ce.ClientEvent], Callable[[Any], None]] = {
            ce.SessionUpdate: self._session_update,
            ce.AudioAppend: self._audio_append,
            ce.AudioCommit: self._audio_commit,
            ce.AudioClear: self._audio_clear,
            ce.ItemCreate: self._item_create,
            ce.ItemDelete: self._item_delete,
            ce.ItemRetrieve: self._item_retrieve,
            ce.ItemTruncate: self._item_truncate,
            ce.ResponseCreate: self._response_create,
            ce.ResponseCancel: self._response_cancel,
            ce.OutputAudioClear: self._output_audio_clear,
            ce.PlayoutReport: self._playout_report,
            ce.ClockReply: self._clock_reply,
        }

    def handle(self, event: ce.ClientEvent) -> None:
        """Carry out one event. Raises ``ProtocolError`` when it cannot be."""
        try:
            self._on[type(event)](event)
        except ProtocolError as error:
            error.event_id = event.event_id
            raise

    # --- the session and its audio -------------------------------------------------------------

    def _session_update(self, event: ce.SessionUpdate) -> None:
        before, after = self._encoder.config, self._encoder.config.merged(event.session)
        self._encoder.configure(after)
        self._send(self._encoder.session("updated"))
        if after.manual != before.manual:
            self._session.set_manual(after.manual)
        change = _change(before, after, self._session.now_us())
        if change:
            self._session.post(change)

    def _audio_append(self, event: ce.AudioAppend) -> None:
        pcm = self._carry.push(event.audio)
        if len(pcm) and self._admit(len(pcm)):
            self._session.hear(pcm)

    def _audio_commit(self, _event: ce.AudioCommit) -> None:
        if not self._encoder.config.manual:
            message = "Turn detection ends the turns; set 'turn_detection' to null to commit them"
            raise ProtocolError(message, code="input_audio_buffer_commit_not_manual")
        if not self._session.commit_input():
            message = "The input audio buffer is empty: nothing to commit"
            raise ProtocolError(message, code="input_audio_buffer_commit_empty")

    def _audio_clear(self, _event: ce.AudioClear) -> None:
        self._carry = ByteCarry()
        self._session.clear_input()
        self._send(self._encoder.answer({"type": "input_audio_buffer.cleared"}))

    # --- items ---------------------------------------------------------------------------------

    def _item_create(self, event: ce.ItemCreate) -> None:
        items, item = self._encoder.items, event.item
        if event.previous_item_id not in (None, items.last or "root"):
            message = (
                "An item can only be appended: 'previous_item_id' must be the last item or null"
            )
            raise ProtocolError(message, code="unsupported_parameter", param="previous_item_id")
        if item.id and (items.kind(item.id) or self._session.item(item.id)):
            message = f"There is already an item {item.id!r}"
            raise ProtocolError(message, code="item_already_exists", param="item.id")
        self._messages += 1
        if self._messages > MOST_MESSAGES:
            message = f"A session takes at most {MOST_MESSAGES} messages"
            raise ProtocolError(message, code="too_many_items")
        item_id = item.id or f"item_client_{self._messages}"
        for answer in self._encoder.message_added(item_id, item.role, item.text):
            self._send(answer)
        self._session.post(ev.MessageAdded(self._session.now_us(), item_id, item.role, item.text))

    def _item_delete(self, event: ce.ItemDelete) -> None:
        self._known(event.item_id, "delete")
        self._encoder.items.remove(event.item_id)
        self._session.post(ev.ItemDeleted(self._session.now_us(), event.item_id))
        self._send(self._encoder.answer(out.item_deleted(event.item_id)))

    def _item_retrieve(self, event: ce.ItemRetrieve) -> None:
        self._known(event.item_id, "retrieve")
        item = self._session.item(event.item_id)
        if item is None:
            raise _no_item(event.item_id, "retrieve")
        spoken = self._encoder.items.kind(event.item_id) == "audio"
        content = out.spoken_content if spoken else out.text_content
        message = out.message_item(item["id"], item["role"], content(item["role"], item["text"]))
        self._send(self._encoder.answer(out.item_retrieved(message)))

    def _item_truncate(self, event: ce.ItemTruncate) -> None:
        self._known(event.item_id, "truncate")
        self._encoder.expect_truncation(event.item_id, event.audio_end_ms, event.event_id)
        samples = event.audio_end_ms * RATE // 1_000
        self._session.post(ev.ItemTruncated(self._session.now_us(), event.item_id, samples))

    def _known(self, item_id: str, verb: str) -> None:
        if self._encoder.items.kind(item_id) is None:
            raise _no_item(item_id, verb)

    # --- responses -----------------------------------------------------------------------------

    def _response_create(self, event: ce.ResponseCreate) -> None:
        options = event.response or ce.ResponseOptions()
        self._encoder.expect_response(options.metadata, event.event_id)
        self._session.post(ev.ReplyRequested(self._session.now_us(), options.instructions or None))

    def _response_cancel(self, event: ce.ResponseCancel) -> None:
        active = self._encoder.active
        if event.response_id is not None and (active is None or active.id != event.response_id):
            message = f"The response {event.response_id!r} is not in progress"
            raise ProtocolError(message, code="response_cancel_not_active", param="response_id")
        self._encoder.expect_cancel(event.event_id)
        self._session.post(ev.ReplyCancelled(self._session.now_us()))

    def _output_audio_clear(self, event: ce.OutputAudioClear) -> None:
        active = self._encoder.active
        if active is None:  # there is nothing to clear, which is what was asked for
            return
        self._encoder.expect_cancel(event.event_id)
        self._session.post(ev.ReplyCancelled(self._session.now_us()))
        cleared = {"type": "output_audio_buffer.cleared", "response_id": active.id}
        self._send(self._encoder.answer(cleared))

    def _playout_report(self, event: ce.PlayoutReport) -> None:
        self._session.playout_report(
            event.item_id,
            event.played_samples,
            event.input_ms,
            event.kind,
            event.stretched_samples,
            event.cushion_ms,
        )

    def _clock_reply(self, event: ce.ClockReply) -> None:
        self._session.clock_answered(event.id, event.input_ms)


def _no_item(item_id: str, verb: str) -> ProtocolError:
    message = f"There is no item {item_id!r} to {verb}"
    return ProtocolError(message, code=f"item_{verb}_invalid_item_id", param="item_id")


def _change(before: SessionConfig, after: SessionConfig, now: int) -> ev.SessionConfigured | None:
    """What else than manual turns changed, or None."""
    was, is_now = before.turn_detection, after.turn_detection
    change = ev.SessionConfigured(
        now,
        create_response=is_now.create_response if is_now and is_now != was else None,
        interrupt_response=is_now.interrupt_response if is_now and is_now != was else None,
        instructions=after.instructions if after.instructions != before.instructions else None,
        max_tokens=(
            after.max_output_tokens if after.max_output_tokens != before.max_output_tokens else None
        ),
    )
    return None if change == ev.SessionConfigured(now) else change

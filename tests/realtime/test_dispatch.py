"""A client's events on a session: what is called, what is answered, what is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.kit.official import validate
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.realtime.client_events import parse
from voiceagent.realtime.dispatch import MOST_MESSAGES, Dispatcher
from voiceagent.realtime.encoder import Encoder
from voiceagent.realtime.errors import ProtocolError


class NotedSession:
    """A session that notes what it is asked to do (a simulation)."""

    def __init__(self) -> None:
        self.posted: list[ev.Event] = []
        self.calls: list[tuple[Any, ...]] = []
        self.pcm: list[NDArray[np.int16]] = []
        self.history: dict[str, dict[str, Any]] = {}
        self.buffer_is_empty = False

    def now_us(self) -> int:
        return 5

    def hear(self, pcm: NDArray[np.int16]) -> None:
        self.pcm.append(pcm)

    def post(self, event: ev.Event) -> None:
        self.posted.append(event)

    def set_manual(self, manual: bool) -> None:
        self.calls.append(("manual", manual))

    def commit_input(self) -> bool:
        self.calls.append(("commit",))
        return not self.buffer_is_empty

    def clear_input(self) -> None:
        self.calls.append(("clear",))

    def playout_report(self, *report: Any) -> None:
        self.calls.append(("report", *report))

    def clock_answered(self, number: int, input_ms: float) -> None:
        self.calls.append(("clock", number, input_ms))

    def item(self, item_id: str) -> dict[str, Any] | None:
        return self.history.get(item_id)


class Desk:
    def __init__(self) -> None:
        self.session = NotedSession()
        self.encoder = Encoder("sess_1", lambda at: at, extensions=True)
        self.sent: list[dict[str, Any]] = []
        self.admitting = True
        self.dispatcher = Dispatcher(
            self.session, self.encoder, self.sent.append, lambda _samples: self.admitting
        )

    def send(self, kind: str, /, **fields: Any) -> list[dict[str, Any]]:
        del self.sent[:]
        frame = json.dumps({"type": kind, "event_id": "mine", **fields})
        self.dispatcher.handle(parse(frame, extensions=True))
        for event in self.sent:
            validate(event)
        return list(self.sent)

    def refused(self, kind: str, /, **fields: Any) -> str:
        with pytest.raises(ProtocolError) as caught:
            self.send(kind, **fields)
        assert caught.value.event_id == "mine"
        validate(self.encoder.refusal(caught.value))
        return caught.value.code


def message(text: str = "Hello", **fields: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content, **fields}


def append(pcm: bytes) -> dict[str, Any]:
    return {"audio": base64.b64encode(pcm).decode()}


def test_an_update_is_answered_and_only_what_changed_reaches_the_session() -> None:
    desk = Desk()
    (updated,) = desk.send("session.update", session={"instructions": "Be brief."})
    assert updated["session"]["instructions"] == "Be brief."
    desk.send("session.update", session={"instructions": "Be brief.", "max_output_tokens": "inf"})
    assert desk.session.posted == [ev.SessionConfigured(5, instructions="Be brief.")]
    assert desk.session.calls == []


def test_turning_detection_off_and_on_makes_turns_manual_and_back() -> None:
    desk = Desk()
    off: dict[str, Any] = {"audio": {"input": {"turn_detection": None}}}
    on = {"audio": {"input": {"turn_detection": {"type": "server_vad"}}}}
    desk.send("session.update", session=off)
    desk.send("session.update", session=off)
    desk.send("session.update", session=on)
    assert desk.session.calls == [("manual", True), ("manual", False)]


def test_a_refused_update_changes_nothing() -> None:
    desk = Desk()
    session = {"instructions": "x", "audio": {"input": {"format": {"type": "audio/pcmu"}}}}
    with pytest.raises(ProtocolError):
        desk.send("session.update", session=session)
    assert desk.encoder.config.instructions == ""
    assert desk.session.posted == []


def test_audio_cut_anywhere_gives_the_same_samples() -> None:
    desk, pcm = Desk(), np.arange(-500, 500, dtype=np.int16)
    data = pcm.astype("<i2").tobytes()
    for start in range(0, len(data), 7):
        assert desk.send("input_audio_buffer.append", **append(data[start : start + 7])) == []
    assert np.array_equal(np.concatenate(desk.session.pcm), pcm)


def test_audio_that_is_not_admitted_is_not_heard() -> None:
    desk = Desk()
    desk.admitting = False
    desk.send("input_audio_buffer.append", **append(b"\0" * 480))
    assert desk.session.pcm == []


def test_d05_commit_is_for_manual_turns_and_an_empty_buffer_is_an_error() -> None:
    desk = Desk()
    assert desk.refused("input_audio_buffer.commit") == "input_audio_buffer_commit_not_manual"
    desk.send("session.update", session={"audio": {"input": {"turn_detection": None}}})
    assert desk.send("input_audio_buffer.commit") == []
    desk.session.buffer_is_empty = True
    assert desk.refused("input_audio_buffer.commit") == "input_audio_buffer_commit_empty"
    assert [e["type"] for e in desk.send("input_audio_buffer.clear")] == [
        "input_audio_buffer.cleared"
    ]
    assert desk.session.calls[-1] == ("clear",)


def test_a_message_is_confirmed_then_told_to_the_conversation() -> None:
    desk = Desk()
    added, done = desk.send("conversation.item.create", item=message("Is it cold?"))
    assert added["item"]["content"] == [{"type": "input_text", "text": "Is it cold?"}]
    item_id = done["item"]["id"]
    assert desk.session.posted == [ev.MessageAdded(5, item_id, "user", "Is it cold?")]
    desk.send("conversation.item.create", item=message(id="mine"), previous_item_id=item_id)
    assert desk.encoder.items.last == "mine"


def test_a_message_elsewhere_than_at_the_end_or_with_a_taken_id_is_refused() -> None:
    desk = Desk()
    desk.send("conversation.item.create", item=message(id="a"), previous_item_id="root")
    code = desk.refused("conversation.item.create", item=message(), previous_item_id="root")
    assert code == "unsupported_parameter"
    code = desk.refused("conversation.item.create", item=message(), previous_item_id="nowhere")
    assert code == "unsupported_parameter"
    assert desk.refused("conversation.item.create", item=message(id="a")) == "item_already_exists"


def test_messages_are_bounded() -> None:
    desk = Desk()
    for _ in range(MOST_MESSAGES):
        desk.send("conversation.item.create", item=message())
    assert desk.refused("conversation.item.create", item=message()) == "too_many_items"


def test_items_are_retrieved_as_what_they_are() -> None:
    desk = Desk()
    desk.send("conversation.item.create", item=message("typed", id="a"))
    desk.encoder.action(act.TurnCommitted("b", "spoken", 0, spoken=True), 0)
    desk.encoder.action(act.ReplyStarted(1, "c"), 0)
    for item_id, role, text in [("a", "user", "typed"), ("b", "user", "spoken")]:
        desk.session.history[item_id] = {"id": item_id, "role": role, "text": text}
    desk.session.history["c"] = {"id": "c", "role": "assistant", "text": "only what was heard"}
    content = {
        item_id: desk.send("conversation.item.retrieve", item_id=item_id)[0]["item"]["content"]
        for item_id in "abc"
    }
    assert content == {
        "a": [{"type": "input_text", "text": "typed"}],
        "b": [{"type": "input_audio", "transcript": "spoken"}],
        "c": [{"type": "output_audio", "transcript": "only what was heard"}],
    }


@pytest.mark.parametrize("verb", ["delete", "retrieve", "truncate"])
def test_unknown_items_are_one_clear_error(verb: str) -> None:
    desk = Desk()
    code = desk.refused(f"conversation.item.{verb}", item_id="nobody", audio_end_ms=1)
    assert code == f"item_{verb}_invalid_item_id"
    assert desk.session.posted == []


def test_delete_and_truncate_reach_the_conversation() -> None:
    desk = Desk()
    desk.encoder.action(act.ReplyStarted(1, "item_1"), 0)
    truncate = {"item_id": "item_1", "content_index": 0, "audio_end_ms": 250}
    assert desk.send("conversation.item.truncate", **truncate) == []
    (deleted,) = desk.send("conversation.item.delete", item_id="item_1")
    assert deleted["item_id"] == "item_1"
    assert desk.session.posted == [
        ev.ItemTruncated(5, "item_1", 6_000),
        ev.ItemDeleted(5, "item_1"),
    ]


def test_response_requests_reach_the_conversation() -> None:
    desk = Desk()
    desk.send("response.create")
    desk.send("response.create", response={"instructions": "Say hi."})
    desk.send("response.cancel")
    assert desk.session.posted == [
        ev.ReplyRequested(5, None),
        ev.ReplyRequested(5, "Say hi."),
        ev.ReplyCancelled(5),
    ]


def test_a_cancel_of_another_response_stops_nothing() -> None:
    desk = Desk()
    desk.encoder.action(act.ReplyStarted(4, "item_1"), 0)
    code = desk.refused("response.cancel", response_id="resp_3")
    assert code == "response_cancel_not_active"
    desk.send("response.cancel", response_id="resp_4")
    assert desk.session.posted == [ev.ReplyCancelled(5)]


def test_clearing_the_output_is_a_cancel_and_nothing_when_there_is_none() -> None:
    desk = Desk()
    assert desk.send("output_audio_buffer.clear") == []
    desk.encoder.action(act.ReplyStarted(1, "item_1"), 0)
    (cleared,) = desk.send("output_audio_buffer.clear")
    assert cleared["response_id"] == "resp_1"
    assert desk.session.posted == [ev.ReplyCancelled(5)]


def test_playout_reports_reach_the_session() -> None:
    desk = Desk()
    report = {"item_id": "item_2", "played_samples": 0, "input_ms": 20.5, "kind": "started"}
    desk.send("voiceagent.playout.report", **report)
    desk.send("voiceagent.playout.report", **report, stretched_samples=480, cushion_ms=61.5)
    assert desk.session.calls == [
        ("report", "item_2", 0, 20.5, "started", 0, None),
        ("report", "item_2", 0, 20.5, "started", 480, 61.5),
    ]


def test_what_the_clients_clock_reads_reaches_the_session() -> None:
    desk = Desk()
    desk.send("voiceagent.clock.reply", id=3, input_ms=1_020.5)
    assert desk.session.calls == [("clock", 3, 1_020.5)]

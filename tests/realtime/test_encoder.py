"""The conversation's actions as server events: exact shapes, and the order clients accept."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from tests.kit.official import SERVER_EVENTS, validate
from voiceagent.conversation import actions as act
from voiceagent.conversation.events import WordSpan
from voiceagent.realtime.encoder import Encoder
from voiceagent.realtime.session_config import SessionConfig

SECOND = 1_000_000
NOW = 9 * SECOND


class Wire:
    """An encoder whose every event is checked against the official models."""

    def __init__(self, *, extensions: bool = False) -> None:
        self.encoder = Encoder("sess_1", lambda at: at - SECOND, extensions=extensions)
        self.sent: list[dict[str, Any]] = []

    def tell(self, *actions: act.Action) -> list[dict[str, Any]]:
        return self.keep([e for action in actions for e in self.encoder.action(action, NOW)])

    def audio(self, reply: int, samples: int) -> list[dict[str, Any]]:
        return self.keep(self.encoder.audio(reply, np.zeros(samples, np.int16)))

    def clause(self, reply: int, first: int, samples: int) -> list[dict[str, Any]]:
        words = (WordSpan(0, 5, 240, 4_800),)
        return self.keep(self.encoder.clause(reply, 0, "Forty nine.", first, samples, words))

    def keep(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for event in events:
            if not event["type"].startswith("voiceagent."):
                validate(event)
        self.sent += events
        return events

    def user_turn(self, item: str = "item_1") -> list[dict[str, Any]]:
        return self.tell(
            act.TurnStarted(item, 2 * SECOND),
            act.TurnCommitted(item, "What do I owe?", 5 * SECOND, spoken=True),
        )


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def test_a_spoken_turn_comes_in_the_order_that_official_clients_accept() -> None:
    wire = Wire()
    wire.user_turn()
    wire.tell(act.ReplyStarted(1, "item_2"), act.ReplyText(1, "item_2", "Forty nine."))
    wire.clause(1, 0, 4_800)
    wire.tell(act.ReplyAudioDone(1, "item_2", "Forty nine."))
    wire.audio(1, 2_400)
    wire.audio(1, 2_400)
    wire.tell(act.ReplyEnded(1, "item_2", "completed", "Forty nine.", "Forty nine."))
    assert types(wire.sent) == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.completed",
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    ids = [event["event_id"] for event in wire.sent]
    assert len(set(ids)) == len(ids)


def test_items_form_one_chain() -> None:
    wire = Wire()
    wire.user_turn("item_1")
    wire.tell(act.ReplyStarted(1, "item_2"))
    wire.tell(act.ReplyEnded(1, "item_2", "interrupted", "Forty nine.", "Forty"))
    wire.keep(wire.encoder.message_added("mine", "user", "And now?"))
    wire.user_turn("item_3")
    chain = {
        event["item"]["id"]: event["previous_item_id"]
        for event in wire.sent
        if event["type"] == "conversation.item.added"
    }
    assert chain == {"item_1": None, "item_2": "item_1", "mine": "item_2", "item_3": "mine"}
    done = [event for event in wire.sent if event["type"] == "conversation.item.done"]
    assert {event["item"]["id"]: event["previous_item_id"] for event in done} == chain
    wire.encoder.items.remove("item_3")
    assert wire.encoder.items.last == "mine"


def test_times_are_places_in_the_clients_audio() -> None:
    started, stopped, *_, transcription = Wire().user_turn()
    assert (started["audio_start_ms"], stopped["audio_end_ms"]) == (1_000, 4_000)
    assert transcription["usage"] == {"type": "duration", "seconds": 3.0}
    assert transcription["transcript"] == "What do I owe?"


def test_audio_is_little_endian_base64_and_its_end_follows_its_last_sample() -> None:
    wire = Wire()
    wire.tell(act.ReplyStarted(1, "item_1"), act.ReplyText(1, "item_1", "Hi."))
    wire.clause(1, 0, 3)
    (delta,) = wire.keep(wire.encoder.audio(1, np.array([1, -2], np.int16)))
    assert base64.b64decode(delta["delta"]) == b"\x01\x00\xfe\xff"
    assert wire.tell(act.ReplyAudioDone(1, "item_1", "Hi.")) == []
    assert types(wire.audio(1, 1)) == [
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
    ]


@pytest.mark.parametrize("status", ["interrupted", "cancelled", "failed"])
def test_o01_late_audio_of_an_ended_reply_is_not_sent(status: act.ReplyStatus) -> None:
    wire = Wire(extensions=True)
    wire.tell(act.ReplyStarted(1, "item_1"))
    wire.audio(1, 480)
    wire.tell(act.ReplyEnded(1, "item_1", status, "Forty nine.", ""))
    wire.tell(act.ReplyStarted(2, "item_2"))
    assert wire.audio(1, 480) == []
    assert wire.clause(1, 480, 480) == []
    assert wire.tell(act.ReplyText(1, "item_1", "late")) == []
    assert wire.tell(act.ReplyEnded(1, "item_1", status, "", "")) == []
    assert types(wire.audio(2, 480)) == ["response.output_audio.delta"]
    assert wire.audio(99, 480) == []


def test_of_a_reply_cut_short_the_item_keeps_only_what_was_heard() -> None:
    wire = Wire()
    wire.tell(act.ReplyStarted(1, "item_1"), act.ReplyText(1, "item_1", "Forty nine dollars."))
    ended = wire.tell(act.ReplyEnded(1, "item_1", "interrupted", "Forty nine dollars.", "Forty"))
    assert types(ended)[:3] == [
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
    ]
    response = ended[-1]["response"]
    assert response["status"] == "cancelled"
    assert response["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    (item,) = response["output"]
    assert item["content"] == [{"type": "output_audio", "transcript": "Forty"}]
    assert item["status"] == "incomplete"


def test_a_cancel_that_the_client_asked_for_says_so() -> None:
    wire = Wire()
    wire.tell(act.ReplyStarted(1, "item_1"))
    wire.encoder.expect_cancel("e1")
    ended = wire.tell(act.ReplyEnded(1, "item_1", "cancelled", "", ""))
    assert ended[-1]["response"]["status_details"]["reason"] == "client_cancelled"
    wire.tell(act.ReplyStarted(2, "item_2"))
    ended = wire.tell(act.ReplyEnded(2, "item_2", "cancelled", "", ""))
    assert ended[-1]["response"]["status_details"]["reason"] == "turn_detected"


def test_l06_a_failure_is_told_with_the_response_and_as_a_notice() -> None:
    for extensions in (False, True):
        wire = Wire(extensions=extensions)
        wire.tell(act.ReplyStarted(1, "item_1"))
        told = wire.tell(act.Trouble("unavailable", "No answer came."))
        assert types(told) == (["voiceagent.notice"] if extensions else [])
        wire.tell(act.ReplyEnded(1, "item_1", "failed", "Sorry.", "Sorry."))
        done = next(event for event in wire.sent if event["type"] == "response.done")
        assert done["response"]["status"] == "failed"
        assert done["response"]["status_details"]["error"]["message"] == "No answer came."
    outside = Wire().tell(act.Trouble("unavailable", "No answer came."))
    assert outside[0]["error"]["type"] == "server_error"


def test_refused_requests_have_the_exact_codes_and_name_the_culprit() -> None:
    wire = Wire(extensions=True)
    wire.encoder.expect_response({"n": "1"}, "first")
    wire.encoder.expect_response({"n": "2"}, "second")
    (created, *_) = wire.tell(act.ReplyStarted(1, "item_1"))
    assert created["response"]["metadata"] == {"n": "1"}
    (refused,) = wire.tell(act.Trouble("conversation_already_has_active_response", "Busy."))
    assert refused["error"]["code"] == "conversation_already_has_active_response"
    assert refused["error"]["event_id"] == "second"
    wire.tell(act.ReplyEnded(1, "item_1", "completed", "", ""))
    wire.encoder.expect_cancel("third")
    (refused,) = wire.tell(act.Trouble("response_cancel_not_active", "Nothing to cancel."))
    assert refused["error"]["code"] == "response_cancel_not_active"
    assert refused["error"]["event_id"] == "third"
    (created, *_) = wire.tell(act.ReplyStarted(2, "item_2"))
    assert created["response"]["metadata"] is None


def test_t23_truncate_beyond_the_sent_audio_is_clamped() -> None:
    wire = Wire()
    wire.tell(act.ReplyStarted(1, "item_1"))
    wire.clause(1, 0, 146_400)
    wire.audio(1, 146_400)  # 6100 ms
    wire.tell(act.ReplyEnded(1, "item_1", "interrupted", "Long.", "Long."))
    wire.encoder.expect_truncation("item_1", 6_185, "e1")
    (truncated,) = wire.tell(act.HeardChanged(1, "item_1", "Long."))
    assert (truncated["type"], truncated["audio_end_ms"]) == ("conversation.item.truncated", 6_100)
    assert wire.tell(act.HeardChanged(1, "item_1", "Long.")) == []  # told once


def test_truncate_of_what_was_never_spoken_is_an_error() -> None:
    wire = Wire()
    wire.encoder.expect_truncation("mine", 10, "e1")
    (error,) = wire.tell(act.Trouble("item_not_found", "There is no spoken item."))
    assert error["error"]["code"] == "item_truncate_invalid_item_id"
    assert error["error"]["event_id"] == "e1"


def test_manual_turns_are_confirmed_at_once_and_no_speech_is_announced() -> None:
    wire = Wire()
    wire.encoder.configure(SessionConfig(turn_detection=None))
    assert types(wire.tell(act.TurnStarted("item_1", SECOND))) == ["input_audio_buffer.committed"]
    assert types(wire.tell(act.TurnCommitted("item_1", "Hi.", SECOND, spoken=True))) == [
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.completed",
    ]
    wire.tell(act.TurnStarted("item_2", SECOND))
    (empty,) = wire.tell(act.TurnDropped("item_2", "empty"))
    assert empty["transcript"] == ""


@pytest.mark.parametrize("reason", ["empty", "backchannel", "unrecognised"])
def test_a_dropped_turn_ends_the_speech_that_was_announced(reason: Any) -> None:
    wire = Wire()
    wire.tell(act.TurnStarted("item_1", 2 * SECOND))
    told = wire.tell(act.TurnDropped("item_1", reason))
    assert told[0]["type"] == "input_audio_buffer.speech_stopped"
    assert told[0]["audio_end_ms"] == 8_000
    failed = "conversation.item.input_audio_transcription.failed"
    assert (failed in types(told)) == (reason == "unrecognised")


OURS: list[act.Action] = [
    act.StateChanged("speaking", "idle"),
    act.PartialHeard("item_9", "what do"),
    act.Duck(1, True),
    act.Flush(1),
    act.ReplySounded(1, "item_1", 412_000, True, (("endpointing", 300_000), ("clause", 112_000))),
    act.HeardChanged(1, "item_1", "Forty"),
]


def test_stock_clients_get_the_protocols_events_only() -> None:
    wire = Wire()
    wire.tell(act.ReplyStarted(1, "item_1"))
    assert wire.tell(*OURS) == []
    assert wire.clause(1, 0, 100) == []
    ended = wire.tell(act.ReplyEnded(1, "item_1", "completed", "x", "x"))
    assert all(event["type"] in SERVER_EVENTS for event in ended)


def test_clients_that_ask_get_the_extensions() -> None:
    wire = Wire(extensions=True)
    wire.tell(act.ReplyStarted(1, "item_1"))
    state, partial, duck, flush, gap, heard = (
        {key: value for key, value in event.items() if key != "event_id"}
        for event in wire.tell(*OURS)
    )
    said = {"user": "speaking", "agent": "idle", "at_ms": 8_000.0}
    assert state == {"type": "voiceagent.state", **said}
    assert partial["text"] == "what do"
    where = {"response_id": "resp_1", "item_id": "item_1"}
    assert duck == {"type": "voiceagent.playout.duck", **where, "on": True}
    assert flush == {"type": "voiceagent.playout.flush", **where}
    assert gap["item_id"] == "item_1"
    assert heard["heard"] == "Forty"
    (clause,) = wire.clause(1, 2_400, 9_600)
    assert clause["words"] == [{"start": 0, "end": 5, "first_sample": 2_640, "last_sample": 7_200}]
    ended = wire.tell(act.ReplyEnded(1, "item_1", "interrupted", "Forty nine.", "Forty"))
    assert ended[-1]["type"] == "voiceagent.heard"
    assert (ended[-1]["status"], ended[-1]["text"]) == ("interrupted", "Forty nine.")
    (again,) = wire.tell(act.HeardChanged(1, "item_1", ""))
    assert (again["status"], again["text"], again["heard"]) == ("interrupted", "Forty nine.", "")


def test_m03_an_unknown_gap_is_null() -> None:
    wire = Wire(extensions=True)
    (gap,) = wire.tell(act.ReplySounded(1, "item_1", None, False, ()))
    assert (gap["gap_ms"], gap["class"], gap["parts"]) == (None, None, [])


def test_what_is_kept_is_bounded() -> None:
    wire = Wire()
    for reply in range(1, 1_200):
        wire.tell(act.TurnStarted(f"u{reply}", 0), act.TurnDropped(f"u{reply}", "empty"))
        wire.tell(act.ReplyStarted(reply, f"a{reply}"))
        wire.tell(act.ReplyEnded(reply, f"a{reply}", "completed", "", ""))
    encoder = wire.encoder
    assert len(encoder._responses) <= 16
    assert len(encoder.items._kinds) <= 1_024
    assert not encoder._turns._onsets

"""What a client sends: typed and bounded, or one clear error."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.official import CLIENT_EVENTS
from voiceagent.realtime import client_events as ce
from voiceagent.realtime.client_events import parse
from voiceagent.realtime.errors import ProtocolError
from voiceagent.realtime.session_config import SessionPatch

PCM = base64.b64encode(b"\x01\x02\x03\x04").decode()
USER = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "Is it cold?"}],
}
VALID: dict[str, dict[str, Any]] = {
    "session.update": {"session": {"type": "realtime", "instructions": "Be brief."}},
    "input_audio_buffer.append": {"audio": PCM},
    "input_audio_buffer.commit": {},
    "input_audio_buffer.clear": {},
    "conversation.item.create": {"item": USER},
    "conversation.item.delete": {"item_id": "item_1"},
    "conversation.item.retrieve": {"item_id": "item_1"},
    "conversation.item.truncate": {"item_id": "item_1", "content_index": 0, "audio_end_ms": 120},
    "response.create": {"response": {"instructions": "Say hello.", "metadata": {"a": "b"}}},
    "response.cancel": {},
    "output_audio_buffer.clear": {},
}


def event(kind: str, /, **fields: Any) -> str:
    return json.dumps({"type": kind, "event_id": "mine", **fields})


def refused(frame: str | bytes, *, extensions: bool = False) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        parse(frame, extensions=extensions)
    return caught.value


def test_every_official_client_event_is_understood() -> None:
    assert VALID.keys() == CLIENT_EVENTS.keys()
    for kind, fields in VALID.items():
        CLIENT_EVENTS[kind].model_validate({"type": kind, **fields})  # the example is a real one
        parsed = parse(event(kind, **fields))
        assert parsed.event_id == "mine"
        assert ce._EVENTS[kind] is type(parsed)


def test_text_frames_and_the_same_bytes_read_the_same() -> None:
    frame = event("conversation.item.create", item=USER)
    assert parse(frame) == parse(frame.encode())


def test_audio_arrives_as_bytes_of_any_number() -> None:
    odd = base64.b64encode(b"abc").decode()
    parsed = parse(event("input_audio_buffer.append", audio=odd))
    assert isinstance(parsed, ce.AudioAppend)
    assert parsed.audio == b"abc"


@pytest.mark.parametrize("audio", ["@@@@", "YQ", "YQ=", "Y Q==", "é", 5, None, ["YQ=="]])
def test_audio_that_is_not_base64_is_refused(audio: object) -> None:
    error = refused(event("input_audio_buffer.append", audio=audio))
    assert error.param == "audio"
    assert error.event_id == "mine"


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "hello",
        "[]",
        "3",
        "null",
        "{",
        '{"type": NaN}',
        '{"type": "response.cancel", "x": Infinity}',
        "[" * 200_000,
        '{"a":' * 50_000,
        b"\xff\xfe\x00",
        b"\x80abc",
        '{"type": ' + "9" * 5_000 + "}",
    ],
)
def test_what_is_no_event_is_one_clear_error(frame: str | bytes) -> None:
    assert refused(frame).code in ("invalid_json", "missing_required_parameter")


def test_unknown_types_are_named_and_bounded() -> None:
    error = refused(event("response.dance"))
    assert error.message == "Unknown or unsupported event type 'response.dance'"
    assert error.event_id == "mine"
    assert len(refused(event("x" * 100_000)).message) < 200


def test_playout_reports_are_for_clients_that_asked_for_the_extensions() -> None:
    fields = {"item_id": "item_2", "played_samples": 2400, "input_ms": 812.5, "kind": "playing"}
    frame = event("voiceagent.playout.report", **fields)
    assert refused(frame).param == "type"
    parsed = parse(frame, extensions=True)
    assert isinstance(parsed, ce.PlayoutReport)
    assert (parsed.played_samples, parsed.input_ms) == (2400, 812.5)


@pytest.mark.parametrize(
    "change",
    [
        {"played_samples": -1},
        {"played_samples": 1.5},
        {"played_samples": True},
        {"played_samples": "7"},
        {"played_samples": 10**30},
        {"input_ms": -3},
        {"input_ms": 1e300},
        {"kind": "exploded"},
        {"item_id": ""},
        {"item_id": "x" * 100},
        {"item_id": "a b"},
    ],
)
def test_reports_are_bounded(change: dict[str, Any]) -> None:
    fields = {"item_id": "item_2", "played_samples": 0, "input_ms": 0, "kind": "started"}
    frame = event("voiceagent.playout.report", **{**fields, **change})
    assert refused(frame, extensions=True).param == next(iter(change))


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"type": "function_call_output", "call_id": "c", "output": "3"}, "unsupported_parameter"),
        ({**USER, "content": [{"type": "input_audio", "audio": PCM}]}, "unsupported_parameter"),
        ({**USER, "content": [{"type": "input_image"}]}, "unsupported_parameter"),
        ({**USER, "content": []}, "invalid_value"),
        ({**USER, "content": [{"type": "input_text", "text": " \n"}]}, "invalid_value"),
        ({**USER, "content": [{"type": "input_text", "text": "x" * 20_000}]}, "invalid_value"),
        ({**USER, "content": [{"type": "input_text", "text": "x" * 9_000}] * 2}, "invalid_value"),
        ({**USER, "content": [{"type": "input_text", "text": "x"}] * 99}, "invalid_value"),
        ({**USER, "role": "tool"}, "invalid_value"),
        ({**USER, "id": "x" * 65}, "invalid_value"),
        ({"type": "message", "role": "user"}, "missing_required_parameter"),
        ("hello", "invalid_value"),
        (None, "invalid_value"),
    ],
)
def test_items_are_messages_with_text_in_bounds(item: object, code: str) -> None:
    assert refused(event("conversation.item.create", item=item)).code == code


def test_assistant_and_system_messages_and_beta_text_parts_are_taken() -> None:
    for role, kind in [("assistant", "output_text"), ("system", "input_text"), ("user", "text")]:
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": "Hi"}]}
        parsed = parse(event("conversation.item.create", item=item))
        assert isinstance(parsed, ce.ItemCreate)
        assert (parsed.item.role, parsed.item.text) == (role, "Hi")


def test_control_characters_do_not_get_into_the_conversation() -> None:
    item = {**USER, "content": [{"type": "input_text", "text": "a\x00b\x1b[2Jc\n\td"}]}
    parsed = parse(event("conversation.item.create", item=item))
    assert isinstance(parsed, ce.ItemCreate)
    assert parsed.item.text == "ab[2Jc\n\td"


@pytest.mark.parametrize(
    "response",
    [
        {"conversation": "none"},
        {"output_modalities": ["text"]},
        {"input": []},
        {"input": [USER]},
        {"tools": [{"type": "function", "name": "f"}]},
        {"prompt": {"id": "p"}},
        {"max_output_tokens": 50},
    ],
)
def test_what_a_response_cannot_be_is_refused(response: dict[str, Any]) -> None:
    error = refused(event("response.create", response=response))
    assert error.code == "unsupported_parameter"
    assert error.param == f"response.{next(iter(response))}"


def test_what_stock_clients_send_with_a_response_is_taken() -> None:
    response = {
        "conversation": "auto",
        "output_modalities": ["audio"],
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "metadata": {"client_event_id": "e1"},
        "audio": {"output": {"voice": "marin"}},
    }
    parsed = parse(event("response.create", response=response))
    assert isinstance(parsed, ce.ResponseCreate)
    assert parsed.response
    assert parsed.response.metadata == {"client_event_id": "e1"}


def test_errors_repeat_nothing_of_what_was_said() -> None:
    secret = "my pin is 4711"
    item = {**USER, "content": [{"type": "input_text", "text": [secret]}]}
    assert secret not in refused(event("conversation.item.create", item=item)).message


def outcome(frame: str | bytes) -> ce.ClientEvent | ProtocolError:
    """The event or the protocol error; any other exception is the test's failure."""
    try:
        return parse(frame, extensions=True)
    except ProtocolError as error:
        return error


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KINDS = [*VALID, "voiceagent.playout.report"]
FIELDS = ["session", "audio", "item", "item_id", "audio_end_ms", "response", "event_id", "kind"]


@given(st.text() | st.binary() | JSON.map(json.dumps))
def test_arbitrary_frames_raise_nothing_but_the_protocol_error(frame: str | bytes) -> None:
    error = outcome(frame)
    if isinstance(error, ProtocolError):
        json.dumps([error.message, error.code, error.param, error.event_id], allow_nan=False)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_arbitrary_fields_raise_nothing_but_the_protocol_error(
    kind: str, fields: dict[str, Any]
) -> None:
    valid = VALID.get(kind, {})
    for frame in ({"type": kind, **fields}, {"type": kind, **fields, **valid}):
        error = outcome(json.dumps(frame))
        if isinstance(error, ProtocolError):
            assert len(error.message) < 1_500
            json.dumps([error.message, error.param, error.event_id]).encode()


@given(st.dictionaries(st.sampled_from([*SessionPatch.model_fields, "other"]), JSON))
def test_arbitrary_sessions_raise_nothing_but_the_protocol_error(session: dict[str, Any]) -> None:
    parsed = outcome(event("session.update", session=session))
    assert isinstance(parsed, ProtocolError | ce.SessionUpdate)
    assert parsed.event_id == "mine"


def test_lone_surrogates_are_refused_before_they_reach_a_socket() -> None:
    item = {**USER, "content": [{"type": "input_text", "text": "\ud800"}]}
    error = refused(event("conversation.item.create", item=item))
    error.message.encode()
    assert refused('{"type": "response.cancel", "event_id": "\\ud800"}').code == "invalid_value"

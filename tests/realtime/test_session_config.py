"""The session object: merging, defaults, and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kit.official import validate
from voiceagent.realtime.client_events import SessionUpdate, parse
from voiceagent.realtime.errors import ProtocolError
from voiceagent.realtime.session_config import SessionConfig, TurnDetection


def update(config: SessionConfig, **session: Any) -> SessionConfig:
    event = parse(json.dumps({"type": "session.update", "session": session}))
    assert isinstance(event, SessionUpdate)
    return config.merged(event.session)


def turns(value: object) -> dict[str, Any]:
    return {"audio": {"input": {"turn_detection": value}}}


def test_only_the_fields_that_are_present_change() -> None:
    config = update(SessionConfig(), instructions="Be kind.", max_output_tokens=77)
    config = update(config, **turns({"type": "server_vad", "interrupt_response": False}))
    assert config == SessionConfig("Be kind.", 77, TurnDetection("server_vad", True, False))
    assert update(config) == config
    assert update(config, audio={"input": {}}) == config
    assert update(config, audio={"output": {"voice": "marin"}}) == config


def test_null_turn_detection_is_manual_and_absent_is_no_change() -> None:
    manual = update(SessionConfig(), **turns(None))
    assert manual.manual
    assert update(manual, instructions="x").manual
    assert not update(manual, **turns({"type": "semantic_vad"})).manual
    assert not update(SessionConfig(), audio={"input": {"format": {"type": "audio/pcm"}}}).manual


def test_turn_detection_keeps_what_an_update_does_not_name() -> None:
    config = update(SessionConfig(), **turns({"type": "server_vad", "create_response": False}))
    config = update(config, **turns({"type": "semantic_vad", "eagerness": "high"}))
    assert config.turn_detection == TurnDetection("semantic_vad", False, True)


def test_an_empty_string_clears_the_instructions() -> None:
    assert update(SessionConfig("old"), instructions="").instructions == ""


def test_inf_tokens_mean_our_own_bound() -> None:
    config = update(SessionConfig(), max_output_tokens=9)
    assert update(config, max_output_tokens="inf") == SessionConfig()


@pytest.mark.parametrize(
    "audio_format",
    [
        {"type": "audio/pcm", "rate": 16000},
        {"type": "audio/pcm", "rate": 48000},
        {"rate": 8000},
        {"type": "audio/pcmu"},
        {"type": "audio/pcma"},
        {"type": "audio/pcm", "rate": 24000, "channels": 2},
        "pcm16",
        24000,
        [],
    ],
)
@pytest.mark.parametrize("direction", ["input", "output"])
def test_audio_at_another_rate_is_refused_and_never_guessed(
    direction: str, audio_format: object
) -> None:
    with pytest.raises(ProtocolError, match="24000 Hz") as caught:
        update(SessionConfig(), audio={direction: {"format": audio_format}})
    assert caught.value.param == f"session.audio.{direction}.format"
    assert caught.value.code == "unsupported_parameter"


@pytest.mark.parametrize(
    ("session", "param"),
    [
        ({"type": "transcription"}, "session.type"),
        ({"output_modalities": ["text"]}, "session.output_modalities"),
        ({"tools": [{"type": "function", "name": "f"}]}, "session.tools"),
        ({"prompt": {"id": "p"}}, "session.prompt"),
        ({"max_output_tokens": 0}, "session.max_output_tokens"),
        ({"instructions": "x" * 40_000}, "session.instructions"),
        ({"instruction": "typo"}, "session.instruction"),
        ({"input_audio_format": "g711_ulaw"}, "session.input_audio_format"),
        (
            {"audio": {"input": {"turn_detection": {"type": "psychic"}}}},
            "session.audio.input.turn_detection.type",
        ),
    ],
)
def test_what_is_not_supported_is_refused_and_nothing_is_lost_silently(
    session: dict[str, Any], param: str
) -> None:
    with pytest.raises(ProtocolError) as caught:
        update(SessionConfig(), **session)
    assert caught.value.param == param


STOCK = [
    {  # openai-agents (JS) and openai-python examples
        "type": "realtime",
        "model": "gpt-realtime",
        "instructions": "You are helpful.",
        "output_modalities": ["audio"],
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": 24000},
                "noise_reduction": None,
                "transcription": {"model": "gpt-4o-mini-transcribe"},
                "turn_detection": {"type": "semantic_vad"},
            },
            "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "ash", "speed": 1},
        },
        "tool_choice": "auto",
        "tools": [],
    },
    {  # clients that send every field
        "type": "realtime",
        "id": "sess_1",
        "object": "realtime.session",
        "include": None,
        "max_output_tokens": "inf",
        "parallel_tool_calls": True,
        "prompt": None,
        "reasoning": None,
        "tool_choice": "none",
        "tracing": None,
        "truncation": "auto",
        "audio": {
            "input": {
                "noise_reduction": {"type": "near_field"},
                "turn_detection": {
                    "type": "server_vad",
                    "threshold": 0.5,
                    "prefix_padding_ms": 300,
                    "silence_duration_ms": 500,
                    "idle_timeout_ms": None,
                    "create_response": True,
                    "interrupt_response": True,
                },
            }
        },
    },
]


@pytest.mark.parametrize("session", STOCK)
def test_what_stock_clients_send_is_accepted_twice_and_told_as_it_is(
    session: dict[str, Any],
) -> None:
    config = update(update(SessionConfig(), **session), **session)
    shown = config.as_object("sess_7")
    validate({"type": "session.updated", "event_id": "e", "session": shown})
    assert shown["audio"]["input"]["noise_reduction"] is None
    assert shown["tools"] == []
    assert shown["model"] == "voiceagent"

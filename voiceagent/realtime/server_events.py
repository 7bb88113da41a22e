"""What the server sends: one function for each shape, as plain JSON objects without ``event_id``.

Field names and orders are those of the OpenAI Realtime API (GA). ``voiceagent.*`` events are ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from voiceagent.conversation.events import WordSpan

ServerEvent = dict[str, Any]
Status = Literal["in_progress", "completed", "cancelled", "failed", "incomplete"]


# --- session and errors --------------------------------------------------------------------------


def session_event(kind: Literal["created", "updated"], session: dict[str, Any]) -> ServerEvent:
    """``session.created`` or ``session.updated`` with what is in effect."""
    return {"type": f"session.{kind}", "session": session}


def error(
    message: str,
    *,
    code: str,
    kind: Literal["invalid_request_error", "server_error"] = "invalid_request_error",
    param: str | None = None,
    event_id: str | None = None,
) -> ServerEvent:
    """``event_id`` is the client's id of the event that caused it, where known."""
    detail = {"type": kind, "code": code, "message": message, "param": param, "event_id": event_id}
    return {"type": "error", "error": detail}


# --- items ---------------------------------------------------------------------------------------


def message_item(
    item_id: str, role: str, content: list[dict[str, Any]], status: str = "completed"
) -> dict[str, Any]:
    """A message of the conversation."""
    return {
        "id": item_id,
        "object": "realtime.item",
        "type": "message",
        "status": status,
        "role": role,
        "content": content,
    }


def text_content(role: str, text: str) -> list[dict[str, Any]]:
    """Content of a typed message."""
    return [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]


def spoken_content(role: str, transcript: str | None) -> list[dict[str, Any]]:
    """Content of a message that was spoken; the audio itself is not kept."""
    kind = "output_audio" if role == "assistant" else "input_audio"
    return [{"type": kind, "transcript": transcript}]


def item_event(
    kind: Literal["added", "done"], item: dict[str, Any], previous: str | None
) -> ServerEvent:
    """``conversation.item.added`` or ``.done``."""
    return {"type": f"conversation.item.{kind}", "previous_item_id": previous, "item": item}


def item_retrieved(item: dict[str, Any]) -> ServerEvent:
    """The answer to ``conversation.item.retrieve``."""
    return {"type": "conversation.item.retrieved", "item": item}


def item_deleted(item_id: str) -> ServerEvent:
    """The answer to ``conversation.item.delete``."""
    return {"type": "conversation.item.deleted", "item_id": item_id}


def item_truncated(item_id: str, audio_end_ms: int) -> ServerEvent:
    """The answer to ``conversation.item.truncate``; clamped to the audio that was sent."""
    return {
        "type": "conversation.item.truncated",
        "item_id": item_id,
        "content_index": 0,
        "audio_end_ms": audio_end_ms,
    }


# --- input audio ---------------------------------------------------------------------------------


def speech_started(item_id: str, audio_start_ms: int) -> ServerEvent:
    """The person began to speak, at this place of the input audio."""
    return {
        "type": "input_audio_buffer.speech_started",
        "audio_start_ms": audio_start_ms,
        "item_id": item_id,
    }


def speech_stopped(item_id: str, audio_end_ms: int) -> ServerEvent:
    """The person stopped."""
    return {
        "type": "input_audio_buffer.speech_stopped",
        "audio_end_ms": audio_end_ms,
        "item_id": item_id,
    }


def committed(item_id: str, previous: str | None) -> ServerEvent:
    """What was heard becomes an item."""
    return {
        "type": "input_audio_buffer.committed",
        "previous_item_id": previous,
        "item_id": item_id,
    }


def transcription_completed(item_id: str, transcript: str, seconds: float) -> ServerEvent:
    """The text of a spoken item; ``seconds`` of audio were recognised."""
    return {
        "type": "conversation.item.input_audio_transcription.completed",
        "item_id": item_id,
        "content_index": 0,
        "transcript": transcript,
        "usage": {"type": "duration", "seconds": seconds},
    }


def transcription_failed(item_id: str) -> ServerEvent:
    """Speech of which no text came."""
    return {
        "type": "conversation.item.input_audio_transcription.failed",
        "item_id": item_id,
        "content_index": 0,
        "error": {
            "type": "server_error",
            "code": "transcription_failed",
            "message": "The speech could not be recognised.",
        },
    }


# --- responses -----------------------------------------------------------------------------------


def response_event(kind: Literal["created", "done"], response: dict[str, Any]) -> ServerEvent:
    """``response.created`` or ``response.done``."""
    return {"type": f"response.{kind}", "response": response}


def output_item(
    kind: Literal["added", "done"], response_id: str, item: dict[str, Any]
) -> ServerEvent:
    """``response.output_item.added`` or ``.done``."""
    return {
        "type": f"response.output_item.{kind}",
        "response_id": response_id,
        "output_index": 0,
        "item": item,
    }


def _in_part(kind: str, response_id: str, item_id: str, **fields: Any) -> ServerEvent:
    return {
        "type": f"response.{kind}",
        "response_id": response_id,
        "item_id": item_id,
        "output_index": 0,
        "content_index": 0,
        **fields,
    }


def content_part(
    kind: Literal["added", "done"], response_id: str, item_id: str, transcript: str
) -> ServerEvent:
    """``response.content_part.added`` or ``.done``: the one audio part of a response."""
    part = {"type": "audio", "transcript": transcript}
    return _in_part(f"content_part.{kind}", response_id, item_id, part=part)


def audio_delta(response_id: str, item_id: str, base64_pcm: str) -> ServerEvent:
    """The next samples, base64 of 16-bit little-endian PCM at 24 kHz."""
    return _in_part("output_audio.delta", response_id, item_id, delta=base64_pcm)


def audio_done(response_id: str, item_id: str) -> ServerEvent:
    """No more audio will come."""
    return _in_part("output_audio.done", response_id, item_id)


def transcript_delta(response_id: str, item_id: str, text: str) -> ServerEvent:
    """More of the text that is being spoken."""
    return _in_part("output_audio_transcript.delta", response_id, item_id, delta=text)


def transcript_done(response_id: str, item_id: str, transcript: str) -> ServerEvent:
    """The whole text."""
    return _in_part("output_audio_transcript.done", response_id, item_id, transcript=transcript)


# --- ours ----------------------------------------------------------------------------------------


def clause(
    response_id: str,
    item_id: str,
    number: int,
    text: str,
    first: int,
    samples: int,
    words: Iterable[WordSpan],
) -> ServerEvent:
    """A clause will sound: characters of ``text`` and samples (24 kHz) from the reply's first."""
    return {
        "type": "voiceagent.clause",
        "response_id": response_id,
        "item_id": item_id,
        "clause": number,
        "text": text,
        "first_sample": first,
        "samples": samples,
        "words": [
            {
                "start": word.start,
                "end": word.end,
                "first_sample": first + word.first,
                "last_sample": first + word.last,
            }
            for word in words
        ],
    }


def heard(response_id: str, item_id: str, status: str, text: str, heard_text: str) -> ServerEvent:
    """What was said and what of it was heard, when a reply ends and when that is corrected."""
    return {
        "type": "voiceagent.heard",
        "response_id": response_id,
        "item_id": item_id,
        "status": status,
        "text": text,
        "heard": heard_text,
    }


def ours(kind: str, **fields: Any) -> ServerEvent:
    """A small ``voiceagent.*`` event."""
    return {"type": f"voiceagent.{kind}", **fields}

"""What a client sends: a text frame becomes one typed, bounded event, or a ``ProtocolError``.

The names and fields are those of the OpenAI Realtime API. Fields that it has and we do not support
are refused where ignoring them would mislead the client, and ignored where it would not.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from voiceagent.conversation.events import PlayoutKind
from voiceagent.realtime.errors import ProtocolError
from voiceagent.realtime.fields import absent, audio_only, only
from voiceagent.realtime.session_config import SessionPatch

LONGEST_TEXT = 16_384
"""Characters of one message or of a response's instructions."""
MOST_PARTS = 32
MOST_METADATA = 16
_LONGEST_EVENT_ID = 512
_CONTROL = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])


def _without_control_characters(text: str) -> str:
    return text.translate(_CONTROL)


def _decoded(value: object) -> bytes:
    if not isinstance(value, str):
        raise PydanticCustomError("invalid_type", "Audio must be a base64 string")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("invalid_base64", "Audio is not valid base64") from None


EventId = Annotated[str, Field(max_length=_LONGEST_EVENT_ID)]
ItemId = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\x21-\x7e]+$")]
Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_without_control_characters)]


class ClientEvent(BaseModel):
    """Base of all client events."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)

    event_id: EventId | None = None


class SessionUpdate(ClientEvent):
    """``session.update``: only the fields that are present change."""

    session: SessionPatch


class AudioAppend(ClientEvent):
    """``input_audio_buffer.append``: 16-bit little-endian mono PCM at 24 kHz, any cut of it."""

    audio: Annotated[bytes, BeforeValidator(_decoded)]


class AudioCommit(ClientEvent):
    """``input_audio_buffer.commit``: the utterance is complete (manual turns)."""


class AudioClear(ClientEvent):
    """``input_audio_buffer.clear``."""


class ContentPart(BaseModel):
    """A piece of a message's text."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    type: str = "input_text"
    text: Text = ""


class MessageItem(BaseModel):
    """A message to put into the conversation."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    id: ItemId | None = None
    type: str = "message"
    role: Literal["user", "assistant", "system"]
    content: Annotated[list[ContentPart], Field(min_length=1, max_length=MOST_PARTS)]

    @property
    def text(self) -> str:
        """The text of all parts."""
        return " ".join(part.text for part in self.content)


def _message_only(value: object) -> object:
    """Say plainly which kinds of items and content are not supported."""
    if not isinstance(value, dict):
        return value
    if value.get("type", "message") != "message":
        raise PydanticCustomError("unsupported", "Only items of type 'message' are supported")
    content = value.get("content")
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and str(part.get("type", "input_text"))[-4:] != "text":
            raise PydanticCustomError("unsupported", "Only text content is supported in an item")
    return value


def _with_text(item: MessageItem) -> MessageItem:
    if not item.text.strip():
        raise PydanticCustomError("empty", "The item has no text")
    if len(item.text) > LONGEST_TEXT:
        raise PydanticCustomError(
            "too_long", "The item has more than {limit} characters", {"limit": LONGEST_TEXT}
        )
    return item


class ItemCreate(ClientEvent):
    """``conversation.item.create``: a message, appended to the conversation."""

    item: Annotated[MessageItem, BeforeValidator(_message_only), AfterValidator(_with_text)]
    previous_item_id: ItemId | None = None


class ItemDelete(ClientEvent):
    """``conversation.item.delete``."""

    item_id: ItemId


class ItemRetrieve(ClientEvent):
    """``conversation.item.retrieve``."""

    item_id: ItemId


class ItemTruncate(ClientEvent):
    """``conversation.item.truncate``: how much of an item's audio the client played."""

    item_id: ItemId
    content_index: Annotated[int, Field(ge=0)] = 0
    audio_end_ms: Annotated[int, Field(ge=0, le=86_400_000)]


class ResponseOptions(BaseModel):
    """How a response that the client asks for differs from the session's settings."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    instructions: Text | None = None
    conversation: Annotated[
        Any, only("auto", message="Only 'conversation': 'auto' is supported")
    ] = None
    metadata: (
        Annotated[
            dict[
                Annotated[str, Field(max_length=64)],
                Annotated[str, Field(max_length=512)],
            ],
            Field(max_length=MOST_METADATA),
        ]
        | None
    ) = None
    output_modalities: Annotated[Any, audio_only] = None
    max_output_tokens: Annotated[
        Any, only("inf", message="'max_output_tokens' is set for the session, not a response")
    ] = None
    input: Annotated[Any, only(message="A response's own 'input' is not supported")] = None
    tools: Annotated[Any, absent("Tools are not supported")] = None
    prompt: Annotated[Any, absent("Stored prompts are not supported")] = None


class ResponseCreate(ClientEvent):
    """``response.create``: answer now."""

    response: ResponseOptions | None = None


class ResponseCancel(ClientEvent):
    """``response.cancel``: stop the response in progress."""

    response_id: Annotated[str, Field(max_length=64)] | None = None


class OutputAudioClear(ClientEvent):
    """``output_audio_buffer.clear``: stop the voice, and with it the response."""


class PlayoutReport(ClientEvent):
    """``voiceagent.playout.report``: how far the client's player is.

    ``played_samples`` at 24 kHz of that item have left the player. ``input_ms`` is where the moment
    of the report lies on the client's own input audio: milliseconds since its first sample.
    ``stretched_samples`` of silence were added to the item's pauses so far; ``cushion_ms`` is what
    the player keeps unplayed against jitter.
    """

    item_id: ItemId
    played_samples: Annotated[int, Field(ge=0, le=24_000 * 86_400)]
    input_ms: Annotated[float, Field(ge=0, le=604_800_000)] | None = None
    kind: PlayoutKind
    stretched_samples: Annotated[int, Field(ge=0, le=24_000 * 86_400)] = 0
    cushion_ms: Annotated[float, Field(ge=0, le=60_000)] | None = None


class ClockReply(ClientEvent):
    """``voiceagent.clock.reply``: what the client's clock (of ``input_ms``) read when asked."""

    id: Annotated[int, Field(ge=0, le=2**53)]
    input_ms: Annotated[float, Field(ge=0, le=604_800_000)]


_EVENTS: dict[str, type[ClientEvent]] = {
    "session.update": SessionUpdate,
    "input_audio_buffer.append": AudioAppend,
    "input_audio_buffer.commit": AudioCommit,
    "input_audio_buffer.clear": AudioClear,
    "conversation.item.create": ItemCreate,
    "conversation.item.delete": ItemDelete,
    "conversation.item.retrieve": ItemRetrieve,
    "conversation.item.truncate": ItemTruncate,
    "response.create": ResponseCreate,
    "response.cancel": ResponseCancel,
    "output_audio_buffer.clear": OutputAudioClear,
}
_EXTENSIONS: dict[str, type[ClientEvent]] = {
    "voiceagent.playout.report": PlayoutReport,
    "voiceagent.clock.reply": ClockReply,
}


def parse(frame: str | bytes, *, extensions: bool = False) -> ClientEvent:
    """One message as an event. Raises ``ProtocolError``, and nothing else, for what is not one."""
    fields = _object(frame)
    kind = fields.get("type")
    event_id = fields.get("event_id")
    if not isinstance(event_id, str) or len(event_id) > _LONGEST_EVENT_ID:
        event_id = None
    if not isinstance(kind, str):
        message = "An event needs a 'type', a string"
        raise ProtocolError(
            message, code="missing_required_parameter", param="type", event_id=event_id
        )
    model = _EVENTS.get(kind) or (_EXTENSIONS.get(kind) if extensions else None)
    if model is None:
        message = f"Unknown or unsupported event type {kind[:80]!r}"
        raise ProtocolError(message, code="invalid_value", param="type", event_id=event_id)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _explained(error, fields, kind, event_id) from None


def _object(frame: str | bytes) -> dict[str, Any]:
    try:
        value = json.loads(frame, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ProtocolError("The message is not valid JSON", code="invalid_json") from None
    if not isinstance(value, dict):
        raise ProtocolError("An event is a JSON object", code="invalid_json")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_CODES = {
    "missing": "missing_required_parameter",
    "extra_forbidden": "unknown_parameter",
    "unsupported": "unsupported_parameter",
}


def _explained(
    error: ValidationError, fields: dict[str, Any], kind: str, event_id: str | None
) -> ProtocolError:
    """The first thing that is wrong, as a sentence that repeats nothing of what was sent."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    param = _path(first["loc"], fields, missing=first["type"] == "missing")
    code = _CODES.get(first["type"], "invalid_value")
    where = f"'{param}' of {kind}" if param else kind
    return ProtocolError(f"{where}: {first['msg']}.", code=code, param=param, event_id=event_id)


def _path(loc: tuple[int | str, ...], value: Any, *, missing: bool) -> str | None:
    """Where in ``value`` the fault is: ``loc`` without the branches of unions that it names too."""
    path: list[str] = []
    for part in loc:
        try:
            value = value[part]
        except (LookupError, TypeError):
            if not missing:
                continue
        path.append(str(part)[:64])
    return ".".join(path[:8]) or None

"""The official client library's models as a judge of what we send. A development dependency."""

from __future__ import annotations

from typing import Any, get_args

from openai.types.realtime import RealtimeClientEvent, RealtimeServerEvent
from pydantic import BaseModel

# The real API sends these too, though the library's models do not name them.
_UNNAMED = {"session.object", "session.id"}


def _table(annotated: Any) -> dict[str, type[BaseModel]]:
    (union, *_) = get_args(annotated)
    return {get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(union)}


SERVER_EVENTS = _table(RealtimeServerEvent)
CLIENT_EVENTS = _table(RealtimeClientEvent)


def validate(event: dict[str, Any]) -> BaseModel:
    """The event as the official model; raises when it is none, or has fields that model lacks."""
    model = SERVER_EVENTS[event["type"]].model_validate(event)
    unknown = set(_extra(model, "")) - _UNNAMED
    assert not unknown, f"{event['type']} has fields that the API does not: {unknown}"
    return model


def _extra(value: Any, path: str) -> list[str]:
    if isinstance(value, list):
        return [found for one in value for found in _extra(one, path)]
    if not isinstance(value, BaseModel):
        return []
    found = [f"{path}{name}" for name in value.model_extra or {}]
    for name in type(value).model_fields:
        found += _extra(getattr(value, name), f"{path}{name}.")
    return found

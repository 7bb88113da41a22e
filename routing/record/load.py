"""Reading a record from a file, and saying in one line what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from routing.record.errors import RecordError, nearest, shown
from routing.record.model import DecisionRecord

Model = TypeVar("Model", bound=BaseModel)

DEFAULT_RECORD = "field_service_voice_assistant.json"
"""The built-in record, in ``routing/records``."""

MAX_BYTES = 64 * 1024
"""A larger file is not read."""

HALF_A_CHARACTER = "half a character (a lone surrogate)"

_JSON_TYPES = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "finite_number": "must be a finite number",
}
_LIMITS = {
    "greater_than_equal": ("must be at least {}", "ge"),
    "greater_than": ("must be more than {}", "gt"),
    "less_than_equal": ("must be at most {}", "le"),
}
_SIZES = {
    "string_too_short": "is blank",
    "string_too_long": "is longer than {max_length} characters",
    "too_long": "has more than {max_length} entries",
    "string_unicode": f"holds {HALF_A_CHARACTER}",
}


def load_record(path: Path | None = None) -> DecisionRecord:
    """The record in a file, or the built-in one. Raises RecordError."""
    if path is None:
        text = files("routing").joinpath("records", DEFAULT_RECORD).read_text(encoding="utf-8")
        return parse_record(read_json(text, DEFAULT_RECORD), DEFAULT_RECORD)
    return parse_record(read_json_file(path), str(path))


def read_json_file(path: Path) -> object:
    """What is in a JSON file of at most ``MAX_BYTES``. Raises RecordError."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise RecordError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise RecordError(f"{path}: is a directory, not a file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = error.strerror if isinstance(error, OSError) and error.strerror else "bad name"
        raise RecordError(f"{path}: cannot be read ({why})") from None
    if len(content) > MAX_BYTES:
        raise RecordError(f"{path}: is larger than {MAX_BYTES // 1024} kB")
    try:
        text = content.decode("utf-8-sig")  # some editors put a byte order mark
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: is not UTF-8 at byte {error.start}") from None
    return read_json(text, str(path))


def read_json(text: str, name: str) -> object:
    """A JSON text by the book: no key twice, no NaN. Raises RecordError, ``name`` in front."""

    def no_constant(constant: str) -> NoReturn:
        raise RecordError(f"{name}: {constant} is not a JSON number")

    def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if not key.isascii() and any("\ud800" <= char <= "\udfff" for char in key):
                raise RecordError(f"{name}: {shown(key)} is a name with {HALF_A_CHARACTER}")
            if key in found:
                raise RecordError(f"{name}: {shown(key)} stands there twice")
            found[key] = value
        return found

    try:
        value: object = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise RecordError(f"{name}: is not JSON ({error.msg}, {where})") from None
    except RecursionError:
        raise RecordError(f"{name}: is nested too deeply") from None
    except ValueError:  # more digits than Python converts
        raise RecordError(f"{name}: holds a number of too many digits") from None
    return value


def parse_record(value: object, name: str = "record") -> DecisionRecord:
    """The record in a JSON value. Raises RecordError, ``name`` in front."""
    return parse(DecisionRecord, value, name)


def parse(model: type[Model], value: object, name: str) -> Model:
    """A JSON value as a model. Raises RecordError: the first fault, or the most telling one."""
    if not isinstance(value, dict):
        raise RecordError(f"{name}: must be an object with fields, not {shown(value)}")
    try:
        return model.model_validate(value)
    except ValidationError as invalid:
        faults = invalid.errors(include_url=False)
    # A misspelt name is also a missing one: the unknown name tells more.
    fault = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    raise RecordError(f"{name}: {_said(model, fault)}")


def _said(model: type[BaseModel], fault: Mapping[str, Any]) -> str:
    field = ".".join(str(step) for step in fault["loc"])
    kind, context, given = fault["type"], fault.get("ctx", {}), fault["input"]
    if kind == "extra_forbidden":
        return _unknown_field(model, fault["loc"])
    if kind == "missing":
        return f"{field} is missing"
    if kind in _JSON_TYPES:
        return f"{field} {_JSON_TYPES[kind]}, not {shown(given)}"
    if kind in _LIMITS:
        wording, bound = _LIMITS[kind]
        return f"{field} {wording.format(f'{context[bound]:g}')}, not {shown(given)}"
    if kind in _SIZES:
        return f"{field} {_SIZES[kind].format_map(context)}"
    if kind == "literal_error":
        return f"{field} must be false: only edge and training may be external"
    if kind == "undecided":
        return f"architecture_decision: {fault['msg']}"
    if kind == "decision":
        return f"{field}: {fault['msg']}"
    return f"{field} {fault['msg']}"


def _unknown_field(model: type[BaseModel], steps: tuple[str | int, ...]) -> str:
    known = _fields_at(model, steps[:-1])
    name = str(steps[-1])
    meant = nearest(name, known)
    inside = f" in {'.'.join(map(str, steps[:-1]))}" if steps[:-1] else ""
    hint = f'did you mean "{meant}"?' if meant else f"known are {', '.join(known)}"
    return f"unknown field {shown(name)}{inside}; {hint}"


def _fields_at(model: type[BaseModel], steps: Iterable[str | int]) -> list[str]:
    """The names of the fields of the part of a model that a path leads to."""
    for step in steps:
        annotation = model.model_fields[str(step)].annotation
        parts = [annotation, *getattr(annotation, "__args__", ())]
        model = next(
            part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)
        )
    return list(model.model_fields)

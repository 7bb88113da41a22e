"""Measured times, from a JSON file: a backend's name, and what was measured there.

{"groq": {"first_speakable_p50_ms": 180, "first_speakable_p95_ms": 260, "n": 120,
          "measured_on": "2026-12-01", "simulated": false}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from routing.record.backends import BackendFacts, Measured
from routing.record.errors import RecordError, nearest, shown
from routing.record.fields import Part
from routing.record.load import parse, read_json_file

_Ms = Annotated[float, Field(ge=0, le=3_600_000)]


class _Entry(Part):
    first_speakable_p50_ms: _Ms
    first_speakable_p95_ms: _Ms
    n: Annotated[int, Field(ge=1, le=1_000_000_000)]
    # Strict reading would want a date, which JSON does not have.
    measured_on: Annotated[date, Field(strict=False)]
    simulated: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> _Entry:
        if self.first_speakable_p95_ms < self.first_speakable_p50_ms:
            raise PydanticCustomError("order", "has a 95th percentile below its median")
        return self


def load_measurements(path: Path) -> dict[str, Measured]:
    """What was measured, by the backend's name. Raises RecordError."""
    value = read_json_file(path)
    if not isinstance(value, dict):
        raise RecordError(f"{path}: must be an object of backends, not {shown(value)}")
    found = {}
    for name, entry in value.items():
        found[str(name)] = Measured(**parse(_Entry, entry, f"{path}: {shown(name)}").model_dump())
    return found


def with_measurements(
    backends: Sequence[BackendFacts], measurements: Mapping[str, Measured]
) -> tuple[BackendFacts, ...]:
    """The backends with what was measured. Raises RecordError for a name that none of them has."""
    names = [backend.name for backend in backends]
    for name in measurements:
        if name not in names:
            meant = nearest(name, names)
            hint = f'did you mean "{meant}"?' if meant else f"known are {', '.join(names)}"
            raise RecordError(f"measurements: {shown(name)} is no backend here; {hint}")
    return tuple(
        replace(backend, measured=measurements.get(backend.name, backend.measured))
        for backend in backends
    )

"""Records and backends that the tests of the decision record share."""

from __future__ import annotations

from datetime import date
from typing import Any

from routing.record import BackendFacts, DecisionRecord, LaneClass, Measured, parse_record

SIX: dict[str, Any] = {
    "application": "field_service_voice_assistant",
    "user_expectation": "natural conversation pace",
    "input_context": "customer record plus recent service notes",
    "main_risk": "awkward latency during live call",
    "architecture_decision": "route interactive turns to low-latency inference",
    "fallback_decision": "use general GPU-backed model for slower analysis tasks",
}
"""The six fields, as published."""


def record(**fields: Any) -> DecisionRecord:
    """The six-field record with other or further fields."""
    return parse_record(SIX | fields)


def backend(name: str, lane_class: LaneClass = "low_latency", **facts: Any) -> BackendFacts:
    return BackendFacts(
        **{"name": name, "provider": name, "host": name, "lane_class": lane_class} | facts
    )


def measured(p50: float, p95: float, n: int = 100, **facts: Any) -> Measured:
    return Measured(
        first_speakable_p50_ms=p50,
        first_speakable_p95_ms=p95,
        n=n,
        measured_on=date(2026, 12, 1),
        **facts,
    )


GROQ = backend("groq")
CEREBRAS = backend("cerebras")
GPU = backend("rack", "gpu")
LOCAL = backend("llama.cpp", "local")

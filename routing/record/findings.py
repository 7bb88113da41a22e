"""What a check of a record finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""Only errors make a check fail."""

Code = Literal[
    "unreadable",
    "lane_without_backend",
    "shared_host",
    "ceiling_under_estimate",
    "latency_target_missed",
    "latency_median_over_target",
    "context_too_small",
    "too_many_users",
    "model_too_small",
    "class_not_available",
    "lane_contradicts_decision",
    "backend_unknown",
    "latency_n_too_small",
    "latency_unmeasured",
    "ceiling_unchecked",
    "low_latency_not_needed",
    "single_backend",
    "lane_not_served",
]
"""These do not change; ``docs/decision-record.md`` says what each means."""

_ORDER: Mapping[Severity, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found: one sentence, and what to do about it."""

    code: Code
    severity: Severity
    field: str
    """The record's field that it is about; empty where the whole file is meant."""
    message: str
    remedy: str

    @property
    def order(self) -> int:
        """Errors first, notes last."""
        return _ORDER[self.severity]

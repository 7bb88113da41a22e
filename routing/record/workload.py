"""The workload in plain terms. Every field is optional; every unit is in the field's name."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from routing.record.fields import Part

_Count = Annotated[int, Field(ge=1, le=1_000_000)]
_Tokens = Annotated[int, Field(ge=1, le=10_000_000)]
_Usd = Annotated[float, Field(ge=0, le=1_000_000)]


class Workload(Part):
    """What is asked of the backends. What is not given is not checked, and never assumed."""

    input_length_tokens: _Tokens | None = None
    """Tokens that a backend reads for one turn: prompt, record, notes and history together."""
    output_length_tokens: _Tokens | None = None
    """Tokens that a backend writes for one turn."""
    concurrent_users: _Count | None = None
    """People who talk at the same time, at the busiest."""
    latency_target_ms: Annotated[int, Field(ge=1, le=600_000)] | None = None
    """From the request to the first text that can be spoken, for 95 of 100 interactive turns."""
    model_size_billion_parameters: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """The size of the model that the answers need."""
    uptime_requirement_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Share of the time in which interactive turns must be answered."""
    turns_per_call: _Count | None = None
    """Turns that a backend answers in one call. Needed to hold a cost ceiling against prices."""
    calls_per_day: _Count | None = None
    """Needed to hold the daily ceiling against prices."""
    cost_ceiling_usd_per_call: _Usd | None = None
    """What one call may cost, in US dollars."""
    cost_ceiling_usd_per_day: _Usd | None = None
    """What one day may cost, in US dollars."""

    def estimate_needs(self, *, per_day: bool) -> tuple[str, ...]:
        """The fields that an estimate of the cost still needs."""
        needed = ["input_length_tokens", "output_length_tokens", "turns_per_call"]
        needed += ["calls_per_day"] if per_day else []
        return tuple(name for name in needed if getattr(self, name) is None)

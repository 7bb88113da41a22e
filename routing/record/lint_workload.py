"""The check of the workload: what it costs, how fast it is, and whether the decisions fit it."""

from __future__ import annotations

from collections.abc import Iterator

from routing.record.backends import P95_SAMPLES, BackendFacts, Measured
from routing.record.findings import Finding
from routing.record.model import DecisionRecord
from routing.record.plan import Candidate, Plan
from routing.record.workload import Workload

NOTICED_SILENCE_MS = 1000
"""About the longest silence that passes unremarked (G. Jefferson, 1989, "Preliminary notes on a
possible metric which provides for a 'standard maximum' silence of approximately one second in
conversation"). A target beyond it needs no low-latency backend."""


def workload_findings(record: DecisionRecord, plan: Plan) -> Iterator[Finding]:
    """What the workload says against the plan. Only what is given is looked at."""
    live = plan.of("interactive")
    yield from _fitting(record, plan)
    if live.first is not None:
        yield from _capacity(record.workload, live.first.backend)
        yield from _latency(record.workload, live.first.backend)
        for per_day in (False, True):
            yield from _ceiling(record.workload, live.candidates, per_day=per_day)


def _fitting(record: DecisionRecord, plan: Plan) -> Iterator[Finding]:
    """Facts of the workload that the decisions do not fit."""
    workload, live = record.workload, plan.of("interactive")
    target = workload.latency_target_ms
    if target is not None and target > NOTICED_SILENCE_MS and _lane_class(plan) == "low_latency":
        message = f"A target of {target} ms does not need low-latency inference."
        remedy = f"Set a target of at most {NOTICED_SILENCE_MS} ms, or decide for another class."
        yield Finding(
            "low_latency_not_needed", "note", "workload.latency_target_ms", message, remedy
        )
    uptime = workload.uptime_requirement_percent
    if uptime is not None and len(live.candidates) == 1:
        only = live.candidates[0].backend.name
        message = f"An uptime of {uptime:g} % rests on one backend, {only}."
        remedy = "Set up a second backend for interactive turns."
        field = "workload.uptime_requirement_percent"
        yield Finding("single_backend", "note", field, message, remedy)


def _lane_class(plan: Plan) -> str:
    return plan.of("interactive").lane.lane_class


def _capacity(workload: Workload, backend: BackendFacts) -> Iterator[Finding]:
    """Turns too long, people too many or a model too small for the first choice."""
    name = backend.name
    tokens = (workload.input_length_tokens or 0) + (workload.output_length_tokens or 0)
    if backend.context_tokens is not None and tokens > backend.context_tokens:
        message = f"Turns of {tokens} tokens do not fit the {backend.context_tokens} of {name}."
        remedy = "Shorten the turns, or put a backend with a longer context first."
        yield Finding("context_too_small", "error", "workload.input_length_tokens", message, remedy)
    users = workload.concurrent_users
    if users is not None and users > (backend.concurrent_turns or users):
        message = f"{users} people talk, and {name} answers {backend.concurrent_turns} at a time."
        remedy = "Put a backend that answers more at a time first."
        yield Finding("too_many_users", "warning", "workload.concurrent_users", message, remedy)
    size, there = workload.model_size_billion_parameters, backend.model_billion_parameters
    if size is not None and there is not None and there < size:
        field = "workload.model_size_billion_parameters"
        message = f"A model of {size:g} billion parameters is needed, and {name} has {there:g}."
        remedy = "Put a backend with a larger model first."
        yield Finding("model_too_small", "warning", field, message, remedy)


def _latency(workload: Workload, backend: BackendFacts) -> Iterator[Finding]:
    """The target against what was measured at the first choice."""
    target, measured = workload.latency_target_ms, backend.measured
    field = "workload.latency_target_ms"
    if target is None:
        return
    if measured is None:
        message = f"The target of {target} ms is unproven: {backend.name} is not measured here yet."
        remedy = "Measure it, and give the figures with --measurements."
        yield Finding("latency_unmeasured", "note", field, message, remedy)
        return
    where = f"{backend.name}{' (simulated)' if measured.simulated else ''}"
    remedy = "Put a faster backend first, or set a target that can be met."
    p50, p95 = measured.first_speakable_p50_ms, measured.first_speakable_p95_ms
    if measured.supports_p95 and p95 > target:
        message = (
            f"{where} misses the target of {target} ms: its p95 is {p95:.0f} ms ({_n(measured)})."
        )
        yield Finding("latency_target_missed", "error", field, message, remedy)
    elif not measured.supports_p95 and p50 > target:
        message = (
            f"The median of {where}, {p50:.0f} ms ({_n(measured)}), "
            f"is over the target of {target} ms."
        )
        yield Finding("latency_median_over_target", "warning", field, message, remedy)
    if not measured.supports_p95:
        message = f"n too small for a p95 of {where}: {measured.n} of {P95_SAMPLES} samples."
        remedy = f"Measure at least {P95_SAMPLES} answers."
        yield Finding("latency_n_too_small", "note", field, message, remedy)


def _n(measured: Measured) -> str:
    return f"n = {measured.n}, {measured.measured_on.isoformat()}"


def _ceiling(
    workload: Workload, candidates: tuple[Candidate, ...], *, per_day: bool
) -> Iterator[Finding]:
    """A cost ceiling against the prices of the first choice, interactive turns only."""
    unit = "day" if per_day else "call"
    field = f"workload.cost_ceiling_usd_per_{unit}"
    ceiling = workload.cost_ceiling_usd_per_day if per_day else workload.cost_ceiling_usd_per_call
    if ceiling is None:
        return
    missing = workload.estimate_needs(per_day=per_day)
    if missing:
        message = f"The ceiling cannot be held against prices without {', '.join(missing)}."
        remedy = "Add them to the workload."
        yield Finding("ceiling_unchecked", "note", field, message, remedy)
        return
    first = candidates[0].backend
    usd = estimate_usd(workload, first, per_day=per_day)
    if usd is None:
        message = f"The ceiling cannot be held against prices: those of {first.name} are not known."
        remedy = f"Give the prices of {first.name}."
        yield Finding("ceiling_unchecked", "note", field, message, remedy)
    elif usd > ceiling:
        message = (
            f"The ceiling of {ceiling:g} USD per {unit} is under the estimate of {usd:.4g} USD "
            f"with {first.name}."
        )
        within = [
            candidate.backend.name
            for candidate in candidates
            if (other := estimate_usd(workload, candidate.backend, per_day=per_day)) is not None
            and other <= ceiling
        ]
        remedy = f"Put {within[0]} first, or raise" if within else "Shorten the turns, or raise"
        yield Finding("ceiling_under_estimate", "error", field, message, f"{remedy} the ceiling.")


def estimate_usd(workload: Workload, backend: BackendFacts, *, per_day: bool) -> float | None:
    """What a call, or a day, of interactive turns costs at a backend in USD.

    turns x (input tokens x input price + output tokens x output price), without discounts for
    cached input and without retries. None where a fact or a price is missing.
    """
    if workload.estimate_needs(per_day=per_day):
        return None
    turns = (workload.turns_per_call or 0) * ((workload.calls_per_day or 0) if per_day else 1)
    tokens = (workload.input_length_tokens or 0, workload.output_length_tokens or 0)
    return backend.usd(turns * tokens[0], turns * tokens[1])

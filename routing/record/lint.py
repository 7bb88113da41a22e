"""The check of a record against the backends there are: what it asks for and does not get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from routing.record.backends import CLASS_TITLES, TURN_KINDS, BackendFacts, TurnKind
from routing.record.errors import nearest
from routing.record.findings import Finding, Severity
from routing.record.lint_workload import workload_findings
from routing.record.model import DecisionRecord
from routing.record.plan import KindPlan, Plan


def check(record: DecisionRecord, backends: Sequence[BackendFacts]) -> tuple[Finding, ...]:
    """What is wrong with a record here, errors first, and what is worth knowing.

    A kind of turn that only follows another is not spoken of again.
    """
    plan = record.plan(backends)
    kinds = [kind for kind in TURN_KINDS if plan.of(kind).lane.follows is None]
    kinds += [kind for kind in TURN_KINDS if kind not in kinds and getattr(record.lanes, kind)]
    found: list[Finding] = []
    for kind in kinds:
        found += _lane(plan, kind)
        found += _names(plan.of(kind), backends)
        if kind != "interactive":
            found += _sharing(plan, kind)
    found += workload_findings(record, plan)
    found += _outside(record)
    return tuple(sorted(found, key=lambda finding: finding.order))


def _field(kind_plan: KindPlan) -> str:
    """The field that decided who may answer."""
    lane = kind_plan.lane
    return (
        f"lanes.{lane.name}.backends" if lane.backends else lane.decided_by or f"lanes.{lane.name}"
    )


def _lane(plan: Plan, kind: TurnKind) -> Iterator[Finding]:
    """A lane that nobody serves, or somebody else than was decided."""
    kind_plan = plan.of(kind)
    lane, first, title = kind_plan.lane, kind_plan.first, _title(kind)
    wanted = CLASS_TITLES[lane.lane_class]
    if first is None:
        wanted = " or ".join(lane.backends) or wanted
        message = f"{title} have no usable backend: {wanted} is asked for."
        remedy = _make_usable(plan, kind_plan)
        yield Finding("lane_without_backend", "error", _field(kind_plan), message, remedy)
    elif first.role in ("stand_in", "fallback"):
        message = f"{title} go to {first.backend.name}, since {wanted} is not set up here."
        remedy = _make_usable(plan, kind_plan)
        yield Finding("class_not_available", "warning", _field(kind_plan), message, remedy)
    for candidate in kind_plan.candidates:
        backend = candidate.backend
        if candidate.role == "named" and backend.lane_class not in lane.classes:
            got = CLASS_TITLES[backend.lane_class]
            message = f"{title} are decided for {wanted}, and the lane names {backend.name}, {got}."
            remedy = f"Take {backend.name} out of the lane, or change the decision."
            field = _field(kind_plan)
            yield Finding("lane_contradicts_decision", "warning", field, message, remedy)


def _make_usable(plan: Plan, kind_plan: KindPlan) -> str:
    lane = kind_plan.lane
    missing = [
        f"{backend.name}: {backend.unusable}"
        for backend in plan.unusable
        if (
            any(backend.called(name) for name in lane.backends)
            if lane.backends
            else backend.lane_class == lane.lane_class
        )
    ]
    if missing:
        return f"Make one usable ({'; '.join(missing)}), or change {_field(kind_plan)}."
    return f"Set up such a backend, or change {_field(kind_plan)}."


def _names(kind_plan: KindPlan, backends: Sequence[BackendFacts]) -> Iterator[Finding]:
    """Names in a lane that no backend has."""
    known = list(dict.fromkeys(name for item in backends for name in (item.name, item.provider)))
    for name in kind_plan.lane.backends:
        if name not in known:
            meant = nearest(name, known)
            remedy = f"Write {meant}?" if meant else f"Known are {', '.join(known) or 'none'}."
            message = f"No backend here is called {name}."
            yield Finding("backend_unknown", "warning", _field(kind_plan), message, remedy)


def _sharing(plan: Plan, kind: TurnKind) -> Iterator[Finding]:
    """Slow work where the live conversation runs: nothing keeps it from being starved there."""
    live, other = plan.of("interactive"), plan.of(kind)
    if live.first is None or other.first is None:
        return
    mine, theirs = live.first.backend, other.first.backend
    if mine.host != theirs.host:
        return
    ordered = mine.can_prioritise and theirs.can_prioritise
    if ordered and (live.lane.priority or 0) > (other.lane.priority or 0):
        return
    # Where one only stands in, the record did not ask for it.
    asked_for = live.first.role != "stand_in" and other.first.role != "stand_in"
    severity: Severity = "error" if asked_for else "warning"
    message = (
        f"Interactive and {_title(kind).lower()} share {mine.host} without priority, so slow "
        "work can starve a live call."
    )
    remedy = (
        f"Set lanes.interactive.priority above lanes.{kind}.priority."
        if ordered
        else f"Give {_title(kind).lower()} another host, or one that takes priorities."
    )
    yield Finding("shared_host", severity, _field(other), message, remedy)


def _outside(record: DecisionRecord) -> Iterator[Finding]:
    for name, given in (("edge", record.lanes.edge), ("training", record.lanes.training)):
        if given is not None and not given.external:
            message = f"Nothing in this application serves the lane {name}."
            remedy = f"Set lanes.{name}.external to true, or leave the lane out."
            yield Finding("lane_not_served", "note", f"lanes.{name}", message, remedy)


def _title(kind: TurnKind) -> str:
    return f"{kind.replace('_', '-').capitalize()} turns"

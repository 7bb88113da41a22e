"""For each kind of turn: where it goes, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from routing.record.backends import (
    P95_SAMPLES,
    TURN_KINDS,
    BackendFacts,
    LaneName,
)
from routing.record.lanes import Lane
from routing.record.model import DecisionRecord
from routing.record.plan import KindPlan

NOT_MEASURED = "not measured here yet"


@dataclass(frozen=True, slots=True)
class ExplainedBackend:
    """One backend that may answer."""

    name: str
    host: str
    why: str
    measured: str
    price: str


@dataclass(frozen=True, slots=True)
class ExplainedKind:
    """Where one kind of turn goes."""

    kind: LaneName
    lane_class: str
    goes_to: str
    """One sentence."""
    why: str
    """One sentence, with the record's own words."""
    backends: tuple[ExplainedBackend, ...]
    """The first choice first."""
    not_usable: tuple[str, ...]
    """Backends that would serve this kind of turn, and why they cannot: "groq (... is not set)"."""


def explain(
    record: DecisionRecord, backends: Sequence[BackendFacts], *, today: date | None = None
) -> tuple[ExplainedKind, ...]:
    """The record put into words, for these backends.

    Measurements that are not of ``today`` say so; None: the date alone is given.
    """
    plan = record.plan(backends)
    explained = [_explained(plan.of(kind), plan.unusable, today) for kind in TURN_KINDS]
    outside = (record.outside_lane("edge"), record.outside_lane("training"))
    return (*explained, *(_outside(lane) for lane in outside if lane is not None))


def _explained(
    kind_plan: KindPlan, unusable: Sequence[BackendFacts], today: date | None
) -> ExplainedKind:
    lane = kind_plan.lane
    kind = f"{lane.name.replace('_', '-').capitalize()} turns"
    names = [candidate.backend.name for candidate in kind_plan.candidates]
    goes_to = f"{kind} cannot be answered: no backend is usable."
    if names:
        then = f", and when that fails to {', then '.join(names[1:])}" if names[1:] else ""
        goes_to = f"{kind} go to {names[0]}{then}."
    return ExplainedKind(
        kind=lane.name,
        lane_class=lane.lane_class,
        goes_to=goes_to,
        why=kind_plan.reason,
        backends=tuple(
            ExplainedBackend(
                name=candidate.backend.name,
                host=candidate.backend.host,
                why=candidate.reason,
                measured=measured_text(candidate.backend, today),
                price=price_text(candidate.backend),
            )
            for candidate in kind_plan.candidates
        ),
        not_usable=tuple(
            f"{backend.name} ({backend.unusable})" for backend in unusable if _wanted(lane, backend)
        ),
    )


def _wanted(lane: Lane, backend: BackendFacts) -> bool:
    if lane.backends:
        return any(backend.called(name) for name in lane.backends)
    return backend.lane_class in lane.classes


def _outside(lane: Lane) -> ExplainedKind:
    if lane.external:
        goes_to = f"{lane.name.capitalize()} is done outside this application."
        why = f"lanes.{lane.name} is declared external."
    else:
        goes_to = f"Nothing in this application serves {lane.name}."
        why = f"lanes.{lane.name} is declared, but not as external."
    return ExplainedKind(lane.name, lane.lane_class, goes_to, why, (), ())


def measured_text(backend: BackendFacts, today: date | None = None) -> str:
    """What was measured there, with n and the date; a p95 only where n supports one."""
    measured = backend.measured
    if measured is None:
        return NOT_MEASURED
    text = f"first speakable text p50 {measured.first_speakable_p50_ms:.0f} ms"
    if measured.supports_p95:
        text += f", p95 {measured.first_speakable_p95_ms:.0f} ms, n {measured.n}"
    else:
        text += f", n {measured.n} (too small for a p95, which needs {P95_SAMPLES})"
    text += f", {measured.measured_on.isoformat()}"
    if today is not None and measured.measured_on != today:
        text += " (not today)"
    return text + (", simulated" if measured.simulated else "")


def price_text(backend: BackendFacts) -> str:
    """The prices in USD per million tokens, or that they are not known."""
    if backend.usd_per_million_input is None or backend.usd_per_million_output is None:
        return "price not known"
    return (
        f"{backend.usd_per_million_input:g} USD in, {backend.usd_per_million_output:g} USD out "
        "per million tokens"
    )

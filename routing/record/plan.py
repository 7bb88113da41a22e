"""From lanes and the backends there are to candidates: who may answer a turn, in which order.

The order here is the record's. Which candidate answers a given turn, the router decides from what
it knows at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from routing.record.backends import (
    CLASS_TITLES,
    TURN_KINDS,
    BackendFacts,
    LaneClass,
    TurnKind,
)
from routing.record.lanes import Lane

Role = Literal["decided", "fallback", "named", "stand_in"]
"""Why a backend is a candidate: it is of the decided class, of the class that the other decision
falls back to, named in the lane, or better than no answer."""

STAND_INS: Mapping[LaneClass, tuple[LaneClass, ...]] = {
    "low_latency": ("local", "gpu"),
    "gpu": ("low_latency", "local"),
    "local": (),
    "external": (),
}
"""Which classes stand in for a class, in this order. Nothing does for ``local``: a record may have
chosen it so that nothing leaves the machine."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend that may answer, and why, in one sentence."""

    backend: BackendFacts
    role: Role
    reason: str


@dataclass(frozen=True, slots=True)
class KindPlan:
    """Who may answer one kind of turn, the first choice first."""

    lane: Lane
    candidates: tuple[Candidate, ...]
    reason: str
    """One sentence: why they go there."""

    @property
    def first(self) -> Candidate | None:
        """The first choice; None: nobody can answer."""
        return self.candidates[0] if self.candidates else None


@dataclass(frozen=True, slots=True)
class Plan:
    """Who may answer what."""

    kinds: Mapping[TurnKind, KindPlan]
    unusable: tuple[BackendFacts, ...]
    """Backends that would be there but for what their ``unusable`` says."""

    def of(self, kind: TurnKind) -> KindPlan:
        """The plan for one kind of turn."""
        return self.kinds[kind]


def make_plan(lane_of: Callable[[TurnKind], Lane], available: Sequence[BackendFacts]) -> Plan:
    """The plan of a record for these backends; those that are unusable are no candidates.

    What stands in for other kinds is what may answer interactive turns, in the same order.
    """
    usable = [backend for backend in available if backend.unusable is None]
    live = _kind_plan(lane_of("interactive"), usable, usable)
    stand_ins = [candidate.backend for candidate in live.candidates]
    kinds = {
        kind: live if kind == "interactive" else _kind_plan(lane_of(kind), usable, stand_ins)
        for kind in TURN_KINDS
    }
    return Plan(kinds, tuple(backend for backend in available if backend.unusable is not None))


def _kind_plan(
    lane: Lane, usable: Sequence[BackendFacts], stand_ins: Sequence[BackendFacts]
) -> KindPlan:
    chosen = _named(lane, usable) if lane.backends else _by_class(lane, usable, stand_ins)
    return KindPlan(lane, chosen, _reason(lane, chosen))


def _named(lane: Lane, usable: Sequence[BackendFacts]) -> tuple[Candidate, ...]:
    reason = f"The record names it in the lane {lane.name}."
    found = [backend for name in lane.backends for backend in usable if backend.called(name)]
    return tuple(Candidate(backend, "named", reason) for backend in _once(found))


def _by_class(
    lane: Lane, usable: Sequence[BackendFacts], stand_ins: Sequence[BackendFacts]
) -> tuple[Candidate, ...]:
    found: dict[str, Candidate] = {}
    for position, lane_class in enumerate(lane.classes):
        role: Role = "fallback" if position else "decided"
        reason = f"It offers {CLASS_TITLES[lane_class]}"
        reason += ", the record's fallback." if position else ", as decided."
        for backend in usable:
            if backend.lane_class == lane_class:
                found.setdefault(backend.name, Candidate(backend, role, reason))
    title = CLASS_TITLES[lane.lane_class]
    missing = all(candidate.role != "decided" for candidate in found.values())
    reason = f"It stands in for {title}, of which there is none." if missing else ""
    for lane_class in STAND_INS[lane.lane_class]:
        for backend in stand_ins:
            if backend.lane_class == lane_class:
                why = reason or f"It is the last choice when {title} fails."
                found.setdefault(backend.name, Candidate(backend, "stand_in", why))
    return tuple(found.values())


def _once(backends: Sequence[BackendFacts]) -> list[BackendFacts]:
    return list({backend.name: backend for backend in backends}.values())


def _reason(lane: Lane, chosen: Sequence[Candidate]) -> str:
    """Why turns of this kind go where they go, in one sentence."""
    title = CLASS_TITLES[lane.lane_class]
    if lane.decided_by:
        decided = f'{lane.decided_by} says "{lane.sentence}", so they go to {title}'
    else:
        decided = f"No decision names them, so they go where {lane.follows} turns go, to {title}"
    if lane.backends:
        decided += f"; the lane names {', '.join(lane.backends)}"
    if not chosen:
        return f"{decided}, but no backend for it is usable here."
    if chosen[0].role in ("stand_in", "fallback"):
        return f"{decided}; there is none here, so {chosen[0].backend.name} answers instead."
    return f"{decided}."

"""The decision record: six sentences that say where turns go, and what may be added to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import field_validator, model_validator
from pydantic_core import PydanticCustomError

from routing.record.backends import BackendFacts, LaneClass, LaneName, TurnKind
from routing.record.fields import Part, Text
from routing.record.lanes import Lane, Lanes, OutsideLane, TurnLane
from routing.record.plan import Plan, make_plan
from routing.record.vocabulary import EXAMPLES, NotUnderstood, understand
from routing.record.workload import Workload

_FOLLOWS: Mapping[TurnKind, TurnKind] = {
    "analysis": "interactive",
    "batch": "analysis",
    "long_context": "analysis",
}
"""Whose lane a kind of turn shares where no decision names it."""


class DecisionRecord(Part):
    """Where turns go, and why. The first six fields are required; all others have defaults.

    ``architecture_decision`` and ``fallback_decision`` are read with the vocabulary; the other
    texts are for people. A kind of turn that both name goes where the first says, and where the
    second says when that is not possible.
    """

    application: Text
    """The application that the record is about."""
    user_expectation: Text
    """What the user expects of it."""
    input_context: Text
    """What a turn brings along for the model to read."""
    main_risk: Text
    """What must not happen."""
    architecture_decision: Text
    """Where turns go, such as "route interactive turns to low-latency inference"."""
    fallback_decision: Text
    """Where the others go, such as "use general GPU-backed model for slower analysis tasks"."""
    workload: Workload = Workload()
    """The workload in plain terms."""
    lanes: Lanes = Lanes()
    """Particulars of each lane."""

    @field_validator("architecture_decision", "fallback_decision")
    @classmethod
    def _is_understood(cls, text: str) -> str:
        try:
            understand(text)
        except NotUnderstood as error:
            raise PydanticCustomError("decision", "{why}", {"why": str(error)}) from None
        return text

    @model_validator(mode="after")
    def _interactive_is_decided(self) -> DecisionRecord:
        if not any("interactive" in kinds for _, _, kinds in self.decisions()):
            why = f'no decision says where interactive turns go, as "{EXAMPLES[0]}" does'
            raise PydanticCustomError("undecided", "{why}", {"why": why})
        return self

    def decisions(self) -> tuple[tuple[str, str, Mapping[TurnKind, LaneClass]], ...]:
        """Both decisions: the field, its text, and which kinds of turn it sends to which class."""
        named = (
            ("architecture_decision", self.architecture_decision),
            ("fallback_decision", self.fallback_decision),
        )
        return tuple((field, text, understand(text)) for field, text in named)

    def lane_of(self, kind: TurnKind) -> Lane:
        """Where this kind of turn goes."""
        own: TurnLane | None = getattr(self.lanes, kind)
        said = [
            (field, text, kinds[kind]) for field, text, kinds in self.decisions() if kind in kinds
        ]
        if said:
            field, text, _ = said[0]
            classes = tuple(dict.fromkeys(lane_class for _, _, lane_class in said))
            return _lane(kind, own, classes=classes, decided_by=field, sentence=text)
        followed = self.lane_of(_FOLLOWS[kind])
        if own is not None:
            return _lane(kind, own, classes=followed.classes, follows=_FOLLOWS[kind])
        return replace(
            followed, name=kind, decided_by=None, sentence="", follows=_FOLLOWS[kind], notes=None
        )

    def outside_lane(self, name: Literal["edge", "training"]) -> Lane | None:
        """A lane that this application does not serve, where the record has it."""
        own: OutsideLane | None = getattr(self.lanes, name)
        if own is None:
            return None
        here: LaneClass = "local" if name == "edge" else "gpu"
        return _lane(name, own, classes=("external",) if own.external else (here,))

    def plan(self, available: Sequence[BackendFacts]) -> Plan:
        """For each kind of turn the backends that may answer it, the first choice first."""
        return make_plan(self.lane_of, available)


def _lane(name: LaneName, own: TurnLane | OutsideLane | None, **decided: Any) -> Lane:
    given = {} if own is None else own.model_dump()
    return Lane(name=name, **decided, **given)

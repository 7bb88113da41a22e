"""The lanes: which backends a kind of turn may use, where the decisions alone are not enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from routing.record.backends import LaneClass, LaneName, TurnKind
from routing.record.fields import Name, Part, Text


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) != len(names):
        raise PydanticCustomError("repeated", "names a backend twice")
    return names


_Backends = Annotated[
    # Strict reading would want a tuple, which JSON does not have.
    tuple[Name, ...], Field(strict=False, max_length=16), AfterValidator(_distinct)
]


class _LaneFields(Part):
    backends: _Backends = ()
    """Providers or backends by name, the first choice first. When given, no others are used."""
    model: Name | None = None
    """The model to ask for. Not given: what is set up for the backend."""
    priority: Annotated[int, Field(ge=0, le=100)] | None = None
    """Where a backend takes priorities, a larger number is served first."""
    notes: Text | None = None
    """For people. Not interpreted."""


class TurnLane(_LaneFields):
    """A lane of turns that this application answers."""

    external: Literal[False] = False
    """Only ``edge`` and ``training`` may be external."""


class OutsideLane(_LaneFields):
    """A lane of work that something else may do."""

    external: bool = False
    """Done by something outside this application."""

    @model_validator(mode="after")
    def _external_has_no_backends(self) -> OutsideLane:
        if self.external and self.backends:
            raise PydanticCustomError("external", "is external and yet names backends")
        return self


class Lanes(Part):
    """The six lanes. A lane that is not given follows the decisions."""

    interactive: TurnLane | None = None
    """Turns of the live conversation."""
    analysis: TurnLane | None = None
    """Slower questions that are worked on while the conversation goes on."""
    batch: TurnLane | None = None
    """Work that nobody waits for."""
    long_context: TurnLane | None = None
    """Turns with an input too long for the other lanes."""
    edge: OutsideLane | None = None
    """Inference on the user's own device."""
    training: OutsideLane | None = None
    """Training and tuning of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Where a record sends one kind of work, before it is known which backends there are."""

    name: LaneName
    classes: tuple[LaneClass, ...]
    """The decided class; after it the class of the other decision, where both name this kind."""
    decided_by: str | None = None
    """The field that decides, such as ``architecture_decision``; None: no decision names it."""
    sentence: str = ""
    """That field's text. Empty where no decision names this kind of work."""
    follows: TurnKind | None = None
    """The kind of turn whose lane this one shares, since no decision names it."""
    backends: tuple[str, ...] = ()
    model: str | None = None
    priority: int | None = None
    external: bool = False
    notes: str | None = None

    @property
    def lane_class(self) -> LaneClass:
        """The decided class."""
        return self.classes[0]

"""Pauses inside the agent's turn: silence the listener hears, by where it falls in the text.

The cuts are from Campione & Véronis 2002, Kahng 2018, Lundholm Fors 2015 and Liu 2022; those for
clauses and sentences are interpolated from them. They are defaults: pass another table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from voiceagent.rhythm.values import NEGATIVE, Unknown, Value


class Place(StrEnum):
    """Where in the text a pause falls."""

    WORD = "word"
    PHRASE = "phrase"
    """Between two words without punctuation."""
    CLAUSE = "clause"
    """After a comma or clause."""
    SENTENCE = "sentence"


class Cause(StrEnum):
    """Why there was silence, from the playout ledger and never from voice detection."""

    UNDERRUN = "underrun"
    """The player had nothing to play."""
    AUTHORED = "authored"
    """Silence inside the synthesized audio."""
    BRIDGING = "bridging"
    """Waiting for an analysis, announced to the user."""


class PauseClass(StrEnum):
    """How a pause inside speech is heard."""

    FINE = "fine"
    MICRO = "micro"
    AWKWARD = "awkward"
    SEVERE = "severe"


DISTURBING = frozenset({PauseClass.AWKWARD, PauseClass.SEVERE})


@dataclass(frozen=True, slots=True)
class Cuts:
    """From how many milliseconds a pause is of a class; a cut belongs to the class above it."""

    awkward_ms: float
    severe_ms: float
    micro_ms: float | None = None
    """None where there is no such class."""

    def __post_init__(self) -> None:
        """Raise ValueError for cuts that are not finite, positive and ascending."""
        cuts = [cut for cut in (self.micro_ms, self.awkward_ms, self.severe_ms) if cut is not None]
        if not all(math.isfinite(cut) and cut > 0 for cut in cuts) or cuts != sorted(set(cuts)):
            raise ValueError(f"cuts must be positive and ascending: {cuts}")


DEFAULT_CUTS: Mapping[Place, Cuts] = MappingProxyType(
    {
        Place.WORD: Cuts(micro_ms=60, awkward_ms=150, severe_ms=400),
        Place.PHRASE: Cuts(micro_ms=100, awkward_ms=250, severe_ms=600),
        Place.CLAUSE: Cuts(awkward_ms=900, severe_ms=1500),
        Place.SENTENCE: Cuts(awkward_ms=1500, severe_ms=3000),
    }
)


@dataclass(frozen=True, slots=True)
class Pause:
    """One silence inside the agent's turn."""

    at_us: int
    """Its first silent sample, on the listener's clock."""
    duration_us: int
    place: Place
    cause: Cause


def classify_pause(
    ms: float, place: Place, cuts: Mapping[Place, Cuts] = DEFAULT_CUTS
) -> PauseClass | Unknown:
    """The class of a pause of ``ms`` milliseconds; a place ``cuts`` lacks has the default cuts."""
    if math.isnan(ms):
        return Unknown("not a number")
    if ms < 0:
        return Unknown(NEGATIVE)
    cut = cuts.get(place) or DEFAULT_CUTS[place]
    if ms >= cut.severe_ms:
        return PauseClass.SEVERE
    if ms >= cut.awkward_ms:
        return PauseClass.AWKWARD
    if cut.micro_ms is not None and ms >= cut.micro_ms:
        return PauseClass.MICRO
    return PauseClass.FINE


def is_disturbing(pause: Pause, cuts: Mapping[Place, Cuts] = DEFAULT_CUTS) -> bool:
    """Whether it is awkward or severe."""
    return classify_pause(pause.duration_us / 1_000, pause.place, cuts) in DISTURBING


def awkward_pauses_per_min(
    pauses: Iterable[Pause], speech_us: int, cuts: Mapping[Place, Cuts] = DEFAULT_CUTS
) -> Value:
    """Awkward and severe pauses of any cause, per minute of agent speech (``speech_us``)."""
    if speech_us <= 0:
        return Unknown("no speech")
    return sum(is_disturbing(pause, cuts) for pause in pauses) * 60_000_000 / speech_us

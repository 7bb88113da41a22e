"""What a record is held against: the backends that there are, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

TurnKind = Literal["interactive", "analysis", "batch", "long_context"]
"""The kinds of turn that this application answers."""

LaneName = Literal["interactive", "analysis", "batch", "long_context", "edge", "training"]
"""The kinds of turn, and the two kinds of work that may be done by something else."""

LaneClass = Literal["low_latency", "gpu", "local", "external"]
"""Kinds of backend. ``external``: not served by this application."""

TURN_KINDS: tuple[TurnKind, ...] = get_args(TurnKind)
LANE_NAMES: tuple[LaneName, ...] = get_args(LaneName)

CLASS_TITLES: dict[LaneClass, str] = {
    "low_latency": "low-latency inference",
    "gpu": "a general GPU-backed model",
    "local": "a model on this machine",
    "external": "something outside this application",
}

P95_SAMPLES = 59
"""Under this many samples nothing is said of a 95th percentile: with 59 the largest of them is
above it with 95 % confidence, since 0.95 ** 59 < 0.05 (Wilks, 1941, for one-sided limits)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Times from the request to the first text that could be spoken, in milliseconds."""

    first_speakable_p50_ms: float
    first_speakable_p95_ms: float
    n: int
    """How many answers were timed."""
    measured_on: date
    simulated: bool = False
    """Timed at a simulation of the provider, not at the provider."""

    @property
    def supports_p95(self) -> bool:
        """Are there enough samples to speak of a 95th percentile?"""
        return self.n >= P95_SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendFacts:
    """One backend as the record sees it. Holds no key."""

    name: str
    provider: str
    """``groq``, ``cerebras``, ``sambanova``, ``llama.cpp``, ..."""
    host: str
    """What its requests compete for: ``host`` or ``host:port``."""
    lane_class: LaneClass
    can_prioritise: bool = False
    """Does it serve requests in the order of a priority that comes with them?"""
    usd_per_million_input: float | None = None
    """Per million input tokens; None: not known."""
    usd_per_million_output: float | None = None
    context_tokens: int | None = None
    """The most tokens of one turn, read and written together; None: not known."""
    concurrent_turns: int | None = None
    """How many turns it answers at the same time; None: not known."""
    model_billion_parameters: float | None = None
    """The size of its model; None: not known."""
    measured: Measured | None = None
    unusable: str | None = None
    """Why it cannot be used now, as in "GROQ_API_KEY is not set"; None: it can."""

    def called(self, name: str) -> bool:
        """Is this the backend, or one of the provider, that a record calls ``name``?"""
        return name in (self.name, self.provider)

    def usd(self, input_tokens: float, output_tokens: float) -> float | None:
        """What these tokens cost here in USD, cached input not discounted; None: not known."""
        if self.usd_per_million_input is None or self.usd_per_million_output is None:
            return None
        spent = input_tokens * self.usd_per_million_input
        return (spent + output_tokens * self.usd_per_million_output) / 1e6

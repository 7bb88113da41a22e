"""From a record and the backends there are to who may answer what, in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.record import (
    TURN_KINDS,
    BackendFacts,
    LaneClass,
    Plan,
    Role,
    TurnKind,
)
from tests.routing.record.records import CEREBRAS, GPU, GROQ, LOCAL, backend, record


def order(plan: Plan, kind: TurnKind) -> list[tuple[str, Role]]:
    return [(candidate.backend.name, candidate.role) for candidate in plan.of(kind).candidates]


def test_the_six_fields_send_interactive_to_low_latency_and_the_rest_to_the_gpu() -> None:
    plan = record().plan([LOCAL, GROQ, GPU, CEREBRAS])
    decided = [("groq", "decided"), ("cerebras", "decided")]
    assert order(plan, "interactive") == [*decided, ("llama.cpp", "stand_in"), ("rack", "stand_in")]
    slow = [
        ("rack", "decided"),
        *((name, "stand_in") for name in ("groq", "cerebras", "llama.cpp")),
    ]
    for kind in ("analysis", "batch", "long_context"):
        assert order(plan, kind) == slow
    assert plan.of("analysis").reason == (
        'fallback_decision says "use general GPU-backed model for slower analysis tasks", so they '
        "go to a general GPU-backed model."
    )
    assert plan.of("batch").reason == (
        "No decision names them, so they go where analysis turns go, to a general GPU-backed model."
    )


def test_without_keys_the_local_model_answers_everything_and_says_so() -> None:
    keyless = backend("groq", unusable="GROQ_API_KEY is not set")
    plan = record().plan([keyless, LOCAL])
    for kind in TURN_KINDS:
        assert order(plan, kind) == [("llama.cpp", "stand_in")]
        assert plan.of(kind).reason.endswith("there is none here, so llama.cpp answers instead.")
    assert plan.unusable == (keyless,)


def test_nothing_stands_in_for_a_local_model() -> None:
    local_only = record(architecture_decision="route interactive turns to a local model")
    plan = local_only.plan([GROQ, GPU])
    assert order(plan, "interactive") == []
    assert plan.of("interactive").first is None
    assert plan.of("interactive").reason.endswith("but no backend for it is usable here.")
    assert order(plan, "analysis") == [("rack", "decided")]
    # Nor may analysis fall back to a backend that interactive turns must not use.
    assert order(local_only.plan([GROQ, LOCAL]), "analysis") == [("llama.cpp", "stand_in")]


def test_a_kind_that_both_decisions_name_falls_back_to_the_second() -> None:
    both = record(fallback_decision="use GPU servers for interactive turns")
    assert both.lane_of("interactive").classes == ("low_latency", "gpu")
    plan = both.plan([GPU, LOCAL, GROQ])
    chosen = [("groq", "decided"), ("rack", "fallback"), ("llama.cpp", "stand_in")]
    assert order(plan, "interactive") == chosen
    assert order(both.plan([GPU, LOCAL]), "interactive") == chosen[1:]
    assert both.lane_of("batch").follows == "analysis"
    assert both.lane_of("analysis").follows == "interactive"


def test_a_lane_uses_the_backends_that_it_names_and_no_others() -> None:
    lanes = {"interactive": {"backends": ["cerebras", "groq"], "model": "m", "priority": 9}}
    named = record(lanes=lanes)
    plan = named.plan([GROQ, LOCAL, CEREBRAS])
    assert order(plan, "interactive") == [("cerebras", "named"), ("groq", "named")]
    assert (plan.of("interactive").lane.model, plan.of("interactive").lane.priority) == ("m", 9)
    assert order(named.plan([LOCAL]), "interactive") == []
    by_provider = [backend("one", provider="groq"), backend("two", provider="groq")]
    assert order(named.plan(by_provider), "interactive") == [("one", "named"), ("two", "named")]


def test_a_lane_of_its_own_does_not_take_over_the_particulars_of_the_lane_it_follows() -> None:
    lanes = {"analysis": {"backends": ["rack"], "priority": 3, "notes": "n"}}
    follows = record(lanes=lanes).lane_of("batch")
    assert (follows.backends, follows.priority, follows.notes) == (("rack",), 3, None)
    own = record(lanes=lanes | {"batch": {"model": "big"}}).lane_of("batch")
    assert (own.backends, own.priority, own.model) == ((), None, "big")
    assert (own.classes, own.follows) == (("gpu",), "analysis")


@pytest.mark.parametrize(
    ("given_lane", "lane_class"), [({"external": True}, "external"), ({}, "gpu")]
)
def test_training_may_be_external(given_lane: dict[str, bool], lane_class: LaneClass) -> None:
    lane = record(lanes={"training": given_lane}).outside_lane("training")
    assert lane is not None
    assert (lane.name, lane.lane_class, lane.external) == (
        "training",
        lane_class,
        lane_class == "external",
    )
    assert record().outside_lane("training") is None


CLASSES: list[LaneClass] = ["low_latency", "gpu", "local"]
BACKENDS = st.lists(
    st.builds(
        backend,
        st.sampled_from("abcdef"),
        st.sampled_from(CLASSES),
        unusable=st.sampled_from([None, None, "KEY is not set"]),
    ),
    max_size=6,
    unique_by=lambda item: item.name,
)


@given(BACKENDS, st.sampled_from(["low-latency", "GPU", "local"]))
def test_candidates_are_usable_once_each_and_the_decided_class_comes_first(
    backends: list[BackendFacts], words: str
) -> None:
    plan = record(architecture_decision=f"route interactive turns to {words}").plan(backends)
    for kind in TURN_KINDS:
        candidates = plan.of(kind).candidates
        names = [candidate.backend.name for candidate in candidates]
        assert len(set(names)) == len(names)
        assert all(candidate.backend.unusable is None for candidate in candidates)
        assert all(candidate.reason.endswith(".") for candidate in candidates)
        decided = [candidate.role == "decided" for candidate in candidates]
        assert decided == sorted(decided, reverse=True)
        wanted = plan.of(kind).lane.lane_class
        fit = {item.name for item in backends if item.lane_class == wanted and not item.unusable}
        assert {name for name, fits in zip(names, decided, strict=True) if fits} == fit

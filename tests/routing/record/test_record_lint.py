"""What a check finds, and what it does not find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.record import BackendFacts, Finding, check, explain
from tests.routing.record.records import CEREBRAS, GPU, GROQ, LOCAL, backend, measured, record

ALL = (GROQ, CEREBRAS, GPU, LOCAL)
COSTS = {"input_length_tokens": 1000, "output_length_tokens": 100, "turns_per_call": 10}
"""At 1 USD in and 10 USD out per million tokens a call of these is 0.02 USD."""
PRICED = replace(GROQ, usd_per_million_input=1.0, usd_per_million_output=10.0)
CHEAP = replace(LOCAL, usd_per_million_input=0.0, usd_per_million_output=0.0)


def found(fields: dict[str, Any], *backends: BackendFacts) -> list[tuple[str, str, str]]:
    findings = check(record(**fields), backends)
    assert all(finding.message.endswith(".") and finding.remedy for finding in findings)
    return [(finding.severity, finding.code, finding.field) for finding in findings]


def one(code: str, fields: dict[str, Any], *backends: BackendFacts) -> Finding:
    return next(finding for finding in check(record(**fields), backends) if finding.code == code)


def test_the_six_fields_are_clean_where_both_classes_are_there() -> None:
    assert found({}, *ALL) == []


def test_a_machine_without_keys_has_warnings_and_no_errors() -> None:
    keyless = backend("groq", unusable="GROQ_API_KEY is not set")
    assert found({}, keyless, LOCAL) == [
        ("warning", "class_not_available", "architecture_decision"),
        ("warning", "class_not_available", "fallback_decision"),
        ("warning", "shared_host", "fallback_decision"),
    ]
    finding = one("class_not_available", {}, keyless, LOCAL)
    assert finding.message == (
        "Interactive turns go to llama.cpp, since low-latency inference is not set up here."
    )
    assert finding.remedy == (
        "Make one usable (groq: GROQ_API_KEY is not set), or change architecture_decision."
    )


def test_a_lane_that_nobody_serves_is_an_error() -> None:
    lanes = {"analysis": {"backends": ["rack"]}}
    off = replace(GPU, unusable="URL is not set")
    assert found({"lanes": lanes}, GROQ, off) == [
        ("error", "lane_without_backend", "lanes.analysis.backends"),
    ]
    assert [severity for severity, code, _ in found({}) if code == "lane_without_backend"] == [
        "error",
        "error",
    ]


SHARED_GPU = {"architecture_decision": "route interactive turns to GPU"}
RANKED = replace(GPU, can_prioritise=True)


@pytest.mark.parametrize(
    ("rack", "priorities", "shared"),
    [
        (GPU, (9, 0), True),
        (RANKED, (None, None), True),
        (RANKED, (5, 5), True),
        (RANKED, (0, 9), True),
        (RANKED, (9, 0), False),
        (RANKED, (9, None), False),
    ],
)
def test_two_lanes_on_one_host_need_a_priority(
    rack: BackendFacts, priorities: tuple[int | None, int | None], shared: bool
) -> None:
    given = zip(("interactive", "analysis"), priorities, strict=True)
    lanes = {name: {"priority": value} for name, value in given if value is not None}
    expected = [("error", "shared_host", "fallback_decision")] if shared else []
    assert found(SHARED_GPU | {"lanes": lanes}, rack, LOCAL) == expected


def test_the_host_counts_not_the_name() -> None:
    first, second = backend("a", host="rack:8000"), backend("b", "gpu", host="rack:8000")
    assert found({}, first, second) == [("error", "shared_host", "fallback_decision")]
    assert found({}, first, replace(second, host="other:8000")) == []


def test_names_that_no_backend_has_and_classes_that_were_not_decided() -> None:
    lanes = {"interactive": {"backends": ["grok", "rack", "groq"]}}
    assert found({"lanes": lanes}, GROQ, replace(GPU, host="x"), backend("y", "gpu")) == [
        ("error", "shared_host", "fallback_decision"),
        ("warning", "lane_contradicts_decision", "lanes.interactive.backends"),
        ("warning", "backend_unknown", "lanes.interactive.backends"),
    ]
    assert one("backend_unknown", {"lanes": lanes}, *ALL).remedy == "Write groq?"


@pytest.mark.parametrize(
    ("ceiling", "field", "severity"),
    [
        ({"cost_ceiling_usd_per_call": 0.019}, "workload.cost_ceiling_usd_per_call", "error"),
        ({"cost_ceiling_usd_per_call": 0.02}, None, None),
        (
            {"cost_ceiling_usd_per_day": 1.99, "calls_per_day": 100},
            "workload.cost_ceiling_usd_per_day",
            "error",
        ),
        ({"cost_ceiling_usd_per_day": 2, "calls_per_day": 100}, None, None),
        ({"cost_ceiling_usd_per_day": 2}, "workload.cost_ceiling_usd_per_day", "note"),
    ],
)
def test_a_ceiling_is_held_against_the_prices(
    ceiling: dict[str, Any], field: str | None, severity: str | None
) -> None:
    code = "ceiling_unchecked" if severity == "note" else "ceiling_under_estimate"
    expected = [(severity, code, field)] if field else []
    assert found({"workload": COSTS | ceiling}, PRICED, GPU) == expected


def test_a_ceiling_says_what_it_lacks_and_who_would_be_within() -> None:
    workload = {"cost_ceiling_usd_per_call": 0.001}
    assert one("ceiling_unchecked", {"workload": workload}, PRICED).message == (
        "The ceiling cannot be held against prices without input_length_tokens, "
        "output_length_tokens, turns_per_call."
    )
    assert one("ceiling_unchecked", {"workload": COSTS | workload}, GROQ).message == (
        "The ceiling cannot be held against prices: those of groq are not known."
    )
    finding = one("ceiling_under_estimate", {"workload": COSTS | workload}, PRICED, CHEAP)
    assert finding.message == (
        "The ceiling of 0.001 USD per call is under the estimate of 0.02 USD with groq."
    )
    assert finding.remedy == "Put llama.cpp first, or raise the ceiling."


@pytest.mark.parametrize(
    ("p50", "p95", "n", "codes"),
    [
        (200, 449, 59, []),
        (200, 450, 59, []),
        (200, 451, 59, [("error", "latency_target_missed")]),
        (500, 900, 59, [("error", "latency_target_missed")]),
        (200, 900, 58, [("note", "latency_n_too_small")]),
        (
            451,
            900,
            58,
            [("warning", "latency_median_over_target"), ("note", "latency_n_too_small")],
        ),
    ],
)
def test_a_latency_target_is_held_against_measurements_when_there_are_enough(
    p50: float, p95: float, n: int, codes: list[tuple[str, str]]
) -> None:
    fields = {"workload": {"latency_target_ms": 450}}
    timed = replace(GROQ, measured=measured(p50, p95, n))
    field = "workload.latency_target_ms"
    assert found(fields, timed, GPU) == [(*code, field) for code in codes]
    assert found({}, timed, GPU) == []


def test_what_is_not_measured_or_simulated_says_so() -> None:
    fields = {"workload": {"latency_target_ms": 450}}
    assert one("latency_unmeasured", fields, GROQ).message == (
        "The target of 450 ms is unproven: groq is not measured here yet."
    )
    timed = replace(GROQ, measured=measured(200, 600, simulated=True))
    assert one("latency_target_missed", fields, timed).message == (
        "groq (simulated) misses the target of 450 ms: its p95 is 600 ms (n = 100, 2026-12-01)."
    )


SMALL = replace(LOCAL, context_tokens=4096, concurrent_turns=2, model_billion_parameters=1.5)


@pytest.mark.parametrize(
    ("workload", "severity", "code"),
    [
        ({"input_length_tokens": 4000, "output_length_tokens": 96}, None, None),
        ({"input_length_tokens": 4000, "output_length_tokens": 97}, "error", "context_too_small"),
        ({"concurrent_users": 2}, None, None),
        ({"concurrent_users": 3}, "warning", "too_many_users"),
        ({"model_size_billion_parameters": 1.5}, None, None),
        ({"model_size_billion_parameters": 8}, "warning", "model_too_small"),
        ({"uptime_requirement_percent": 99.9}, "note", "single_backend"),
    ],
)
def test_the_workload_is_held_against_the_first_choice(
    workload: dict[str, Any], severity: str | None, code: str | None
) -> None:
    fields = {"architecture_decision": "route interactive turns to a local model"}
    findings = found(fields | {"workload": workload}, SMALL, GPU)
    field = f"workload.{next(iter(workload))}"
    assert findings == ([(severity, code, field)] if code else [])


def test_a_slow_target_contradicts_low_latency_inference() -> None:
    timed = [replace(GROQ, measured=measured(200, 300)), GPU]
    slow = {"workload": {"latency_target_ms": 5000}}
    assert found(slow, *timed) == [("note", "low_latency_not_needed", "workload.latency_target_ms")]
    assert found({"workload": {"latency_target_ms": 1000}}, *timed) == []
    gpu = {"architecture_decision": "route interactive turns to GPU"}
    codes = [code for _, code, _ in found(slow | gpu, GPU)]
    assert "low_latency_not_needed" not in codes


def test_training_and_edge_are_served_elsewhere_or_not_at_all() -> None:
    lanes = {"edge": {}, "training": {"external": True}}
    assert found({"lanes": lanes}, *ALL) == [("note", "lane_not_served", "lanes.edge")]


AMOUNTS = st.none() | st.integers(1, 10**6)
WORKLOADS = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.integers(1, 10**6) for name in (*COSTS, "concurrent_users", "calls_per_day")},
        "latency_target_ms": st.integers(1, 6000),
        "uptime_requirement_percent": st.floats(0.1, 100),
        "model_size_billion_parameters": st.floats(0.1, 1000),
        "cost_ceiling_usd_per_call": st.floats(0, 10),
        "cost_ceiling_usd_per_day": st.floats(0, 1000),
    },
)
BACKENDS = st.lists(
    st.builds(
        backend,
        st.sampled_from("abcd"),
        st.sampled_from(["low_latency", "gpu", "local"]),
        host=st.sampled_from("xy"),
        can_prioritise=st.booleans(),
        unusable=st.sampled_from([None, None, "KEY is not set"]),
        usd_per_million_input=st.none() | st.floats(0, 100),
        usd_per_million_output=st.none() | st.floats(0, 100),
        context_tokens=AMOUNTS,
        concurrent_turns=AMOUNTS,
        measured=st.none()
        | st.builds(measured, st.just(200), st.floats(200, 900), AMOUNTS.map(lambda n: n or 1)),
    ),
    max_size=5,
    unique_by=lambda item: item.name,
)
LANES = st.dictionaries(
    st.sampled_from(["interactive", "analysis", "batch", "long_context", "edge"]),
    st.fixed_dictionaries(
        {},
        optional={
            "backends": st.lists(st.sampled_from("abcde"), unique=True),
            "priority": st.integers(0, 100),
        },
    ),
)


@given(WORKLOADS, LANES, BACKENDS)
def test_whatever_there_is_errors_come_first_and_unserved_lanes_are_among_them(
    workload: dict[str, Any], lanes: dict[str, Any], backends: list[BackendFacts]
) -> None:
    given_record = record(workload=workload, lanes=lanes)
    findings = check(given_record, backends)
    orders = [finding.order for finding in findings]
    assert orders == sorted(orders)
    assert all(finding.message.isprintable() for finding in findings)
    plan = given_record.plan(backends)
    live_unserved = plan.of("interactive").first is None
    fields = ("architecture_decision", "lanes.interactive.backends")
    told = [f.field for f in findings if f.code == "lane_without_backend" and f.field in fields]
    assert bool(told) == live_unserved
    assert [kind.kind for kind in explain(given_record, backends)[:4]] == list(plan.kinds)

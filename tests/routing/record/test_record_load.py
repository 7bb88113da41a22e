"""A record is read strictly, and whatever is wrong with it is one clear line."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.record import DecisionRecord, RecordError, load_record, parse_record
from routing.record.load import read_json
from routing.record.schema import schema_text
from tests.routing.record.records import SIX

UNDERSTOOD = (
    'what is understood is like "route interactive turns to low-latency inference": a kind of '
    "turn (interactive, analysis, batch, long-context) and a class of backend (low-latency, GPU, "
    "local)"
)


def test_the_built_in_record_holds_the_six_fields_and_nothing_else() -> None:
    built_in = files("routing").joinpath("records", "field_service_voice_assistant.json")
    assert json.loads(built_in.read_text(encoding="utf-8")) == SIX
    assert load_record() == parse_record(SIX)


def test_a_full_record_is_read_whole(tmp_path: Path) -> None:
    full = SIX | {
        "workload": {
            "input_length_tokens": 900,
            "output_length_tokens": 80,
            "concurrent_users": 20,
            "latency_target_ms": 450,
            "model_size_billion_parameters": 8,
            "uptime_requirement_percent": 99.5,
            "turns_per_call": 12,
            "calls_per_day": 300,
            "cost_ceiling_usd_per_call": 0.02,
            "cost_ceiling_usd_per_day": 6,
        },
        "lanes": {
            "interactive": {"backends": ["groq", "cerebras"], "model": "m", "priority": 10},
            "analysis": {"backends": ["gpu"], "priority": 0, "notes": "shares the rack"},
            "batch": {"external": False},
            "long_context": {},
            "edge": {"external": True},
            "training": {"external": True, "notes": "a cloud"},
        },
    }
    path = tmp_path / "full.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(full).encode())
    read = load_record(path)
    given_back = read.model_dump(mode="json", exclude_unset=True)
    assert given_back == full
    assert read.lane_of("interactive").backends == ("groq", "cerebras")


def with_field(**fields: Any) -> bytes:
    return json.dumps(SIX | fields).encode()


BROKEN: list[tuple[bytes, str]] = [
    (b"", "is not JSON (Expecting value, line 1, column 1)"),
    (b'{\n  "a" 1}', "is not JSON (Expecting ':' delimiter, line 2, column 7)"),
    (b'{"application": "\xff"}', "is not UTF-8 at byte 17"),
    (b'{"a": NaN}', "NaN is not a JSON number"),
    (b'{"a": 1, "a": 2}', '"a" stands there twice'),
    (b'{"a": ' + b"9" * 5000 + b"}", "holds a number of too many digits"),
    (b"[" * 60_000, "is nested too deeply"),
    (b" " * 65_537, "is larger than 64 kB"),
    (b"[1]", "must be an object with fields, not a list"),
    (b'"text\\u2028"', 'must be an object with fields, not "text"'),
    (b'{"application": "a"}', "user_expectation is missing"),
    (with_field(main_risk=7), "main_risk must be text, not 7"),
    (with_field(main_risk=""), "main_risk is blank"),
    (with_field(main_risk=" "), "main_risk is blank"),
    (with_field(main_risk="\x1b[2J"), "main_risk holds line ends or control characters"),
    (with_field(main_risk="\ud800"), "main_risk holds half a character (a lone surrogate)"),
    (
        b'{"\\ud800": 1}',
        '"?" is a name with half a character (a lone surrogate)',
    ),
    (
        with_field(architecture_decision="\ud800"),
        "architecture_decision holds half a character (a lone surrogate)",
    ),
    (
        with_field(workload={"latency_target_ms": 10**30}),
        "workload.latency_target_ms must be at most 600000, not 1000000000000000000000000000000",
    ),
    (
        with_field(workload={"cost_ceiling_usd_per_day": 10**400}),
        "workload.cost_ceiling_usd_per_day must be a number, not 1" + 78 * "0" + "…",
    ),
    (
        with_field(workload={"latency_target_ms": 10**4200}),
        "workload.latency_target_ms must be at most 600000, not 1" + 78 * "0" + "…",
    ),
    (with_field(main_risk="x" * 501), "main_risk is longer than 500 characters"),
    (
        with_field(architecture_decison="x"),
        'unknown field "architecture_decison"; did you mean "architecture_decision"?',
    ),
    (
        with_field(workload={"latency_target": 450}),
        'unknown field "latency_target" in workload; did you mean "latency_target_ms"?',
    ),
    (
        with_field(lanes={"kitchen": {}}),
        'unknown field "kitchen" in lanes; known are interactive, analysis, batch, long_context, '
        "edge, training",
    ),
    (
        with_field(lanes={"edge": {"backend": []}}),
        'unknown field "backend" in lanes.edge; did you mean "backends"?',
    ),
    (with_field(workload=None), "workload must be an object, not null"),
    (
        with_field(workload={"concurrent_users": True}),
        "workload.concurrent_users must be a whole number, not true",
    ),
    (
        with_field(workload={"latency_target_ms": "450"}),
        'workload.latency_target_ms must be a whole number, not "450"',
    ),
    (
        with_field(workload={"latency_target_ms": 0}),
        "workload.latency_target_ms must be at least 1, not 0",
    ),
    (
        with_field(workload={"uptime_requirement_percent": 101}),
        "workload.uptime_requirement_percent must be at most 100, not 101",
    ),
    (
        b'{"workload": {"cost_ceiling_usd_per_day": 1e999},' + with_field()[1:],
        "workload.cost_ceiling_usd_per_day must be a finite number, not Infinity",
    ),
    (
        with_field(lanes={"interactive": {"external": True}}),
        "lanes.interactive.external must be false: only edge and training may be external",
    ),
    (
        with_field(lanes={"edge": {"external": True, "backends": ["x"]}}),
        "lanes.edge is external and yet names backends",
    ),
    (
        with_field(lanes={"batch": {"backends": ["x", "x"]}}),
        "lanes.batch.backends names a backend twice",
    ),
    (
        with_field(lanes={"batch": {"backends": ["x", 3]}}),
        "lanes.batch.backends.1 must be text, not 3",
    ),
    (
        with_field(lanes={"batch": {"backends": "groq"}}),
        'lanes.batch.backends must be a list, not "groq"',
    ),
    (
        with_field(architecture_decision="buy the biggest chip"),
        'architecture_decision: "buy the biggest chip" is not understood (unknown word "buy"); '
        + UNDERSTOOD,
    ),
    (
        with_field(fallback_decision="use GPU"),
        f'fallback_decision: "use GPU" is not understood (it names no kind of turn); {UNDERSTOOD}',
    ),
    (
        with_field(architecture_decision="route batch jobs to GPU"),
        "architecture_decision: no decision says where interactive turns go, as "
        '"route interactive turns to low-latency inference" does',
    ),
]


@pytest.mark.parametrize(("content", "error"), BROKEN, ids=[error[:50] for _, error in BROKEN])
def test_a_broken_record_is_one_clear_error(tmp_path: Path, content: bytes, error: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(RecordError) as raised:
        load_record(path)
    assert str(raised.value) == f"{path}: {error}"


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    cases = {
        tmp_path / "none.json": "no such file",
        tmp_path: "is a directory, not a file",
        tmp_path / "a\nb": "no such file",
        tmp_path / "a\0b": "cannot be read (bad name)",
    }
    for path, error in cases.items():
        with pytest.raises(RecordError) as raised:
            load_record(path)
        assert str(raised.value).endswith(error)
        assert str(raised.value).isprintable()


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=20),
    st.sampled_from(
        [*SIX.values(), "interactive", "groq", "route live calls to local; batch to GPU"]
    ),
)
NAMES = st.sampled_from(
    [
        *SIX,
        *DecisionRecord.model_fields,
        "edge",
        "batch",
        "external",
        "backends",
        "priority",
        "latency_target_ms",
        "concurrent_users",
        "notes",
    ]
) | st.text(st.characters(), max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=12,
)


@given(VALUES | st.dictionaries(NAMES, VALUES).map(lambda more: SIX | more))
def test_any_json_value_is_a_record_or_one_line(value: object) -> None:
    try:
        parsed = parse_record(read_json(json.dumps(value), "given"), "given")
    except RecordError as error:
        said = str(error)
        assert said.startswith("given: ")
        assert len(said) <= 700
        assert said.splitlines() == [said]
        said.encode()
    else:
        again = parsed.model_dump(mode="json", exclude_unset=True)
        assert parse_record(again) == parsed
        assert set(parsed.plan([]).kinds) == {"interactive", "analysis", "batch", "long_context"}


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    with pytest.raises(RecordError):
        load_record(path)


def test_the_schema_in_the_docs_is_that_of_the_model() -> None:
    path = Path(__file__).parents[3] / "docs" / "decision-record.schema.json"
    assert path.read_text(encoding="utf-8") == schema_text(), (
        "python -m routing.record.schema > docs/decision-record.schema.json"
    )

"""A record put into words, with measurements where there are some."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from routing.record import RecordError, explain, load_measurements, with_measurements
from tests.routing.record.records import GPU, GROQ, LOCAL, backend, measured, record

TODAY = date(2026, 12, 1)


def test_every_kind_of_turn_says_where_it_goes_and_why() -> None:
    off = backend("cerebras", unusable="CEREBRAS_API_KEY is not set")
    lanes = {"training": {"external": True}, "edge": {}}
    kinds = explain(record(lanes=lanes), [GROQ, off, LOCAL], today=TODAY)
    assert [(kind.kind, kind.goes_to) for kind in kinds] == [
        ("interactive", "Interactive turns go to groq, and when that fails to llama.cpp."),
        ("analysis", "Analysis turns go to groq, and when that fails to llama.cpp."),
        ("batch", "Batch turns go to groq, and when that fails to llama.cpp."),
        ("long_context", "Long-context turns go to groq, and when that fails to llama.cpp."),
        ("edge", "Nothing in this application serves edge."),
        ("training", "Training is done outside this application."),
    ]
    interactive, analysis = kinds[:2]
    assert '"route interactive turns to low-latency inference"' in interactive.why
    assert interactive.not_usable == ("cerebras (CEREBRAS_API_KEY is not set)",)
    assert analysis.not_usable == ()
    assert analysis.backends[0].why == (
        "It stands in for a general GPU-backed model, of which there is none."
    )
    assert interactive.backends[0].measured == "not measured here yet"
    assert interactive.backends[0].price == "price not known"


def test_a_lane_without_backends_says_so() -> None:
    assert explain(record(), [])[0].goes_to == (
        "Interactive turns cannot be answered: no backend is usable."
    )


@pytest.mark.parametrize(
    ("n", "today", "simulated", "text"),
    [
        (59, TODAY, False, "p95 300 ms, n 59, 2026-12-01"),
        (58, TODAY, False, "n 58 (too small for a p95, which needs 59), 2026-12-01"),
        (59, date(2026, 12, 2), True, "p95 300 ms, n 59, 2026-12-01 (not today), simulated"),
        (59, None, False, "p95 300 ms, n 59, 2026-12-01"),
    ],
)
def test_measurements_are_told_with_n_and_date(
    n: int, today: date | None, simulated: bool, text: str
) -> None:
    timed = replace(GROQ, measured=measured(200, 300, n, simulated=simulated))
    priced = replace(timed, usd_per_million_input=0.5, usd_per_million_output=0.0)
    told = explain(record(), [priced], today=today)[0].backends[0]
    assert told.measured == f"first speakable text p50 200 ms, {text}"
    assert told.price == "0.5 USD in, 0 USD out per million tokens"


ENTRY = {
    "first_speakable_p50_ms": 180,
    "first_speakable_p95_ms": 260.5,
    "n": 120,
    "measured_on": "2026-12-01",
}


def test_measurements_are_read_from_a_file_and_given_to_their_backends(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text(json.dumps({"groq": ENTRY, "rack": ENTRY | {"simulated": True}}))
    groq, rack, local = with_measurements([GROQ, GPU, LOCAL], load_measurements(path))
    assert groq.measured == measured(180, 260.5, 120)
    assert rack.measured == measured(180, 260.5, 120, simulated=True)
    assert local.measured is None


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ([], "must be an object of backends, not a list"),
        ({"groq": 3}, '"groq": must be an object with fields, not 3'),
        ({"groq": ENTRY | {"n": 0}}, '"groq": n must be at least 1, not 0'),
        ({"groq": ENTRY | {"p95": 1}}, 'unknown field "p95"; known are'),
        ({"groq": ENTRY | {"first_speakable_p95_ms": 1}}, "a 95th percentile below its median"),
        ({"groq": ENTRY | {"measured_on": "yesterday"}}, '"groq": measured_on '),
        ({"grok": ENTRY}, 'measurements: "grok" is no backend here; did you mean "groq"?'),
    ],
)
def test_broken_measurements_are_one_clear_error(
    tmp_path: Path, content: object, error: str
) -> None:
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError) as raised:
        with_measurements([GROQ, LOCAL], load_measurements(path))
    assert error in str(raised.value)
    assert str(raised.value).isprintable()

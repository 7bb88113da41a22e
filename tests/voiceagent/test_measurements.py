"""What the running server measures is what the record's commands read."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from routing.choosing import Considered
from routing.decision import Decision
from routing.race import Attempt
from routing.record import load_measurements
from voiceagent.measurements import Measurements

MS = 1_000


def decision(first_ms: int | None, *backends: str, outcome: str = "answered") -> Decision:
    attempts = [
        Attempt(number, Considered(name, "closed", 0, 0, 0, 0, 0, 0.0), "answer", 0)
        for number, name in enumerate(backends)
    ]
    made = Decision("interactive", 0, [], "why", attempts, leader=attempts[-1], outcome=outcome)
    made.first_speakable_us = None if first_ms is None else first_ms * MS
    return made


def test_the_written_file_is_one_that_the_record_reads(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("not JSON")
    kept = Measurements(path, lambda: date(2026, 12, 1))
    for first in (100, 200, 300):
        kept.add(decision(first, "groq"))
    kept.write()
    (name, measured), *more = load_measurements(path).items()
    assert (name, more) == ("groq", [])
    assert (measured.first_speakable_p50_ms, measured.n) == (200, 3)
    assert measured.first_speakable_p95_ms == pytest.approx(290)
    assert measured.measured_on == date(2026, 12, 1)


@pytest.mark.parametrize(
    "other",
    [
        decision(None, "groq"),
        decision(100, "groq", "gpu"),
        decision(100, "groq", outcome="timeout"),
    ],
    ids=["nothing-spoken", "two-backends", "not-answered"],
)
def test_m01_only_whole_answers_of_one_backend_count(tmp_path: Path, other: Decision) -> None:
    kept = Measurements(tmp_path / "m.json")
    kept.add(other)
    kept.write()
    assert not kept.path.exists()


def test_a_new_day_begins_anew_and_leaves_the_others(tmp_path: Path) -> None:
    days = [date(2026, 12, 1)]
    kept = Measurements(tmp_path / "m.json", lambda: days[-1])
    kept.add(decision(100, "groq"))
    kept.add(decision(500, "gpu"))
    kept.write()
    days.append(date(2026, 12, 2))
    kept.add(decision(300, "groq"))
    kept.write()
    found = load_measurements(kept.path)
    assert (found["groq"].first_speakable_p50_ms, found["groq"].n) == (300, 1)
    assert found["gpu"].measured_on == days[0]


def test_a_folder_that_cannot_be_written_costs_only_the_file(tmp_path: Path) -> None:
    kept = Measurements(tmp_path / "missing" / "m.json")
    for _ in range(30):
        kept.add(decision(100, "groq"))

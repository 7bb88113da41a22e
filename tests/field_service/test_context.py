"""The prompt: all of the record, in words, and the same bytes all day."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys

import pytest

from voiceagent.field_service.context import build_prompt
from voiceagent.field_service.customers import Customer, Note, Slot, find_customer

TODAY = dt.date(2026, 12, 1)


def grace() -> Customer:
    return find_customer(None, TODAY)


def test_the_prompt_holds_the_whole_record() -> None:
    customer, prompt = grace(), build_prompt(grace(), TODAY)
    facts = [customer.name, customer.phone, customer.address, customer.plan, "$29", "$120"]
    facts += ["Tuesday, December 1, 2026", "December 15", "Thursday, December 10, 9 AM to 11 AM"]
    facts += [part for unit in customer.equipment for part in (unit.kind, unit.model, unit.serial)]
    facts += [ticket.number for ticket in customer.tickets]
    facts += [visit.technician for visit in customer.visits]
    facts += [note.text for note in customer.notes]
    assert [fact for fact in facts if fact.lower() not in prompt.lower()] == []


def test_the_prompt_is_the_same_bytes_in_another_process() -> None:
    code = (
        "import datetime as dt\n"
        "from voiceagent.field_service.role import load_role\n"
        f"print(load_role(None, dt.date{(TODAY.year, TODAY.month, TODAY.day)}).system_prompt)"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert other.stdout.rstrip("\n") == build_prompt(grace(), TODAY)


def test_the_next_day_changes_only_the_line_that_names_the_day() -> None:
    """Both days lie in one week of the demo's calendar, so that the record stands still."""
    a = build_prompt(grace(), TODAY).splitlines()
    tomorrow = TODAY + dt.timedelta(days=1)
    b = build_prompt(find_customer(None, tomorrow), tomorrow).splitlines()
    changed = [old for old, new in zip(a, b, strict=True) if old != new]
    assert changed == ["Today is Tuesday, December 1, 2026."]


def test_the_prompt_is_short_and_has_nothing_to_be_read_out_as_markup() -> None:
    """Characters, not tokens: the tokens are counted where the model is (test_answers.py)."""
    prompt = build_prompt(grace(), TODAY)
    assert len(prompt) < 2_600
    assert not set(prompt) & set("*#_`<>[]{}|\\")
    assert prompt.isascii()


def test_a_warranty_that_ends_today_still_holds_and_is_over_tomorrow() -> None:
    unit = grace().equipment[0].model_copy(update={"warranty_until": TODAY})
    customer = grace().model_copy(update={"equipment": (unit,)})
    assert "under warranty until December 2026." in build_prompt(customer, TODAY)
    after = build_prompt(customer, TODAY + dt.timedelta(days=1))
    assert "no warranty since December 2026." in after


def test_an_empty_record_is_said_to_be_empty() -> None:
    bare = grace().model_copy(
        update={"equipment": (), "tickets": (), "visits": (), "free_slots": (), "notes": ()}
    )
    prompt = build_prompt(bare, TODAY)
    assert "Other free times: none." in prompt
    assert "There are none." in prompt


@pytest.mark.parametrize(
    ("cents", "words"),
    [(0, "$0,"), (5, "$0.05,"), (12_000, "$120,"), (8_450, "$84.50,"), (-300, "-$3,")],
)
def test_money_is_exact(cents: int, words: str) -> None:
    assert words in build_prompt(grace().model_copy(update={"balance_cents": cents}), TODAY)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (dt.time(0), "12 AM"),
        (dt.time(9, 30), "9:30 AM"),
        (dt.time(12), "12 PM"),
        (dt.time(13, 5), "1:05 PM"),
    ],
)
def test_times_are_said_on_a_twelve_hour_clock(start: dt.time, words: str) -> None:
    slot = Slot(date=TODAY, start=start, end=dt.time(23))
    prompt = build_prompt(grace().model_copy(update={"free_slots": (slot,)}), TODAY)
    assert f"December 1, {words} to 11 PM" in prompt


def test_dollars_and_braces_in_a_note_stay_as_they_are() -> None:
    note = Note(date=TODAY, by="Office", text="Paid $85, see {file} and $name.")
    customer = grace().model_copy(update={"notes": (note,)})
    assert "Paid $85, see {file} and $name." in build_prompt(customer, TODAY)

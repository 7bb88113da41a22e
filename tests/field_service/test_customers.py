"""The record: read from its file, found by its id, with a calendar that suits the day."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from voiceagent.field_service.customers import (
    Customer,
    Slot,
    UnknownCustomerError,
    find_customer,
    read_file,
)

DAYS = st.dates(dt.date(2020, 1, 1), dt.date(2090, 1, 1))


def default() -> Customer:
    book = read_file()
    assert book.as_of is not None
    return find_customer(None, book.as_of)


def test_the_demo_has_what_a_caller_asks_about() -> None:
    customer = default()
    assert 6 <= len(customer.notes) <= 10
    assert 2 <= len(customer.free_slots) <= 3
    assert customer.visits
    assert customer.tickets
    assert customer.equipment
    assert list(customer.notes) == sorted(customer.notes, key=lambda note: note.date, reverse=True)


def test_phone_numbers_are_fictional() -> None:
    assert all(customer.phone.startswith("555-01") for customer in read_file().customers)


def test_an_unknown_customer_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownCustomerError, match=r"'nobody'.*grace-miller"):
        find_customer("nobody", dt.date(2026, 12, 1))


@given(DAYS)
def test_on_any_day_the_next_visit_is_ahead_and_on_its_weekday(today: dt.date) -> None:
    written, moved = default(), find_customer(None, today)
    ahead = [*moved.visits, *moved.free_slots]
    assert all(today < slot.date <= today + dt.timedelta(days=21) for slot in ahead)
    assert all(note.date <= today for note in moved.notes)
    assert all(ticket.date <= today for ticket in moved.tickets)
    assert [v.date.weekday() for v in moved.visits] == [v.date.weekday() for v in written.visits]
    assert moved.equipment == written.equipment


@given(DAYS)
def test_days_of_one_week_see_one_calendar(today: dt.date) -> None:
    as_of = read_file().as_of
    assert as_of is not None
    first = today - (today - as_of) % dt.timedelta(weeks=1)
    assert find_customer(None, today) == find_customer(None, first)


def test_a_window_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValidationError, match="must end after it starts"):
        Slot(date=dt.date(2026, 12, 1), start=dt.time(9), end=dt.time(8))


def test_a_misspelt_field_is_named() -> None:
    with pytest.raises(ValidationError, match="balanse_cents"):
        Customer.model_validate(default().model_dump() | {"balanse_cents": 1})


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        default().name = "Somebody Else"

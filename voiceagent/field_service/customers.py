"""Customer records: their shape, and the demo's file of them.

Everything else in this folder takes a `Customer` and does not ask where it came from, so a
database can take the file's place.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from functools import cache
from importlib.resources import files
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

_WEEK = dt.timedelta(weeks=1)


class UnknownCustomerError(LookupError):
    """There is no customer with this id."""


class _Record(BaseModel):
    """Unchangeable; a wrong or missing field in the file is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Equipment(_Record):
    """A unit in the customer's home. Model and serial number are spoken, so keep them short."""

    kind: str
    model: str
    serial: str
    installed: dt.date
    warranty_until: dt.date


class Dated(_Record):
    """Something on the calendar."""

    date: dt.date


class Ticket(Dated):
    """A fault not yet resolved, with the day on which it was opened."""

    number: str
    about: str


class Slot(Dated):
    """A time window of one day, in the customer's local time."""

    start: dt.time
    end: dt.time

    @model_validator(mode="after")
    def _in_order(self) -> Slot:
        if self.end <= self.start:
            raise ValueError("a time window must end after it starts")
        return self


class Visit(Slot):
    """A slot that is taken: who comes, and what for."""

    technician: str
    purpose: str


class Note(Dated):
    """What was done or said on one day."""

    by: str
    text: str


class Customer(_Record):
    """One customer record with its recent service notes. Money is in cents."""

    id: str
    name: str
    phone: str
    address: str
    plan: str
    plan_price_cents: int = Field(ge=0)
    plan_includes: str
    balance_cents: int
    balance_due: dt.date
    equipment: tuple[Equipment, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    visits: tuple[Visit, ...] = ()
    free_slots: tuple[Slot, ...] = ()
    notes: tuple[Note, ...] = ()
    """Newest first."""

    @property
    def first_name(self) -> str:
        """As the greeting says it."""
        return self.name.split()[0]

    def moved(self, by: dt.timedelta) -> Customer:
        """The same record with its calendar moved; installation and warranty dates stay."""
        return self.model_copy(
            update={
                "balance_due": self.balance_due + by,
                "tickets": _moved(self.tickets, by),
                "visits": _moved(self.visits, by),
                "free_slots": _moved(self.free_slots, by),
                "notes": _moved(self.notes, by),
            }
        )


class CustomerFile(_Record):
    """`customers.toml`: see the comment at its head."""

    default: str
    as_of: dt.date | None = None
    customers: tuple[Customer, ...]


_D = TypeVar("_D", bound=Dated)


def _moved(parts: tuple[_D, ...], by: dt.timedelta) -> tuple[_D, ...]:
    return tuple(part.model_copy(update={"date": part.date + by}) for part in parts)


@cache
def read_file() -> CustomerFile:
    """The demo's customers as they are written. Read once."""
    text = files(__package__).joinpath("customers.toml").read_text(encoding="utf-8")
    return CustomerFile.model_validate(tomllib.loads(text))


def find_customer(customer_id: str | None, today: dt.date) -> Customer:
    """The customer with this id (None: the default caller), with a calendar that suits ``today``.

    Raises `UnknownCustomerError`, naming those there are.
    """
    book = read_file()
    wanted = customer_id or book.default
    found = next((customer for customer in book.customers if customer.id == wanted), None)
    if found is None:
        known = ", ".join(customer.id for customer in book.customers)
        raise UnknownCustomerError(f"There is no customer {wanted!r}. There are: {known}.")
    if book.as_of is None:
        return found
    return found.moved((today - book.as_of) // _WEEK * _WEEK)

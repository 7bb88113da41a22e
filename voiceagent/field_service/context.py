"""The interactive prompt: the customer record and the recent service notes, in words.

Nothing in it changes between turns, so that a prompt cache keeps the whole of it; what changes by
the day comes late. It is in words a person could say, because small models repeat what they read
and what they say is spoken.
"""

from __future__ import annotations

import datetime as dt
from functools import cache
from importlib.resources import files
from string import Template

from voiceagent.field_service.customers import Customer, Equipment, Note, Slot, Ticket, Visit


def build_prompt(customer: Customer, today: dt.date) -> str:
    """The system prompt of a call with this customer: the same bytes all day."""
    parts = [
        _account(customer),
        *(_equipment(unit, today) for unit in customer.equipment),
        *map(_ticket, customer.tickets),
        *map(_visit, customer.visits),
        _free_slots(customer.free_slots),
    ]
    notes = list(map(_note, customer.notes)) or ["There are none."]
    return Template(read_prompt("system.txt")).substitute(
        name=customer.name,
        record="\n".join(parts),
        notes="\n".join(notes),
        today=f"{_weekday(today)}, {today.year}",
    )


@cache
def read_prompt(name: str) -> str:
    """A file of the prompts folder, without the line's end at its end."""
    return files(__package__).joinpath("prompts", name).read_text(encoding="utf-8").rstrip("\n")


def _account(customer: Customer) -> str:
    owed, due = _money(customer.balance_cents), _day(customer.balance_due)
    return (
        f"Phone: {customer.phone}. Address: {customer.address}.\n"
        f"Plan: {customer.plan}, {_money(customer.plan_price_cents)} a month, "
        f"includes {customer.plan_includes}.\n"
        f"{customer.first_name} owes {owed}, due {due}."
    )


def _equipment(unit: Equipment, today: dt.date) -> str:
    until = f"{unit.warranty_until:%B %Y}"
    covered = unit.warranty_until >= today
    warranty = f"under warranty until {until}" if covered else f"no warranty since {until}"
    return (
        f"{unit.kind.capitalize()}: model {unit.model}, serial number {unit.serial}, "
        f"installed in {unit.installed:%B %Y}, {warranty}."
    )


def _ticket(ticket: Ticket) -> str:
    return f"Open ticket {ticket.number}, since {_day(ticket.date)}: {ticket.about}."


def _visit(visit: Visit) -> str:
    return f"Next visit: {_slot(visit)}, {visit.technician} will {visit.purpose}."


def _free_slots(slots: tuple[Slot, ...]) -> str:
    return "Other free times: " + ("; ".join(map(_slot, slots)) or "none") + "."


def _slot(slot: Slot) -> str:
    return f"{_weekday(slot.date)}, {_clock(slot.start)} to {_clock(slot.end)}"


def _note(note: Note) -> str:
    return f"{_day(note.date)}, {note.by}: {note.text}"


def _weekday(day: dt.date) -> str:
    return f"{day:%A}, {_day(day)}"


def _day(day: dt.date) -> str:
    return f"{day:%B} {day.day}"


def _clock(at: dt.time) -> str:
    minute = f":{at.minute:02}" if at.minute else ""
    return f"{at.hour % 12 or 12}{minute} {'AM' if at.hour < 12 else 'PM'}"


def _money(cents: int) -> str:
    dollars, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${dollars}" + (f".{rest:02}" if rest else "")

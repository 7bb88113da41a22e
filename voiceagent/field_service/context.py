"""The interactive prompt: the customer record and the recent service notes, in words.

The order is from what never changes to what changes by the day, and nothing in it changes between
turns, so that a prompt cache keeps the whole of it. It is written as sentences a person could say:
small models repeat what they read, and what they say is spoken.
"""

from __future__ import annotations

import datetime as dt
from functools import cache
from importlib.resources import files
from string import Template

from voiceagent.field_service.customers import Customer, Equipment, Note, Slot, Ticket, Visit


def build_prompt(customer: Customer, today: dt.date) -> str:
    """The system prompt for a call with this customer: the same bytes all day."""
    return Template(read_prompt("system.txt")).substitute(
        name=customer.name,
        first_name=customer.name.split()[0],
        account=_account(customer),
        equipment="\n".join(_equipment(unit, today) for unit in customer.equipment),
        tickets="\n".join(_ticket(ticket, today) for ticket in customer.tickets),
        visits="\n".join(_visit(visit, today) for visit in customer.visits),
        slots=_slots(customer.free_slots, today),
        notes="\n".join(_note(note, today) for note in customer.notes),
        today=f"{today:%A}, {_month_day(today)}, {today.year}",
    )


@cache
def read_prompt(name: str) -> str:
    """A file of the prompts folder, without its final newline."""
    return files(__package__).joinpath("prompts", name).read_text(encoding="utf-8").rstrip("\n")


def _account(customer: Customer) -> str:
    return (
        f"Her phone: {customer.phone}. Her address: {customer.address}.\n"
        f"Plan: {customer.plan}, {money(customer.plan_price_cents)} a month, "
        f"includes {customer.plan_includes}.\n"
        f"Balance she owes: {money(customer.balance_cents)}, due {_month_day(customer.balance_due)}."
    )


def _equipment(unit: Equipment, today: dt.date) -> str:
    until = f"{unit.warranty_until:%B %Y}"
    covered = unit.warranty_until >= today
    warranty = f"under warranty until {until}" if covered else f"has no warranty, it ran out in {until}"
    return (
        f"{unit.kind.capitalize()}: model {unit.model}, serial number {unit.serial}, "
        f"installed in {unit.installed:%B %Y}, {warranty}."
    )


def _ticket(ticket: Ticket, today: dt.date) -> str:
    return f"Open ticket {ticket.number}, since {_month_day(ticket.date)}: {ticket.about}."


def _visit(visit: Visit, today: dt.date) -> str:
    return f"Next visit: {_slot(visit, today)}, {visit.technician} will {visit.purpose}."


def _slots(slots: tuple[Slot, ...], today: dt.date) -> str:
    return "Free slots: " + "; ".join(_slot(slot, today) for slot in slots) + "."


def _slot(slot: Slot, today: dt.date) -> str:
    return f"{slot.date:%A}, {_month_day(slot.date)}, {_clock(slot.start)} to {_clock(slot.end)}"


def _note(note: Note, today: dt.date) -> str:
    return f"{_month_day(note.date)}, {note.by}: {note.text}"


def _month_day(day: dt.date) -> str:
    return f"{day:%B} {day.day}"


def _clock(at: dt.time) -> str:
    hour = at.hour % 12 or 12
    minute = f":{at.minute:02}" if at.minute else ""
    return f"{hour}{minute} {'AM' if at.hour < 12 else 'PM'}"


def money(cents: int) -> str:
    """Dollars, with cents only where there are some."""
    sign = "-" if cents < 0 else ""
    dollars, rest = divmod(abs(cents), 100)
    return f"{sign}${dollars}" + (f".{rest:02}" if rest else "")

"""Who the agent is: its words, its prompt and its safety rules. A fork begins here."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from string import Template

from voiceagent.field_service.context import build_prompt, read_prompt
from voiceagent.field_service.customers import Customer, find_customer
from voiceagent.field_service.safety import SafetyAnswer, safety_answer


@dataclass(frozen=True, slots=True)
class Apologies:
    """What is said when something went wrong."""

    no_answer: str
    """Nothing answered within the bound."""
    lost_rest: str
    """An answer broke off after it had begun."""
    not_understood: str
    """There was speech, and no words were recognised in it."""


@dataclass(frozen=True, slots=True)
class Role:
    """Everything that a conversation needs to know of the demo."""

    greeting: str
    system_prompt: str
    """The same bytes all day: load the role anew for each conversation, or at least each day."""
    safety: Callable[[str], SafetyAnswer | None]
    """From what was said to what must be answered before any model is asked, or None."""
    vocabulary: str
    """Names and part words, as a hint to the recogniser."""
    apologies: Apologies
    idle_prompt: str


def load_role(customer_id: str | None = None, today: dt.date | None = None) -> Role:
    """The field-service assistant on the phone with one customer.

    ``customer_id`` None is the demo's default caller, ``today`` None the real day. Raises
    ``UnknownCustomerError``.
    """
    day = today or dt.date.today()
    customer = find_customer(customer_id, day)
    phrases = tomllib.loads(read_prompt("phrases.toml"))
    return Role(
        greeting=Template(phrases["greeting"]).substitute(first_name=customer.first_name),
        system_prompt=build_prompt(customer, day),
        safety=safety_answer,
        vocabulary=_vocabulary(customer, phrases["vocabulary"]),
        apologies=Apologies(**phrases["apologies"]),
        idle_prompt=phrases["idle_prompt"],
    )


def _vocabulary(customer: Customer, trade: list[str]) -> str:
    people = [customer.name, *(visit.technician for visit in customer.visits)]
    people += [note.by for note in customer.notes]
    things = [f"{unit.kind} {unit.model}" for unit in customer.equipment]
    return ", ".join(dict.fromkeys([*people, customer.plan, *things, *trade]))

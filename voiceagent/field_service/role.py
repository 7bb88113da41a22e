"""Who the agent is: its words, its prompt and its safety rules. A fork begins here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from voiceagent.field_service.context import build_prompt
from voiceagent.field_service.customers import Customer, find_customer
from voiceagent.field_service.safety import SafetyAnswer, safety_answer


@dataclass(frozen=True, slots=True)
class Apologies:
    """What is said when something went wrong."""

    no_answer: str = "Sorry, I can't get an answer right now. Please try again in a moment."
    lost_rest: str = "Sorry, I lost the rest of that."
    not_understood: str = "Sorry, I didn't catch that. Could you say it again?"


@dataclass(frozen=True, slots=True)
class Role:
    """Everything that a conversation needs to know of the demo."""

    greeting: str
    system_prompt: str
    safety: Callable[[str], SafetyAnswer | None]
    vocabulary: str
    """Names and part words, as a hint to the recogniser."""
    apologies: Apologies = Apologies()
    idle_prompt: str = "Are you still there? I'm happy to look something up."


def load_role(customer_id: str | None = None, today: dt.date | None = None) -> Role:
    """The field-service assistant on the phone with one customer.

    ``customer_id`` None is the demo's default caller, ``today`` None the real day. Raises
    ``UnknownCustomerError``.
    """
    day = today or dt.date.today()
    customer = find_customer(customer_id, day)
    return Role(
        greeting=(
            f"Hello {customer.name.split()[0]}, this is Lakeside Home Service. "
            "I have your record here. What can I do for you?"
        ),
        system_prompt=build_prompt(customer, day),
        safety=safety_answer,
        vocabulary=_vocabulary(customer),
    )


def _vocabulary(customer: Customer) -> str:
    people = [customer.name, *(visit.technician for visit in customer.visits)]
    things = [unit.kind for unit in customer.equipment]
    return ", ".join(dict.fromkeys([*people, *things, "warranty", "technician", "Lakeside"]))

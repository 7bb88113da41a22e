"""A role's words as the conversation takes them."""

from __future__ import annotations

from collections.abc import Callable

from voiceagent.conversation.rules import Script
from voiceagent.field_service.role import Role


def fixed_answer_of(role: Role) -> Callable[[str], str | None]:
    """The role's safety rules: recognised text to the answer that comes before any model."""

    def fixed_answer(text: str) -> str | None:
        answer = role.safety(text)
        return answer.text if answer else None

    return fixed_answer


def script_of(role: Role, greeting: str | None = None) -> Script:
    """The script of a conversation in this role; ``greeting`` replaces the role's own."""
    return Script(
        system=role.system_prompt,
        greeting=greeting or role.greeting,
        fixed_answer=fixed_answer_of(role),
        no_answer=role.apologies.no_answer,
        lost_rest=role.apologies.lost_rest,
        not_understood=role.apologies.not_understood,
        idle_prompt=role.idle_prompt,
    )

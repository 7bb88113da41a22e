"""The states of a conversation and the events that move it between them.

Two machines run side by side, one for each speaker. They are derived from what the conversation
holds (an open turn, a reply), so no flag can disagree with the facts; this table says which moves
are lawful and which deadline ends the waiting in each state. The tests check every observed move
against it, and the diagram in ``docs/`` is generated from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class User(StrEnum):
    """What the person is doing, as far as we can tell."""

    QUIET = "quiet"
    SPEAKING = "speaking"
    PAUSED = "paused"


class Agent(StrEnum):
    """What the agent is doing at the listener's end."""

    IDLE = "idle"
    THINKING = "thinking"
    SPEAKING = "speaking"


# (state, what happens) -> next state
USER_MOVES: dict[tuple[User, str], User] = {
    (User.QUIET, "speech starts"): User.SPEAKING,
    (User.SPEAKING, "speech pauses, or its audio is lost"): User.PAUSED,
    (User.SPEAKING, "longest turn reached"): User.QUIET,
    (User.PAUSED, "speech resumes"): User.SPEAKING,
    (User.PAUSED, "hold over and text there: commit or drop"): User.QUIET,
    (User.PAUSED, "no text in time: drop"): User.QUIET,
}

AGENT_MOVES: dict[tuple[Agent, str], Agent] = {
    (Agent.IDLE, "turn committed, reply requested, greeting, idle prompt"): Agent.THINKING,
    (Agent.THINKING, "first clause voiced and the user is quiet"): Agent.SPEAKING,
    (Agent.THINKING, "user goes on (merged), cancelled, failed without a voice"): Agent.IDLE,
    (Agent.SPEAKING, "heard to the end, interrupted, cancelled"): Agent.IDLE,
    (Agent.SPEAKING, "ended while another reply was waited for"): Agent.THINKING,
    (Agent.IDLE, "reply was ready before the turn was committed"): Agent.SPEAKING,
}

# What ends the waiting in each state (timers of ``timers.py``). Two tables, since the names of the
# states of both machines are equal strings.
USER_DEADLINES: dict[User, str] = {
    User.QUIET: "none: the floor is the user's",
    User.SPEAKING: "lost audio, longest turn",
    User.PAUSED: "hold, transcript",
}
AGENT_DEADLINES: dict[Agent, str] = {
    Agent.IDLE: "idle prompt, then none",
    Agent.THINKING: "first content, between chunks, voice",
    Agent.SPEAKING: "playout, between chunks, voice",
}


def diagram() -> str:
    """The two machines as a Mermaid state diagram."""
    lines = ["stateDiagram-v2"]
    machines: tuple[tuple[str, Mapping[Any, Any], Mapping[Any, str]], ...] = (
        ("User", USER_MOVES, USER_DEADLINES),
        ("Agent", AGENT_MOVES, AGENT_DEADLINES),
    )
    for title, moves, deadlines in machines:
        lines.append(f"    state {title} {{")
        first = next(iter(moves))[0]
        lines.append(f"        [*] --> {title}_{first}")
        for state in dict.fromkeys(state for state, _ in moves):
            lines.append(f"        {title}_{state}: {state}<br/>({deadlines[state]})")
        lines += [
            f"        {title}_{state} --> {title}_{after}: {why}"
            for (state, why), after in moves.items()
        ]
        lines.append("    }")
    return "\n".join(lines)

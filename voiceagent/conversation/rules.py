"""Every threshold and deadline of the conversation in one table. Microseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MS = 1_000
SECOND = 1_000_000
SAMPLES_PER_SECOND = 24_000


@dataclass(frozen=True, slots=True)
class Rules:
    """When to wait, and for how long at most. A fork changes these, not the code."""

    # Endpointing: silence after the last voiced sample before the turn is taken to be over.
    hold_complete: int = 300 * MS
    hold_unknown: int = 550 * MS
    hold_incomplete: int = 1_200 * MS
    complete_above: float = 0.5
    """The turn model's own decision point."""
    incomplete_below: float = 0.3
    """Below this the model is surer than its 27 of 40 on mid-sentence cuts suggests; wait."""

    # Listening.
    lost_audio: int = 1 * SECOND
    """Speech with no further audio for this long has ended (a muted or stalled client)."""
    longest_turn: int = 30 * SECOND
    transcript_bound: int = 4 * SECOND
    first_partial: int = 500 * MS
    partial_every: int = 500 * MS

    read_ahead_words: int = 1
    """A partial transcript of so many certain words is read ahead by the language model."""
    uncertain_words: int = 1
    """The last words of a partial transcript, which the next one often changes."""

    # Interruption.
    barge_in: int = 250 * MS
    """Speech over the agent's voice that lasts this long past its detection is an interruption."""

    # Language. First content and between chunks are separate bounds.
    first_content: int = 9 * SECOND
    """Beyond the router's own bounds, which give up earlier and know why."""
    between_chunks: int = 4 * SECOND
    attempts: int = 2
    speculations: int = 2
    """Replies started on a likely end, at most, for one turn."""
    max_tokens: int = 256

    # Clauses: a deadline for text that has not ended, so that the voice never waits for grammar.
    first_clause: int = 120 * MS
    first_clause_words: int = 3
    later_clause_words: int = 3
    characters_per_second: float = 15.0
    """Of speech, to estimate how long text that has no sound yet will last."""
    reserve: int = 700 * MS
    """Speech left when an unfinished later clause is spoken as it stands."""
    stalled_text: int = 600 * MS

    # Voice and playout.
    voice_bound: int = 5 * SECOND
    playout_slack: int = 2 * SECOND

    # Silence.
    idle: int = 30 * SECOND
    idle_prompts: int = 1

    history: int = 24
    """Messages of the conversation given to the model; dropped eight at a time, so that the
    prompt's prefix stays the same for several turns and its cache holds."""
    history_characters: int = 8_000
    """No more than this of them, the newest: about 2,000 tokens beside a prompt of 600."""


def _no_rule(_text: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Script:
    """The words that are ours, not the model's."""

    system: str = "You are a helpful voice assistant. Answer in one or two short sentences."
    greeting: str = "Hello! How can I help you?"
    fixed_answer: Callable[[str], str | None] = _no_rule
    """Rules that answer before any model (safety): recognised text to answer, or None."""
    no_answer: str = "Sorry, I can't get an answer right now. Please try again in a moment."
    lost_rest: str = "Sorry, I lost the rest of that."
    not_understood: str = "Sorry, I didn't catch that."
    idle_prompt: str = "Are you still there?"


def to_us(samples: int) -> int:
    """Samples at 24 kHz to microseconds."""
    return samples * SECOND // SAMPLES_PER_SECOND

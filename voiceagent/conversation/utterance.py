"""One utterance of the person, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Turn:
    """One utterance of the person, from its first voiced sample until it is committed."""

    item: str
    utterance: int
    onset: int
    heard_at: int
    """When its audio was last known to be voiced."""
    paused_at: int | None = None
    last_voiced: int = 0
    revision: int = 0
    """Counts the likely ends; what belongs to an earlier one is late."""
    text: str | None = None
    probability: float | None = None
    hold_over: bool = False
    partial: str = ""
    partial_at: int = 0
    guesses: int = 0
    overlap: bool = False
    """It began while the agent was speaking."""
    settle_by: int = 0
    """When the text of a turn whose audio is complete is given up."""

    @property
    def key(self) -> tuple[int, int]:
        """What a transcript of it must carry."""
        return self.utterance, self.revision

"""What one stretch of the source text sounds like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """`clause[start:end]` is read aloud as `spoken`: plain words, commas between
    groups of them, and at most one closing mark."""

    start: int
    end: int
    spoken: str
    phonemes: str = ""
    """Given by the pronunciation table: replaces the words of `spoken`, not its closing mark."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rule found: it has read up to `end`, and says `spoken` for it."""

    end: int
    spoken: str
    phonemes: str = ""

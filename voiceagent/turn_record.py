"""What one turn of a session was, as plain data, for the store, the report and the metrics.

Times are integer microseconds since the session began, on the session's clock. A time of the
listener (what was heard when) is where the client's player says that moment lies; ``measured`` is
False where the server could only estimate it. None is unknown, or did not happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from voiceagent.rhythm.pauses import Cause, Place

TurnKind = Literal["spoken", "typed", "unasked", "dropped"]
"""``unasked``: the agent spoke by itself (greeting, idle prompt). ``dropped``: something was heard
and nothing came of it (a cough, noise, a backchannel)."""


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """A silence that the listener heard inside the agent's turn."""

    at_us: int
    """Its first silent moment, at the listener."""
    duration_us: int
    place: Place
    cause: Cause
    underrun_us: int = 0
    """How much of it the player had nothing to play; the rest lies in the audio itself."""
    stretched_us: int = 0
    """How much of it the player added, to wait for audio in the pause and not in a word."""
    sample: int = 0
    """Where it begins in the reply's audio (24 kHz)."""


@dataclass(frozen=True, slots=True)
class ArrivalRecord:
    """One chunk of the model's answer."""

    t_us: int
    characters: int
    tokens: int | None = None
    """None where the server did not say."""


@dataclass(frozen=True, slots=True)
class CostRecord:
    """What one attempt at an answer used, heard or not."""

    backend: str
    purpose: str
    """answer, failover, hedge or handover."""
    outcome: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    estimated: bool
    """The server did not count: a fourth of the characters."""
    usd: float | None
    """None: its price is not known."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Sample ``sample`` (24 kHz) of the reply was heard at ``at_us``; from there it runs on."""

    sample: int
    at_us: int


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn: what the person said, and what the agent answered."""

    number: int
    """From 1, in the order of their beginning."""
    kind: TurnKind
    user_item: str | None = None
    user_onset_us: int | None = None
    user_end_us: int | None = None
    """The user's last voiced sample."""
    committed_us: int | None = None
    """When the turn was taken to be over (typed: when it came)."""
    dropped: str | None = None
    """Why nothing came of it: empty, backchannel, unrecognised, closed (the call ended first)."""

    reply: int | None = None
    """The reply's number in the session; None where there was none."""
    item: str | None = None
    requested_us: int | None = None
    """When the language model was asked."""
    sounded_us: int | None = None
    """The reply's first sample, at the listener."""
    audible_us: int | None = None
    """Its first sample that is not silence."""
    ended_us: int | None = None
    """The last sample heard, at the listener."""
    status: str | None = None
    """completed, interrupted, cancelled, failed, unanswered (nothing came that was asked for) or
    not_asked (nobody wanted an answer); None where the session ended first."""
    trouble: str | None = None
    """The code of what went wrong."""
    measured: bool = False
    gap_us: int | None = None
    """User's last voiced sample to the first audible one; None for a turn that was not spoken."""
    parts: tuple[tuple[str, int], ...] = ()
    """The gap in named parts, in the order in which they were waited for."""
    speech_us: int = 0
    """Of the agent's voice that was heard, its own pauses included, underruns not."""
    pauses: tuple[PauseRecord, ...] = ()
    """Those of 60 ms or longer, and every underrun."""
    underruns: int = 0
    cushion_ms: float | None = None
    """The player's cushion at the end of the reply."""
    stop_us: int | None = None
    """Barge-in: the user's onset to the last sample of the agent that was heard."""
    false_stop: bool = False
    """The agent was stopped by something that was then dropped."""
    characters: int = 0
    heard_characters: int = 0
    first_sentence_heard: bool = False

    written_us: int | None = None
    """When the request that led was sent."""
    arrivals: tuple[ArrivalRecord, ...] = ()
    """The content chunks of the answer, as they were used."""
    final_usage: int | None = None
    """Completion tokens as counted by the server."""
    decision: dict[str, Any] | None = None
    """The routing decision (``routing.decision.Decision.to_dict``), without text and keys."""
    costs: tuple[CostRecord, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    """How the reply's audio lay in time, for playing it back beside the microphone."""

    user_text: str | None = None
    reply_text: str | None = None
    heard_text: str | None = None
    """The three texts only where the operator keeps text."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session."""

    id: str
    started_at: datetime
    """UTC, with its zone."""
    ended_at: datetime | None = None
    transport: str = "websocket"
    reports_playout: bool = False
    """The client says what was heard; else it is estimated."""
    version: str = ""
    characters_per_second: float = 15.0
    """Of the voice in use, for the prediction from tokens."""
    details: dict[str, Any] = field(default_factory=dict)
    """Small facts for the report: models, lanes. No text of the conversation, no key."""

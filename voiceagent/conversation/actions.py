"""What the shell must do: in order, at once. Results come back as events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.rhythm.values import Value

ReplyStatus = Literal["completed", "cancelled", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Action:
    """Base of all actions."""


@dataclass(frozen=True, slots=True)
class WakeAt(Action):
    """Send ``Woke(timer, generation)`` at ``when``; a newer one for the same timer replaces it."""

    timer: str
    when: int
    generation: int


# --- hearing -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Transcribe(Action):
    """Recognise the utterance's audio as it is now. A partial may be refused; a final may not."""

    utterance: int
    revision: int
    final: bool


@dataclass(frozen=True, slots=True)
class ScoreTurn(Action):
    utterance: int
    revision: int


@dataclass(frozen=True, slots=True)
class CloseUtterance(Action):
    """What is heard from now on belongs to the next utterance."""

    utterance: int


# --- language and voice ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prefill(Action):
    """Let the backend read these messages ahead, if that helps it."""

    messages: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Generate(Action):
    reply: int
    messages: tuple[dict[str, Any], ...]
    max_tokens: int
    attempt: int
    speculative: bool


@dataclass(frozen=True, slots=True)
class ContinueFrom(Action):
    """Another backend goes on with the answer, of which ``said`` was given to the voice."""

    reply: int
    said: str


@dataclass(frozen=True, slots=True)
class SpeechUntil(Action):
    """All that was given to the voice so far will have been heard at ``when``, as far as known."""

    reply: int
    when: int


@dataclass(frozen=True, slots=True)
class CancelGeneration(Action):
    reply: int


@dataclass(frozen=True, slots=True)
class Speak(Action):
    """Turn this clause into sound; nothing is heard before ``Play``."""

    reply: int
    clause: int
    text: str


@dataclass(frozen=True, slots=True)
class CancelSpeech(Action):
    """Forget the reply's clauses that are not voiced yet."""

    reply: int


# --- playout -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Play(Action):
    reply: int
    clause: int


@dataclass(frozen=True, slots=True)
class Duck(Action):
    """Lower the voice while it is decided whether an overlap is an interruption; or restore it."""

    reply: int
    on: bool


@dataclass(frozen=True, slots=True)
class Flush(Action):
    """Stop the voice now, wherever its audio is buffered."""

    reply: int


# --- telling the client ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StateChanged(Action):
    user: str
    agent: str


@dataclass(frozen=True, slots=True)
class TurnStarted(Action):
    """The user began to speak; ``item`` will be the user's message if words come of it."""

    item: str
    onset: int


@dataclass(frozen=True, slots=True)
class PartialHeard(Action):
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnCommitted(Action):
    """The user's turn is complete; its text is in the history."""

    item: str
    text: str
    last_voiced: int
    spoken: bool


@dataclass(frozen=True, slots=True)
class TurnDropped(Action):
    """Nothing came of what was heard: noise, a cough, or a backchannel over the agent's voice."""

    item: str
    reason: Literal["empty", "backchannel", "unrecognised"]


@dataclass(frozen=True, slots=True)
class ReplyStarted(Action):
    reply: int
    item: str


@dataclass(frozen=True, slots=True)
class ReplyText(Action):
    """More of the reply's text, as it will be spoken."""

    reply: int
    item: str
    delta: str


@dataclass(frozen=True, slots=True)
class ReplyAudioDone(Action):
    """All of the reply's audio has been handed to playout (some may still have to sound)."""

    reply: int
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplySounded(Action):
    """The reply's first sample was heard. The parts add up to the response gap exactly."""

    reply: int
    item: str
    gap: int | None
    """Microseconds from the user's last voiced sample to the first audible one; None for replies to
    no spoken turn."""
    measured: bool
    parts: tuple[tuple[str, int], ...]
    sounded_at: int = 0
    audible_at: int = 0
    """When the first sample that is not silent was heard."""
    last_voiced: int | None = None


@dataclass(frozen=True, slots=True)
class PauseHeard(Action):
    """A silence inside the reply is over; times on the session's clock."""

    reply: int
    item: str
    sample: int
    at: int
    duration: int
    place: Place
    cause: Cause
    underrun: int
    """How long of it the player had nothing to play."""
    stretched: int
    """How much of it the player added."""
    measured: bool


@dataclass(frozen=True, slots=True)
class ReplyStopped(Action):
    """The player has nothing more of the reply to play."""

    reply: int
    item: str
    at: int
    """When its last sample was heard."""
    anchors: tuple[tuple[int, int], ...]
    """(sample, time) from which the samples run on; see ``playout_clock``."""
    samples: int
    underruns: int
    cushion: int | None
    stop: int | None
    """Barge-in: from the user's onset to the last sample heard; None for any other end."""
    measured: bool


@dataclass(frozen=True, slots=True)
class TokensSeen(Action):
    """What of a reply's text came when; from the session's watch, not from the conversation."""

    reply: int
    item: str
    ticks: tuple[tuple[int, int | None], ...]
    """(time, tokens or None) of each chunk since the last telling."""
    evenness: Value
    """Of all that has come so far."""


@dataclass(frozen=True, slots=True)
class RouteTold(Action):
    """Who answers this reply; again when that changes."""

    reply: int
    item: str
    route: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReplyEnded(Action):
    """The reply is over; ``heard`` is what the listener heard of ``text``, as far as known."""

    reply: int
    item: str
    status: ReplyStatus
    text: str
    heard: str
    usage: tuple[int, int, int] | None = None
    """Tokens of the prompt, of it cached, of the answer; None where nobody counted."""
    cut_by: str | None = None
    """The user's item that interrupted it."""


@dataclass(frozen=True, slots=True)
class HeardChanged(Action):
    """A later report corrected what was heard of a reply that had ended."""

    reply: int
    item: str
    heard: str


ACTIVE = "conversation_already_has_active_response"
NOT_ACTIVE = "response_cancel_not_active"
NO_ITEM = "item_not_found"
CLIENTS_OWN = frozenset({ACTIVE, NOT_ACTIVE, NO_ITEM})
"""Troubles that are the answer to a client's own event, and not news about the server."""


@dataclass(frozen=True, slots=True)
class Trouble(Action):
    """Something the person should know. ``code`` is stable, ``message`` a whole sentence."""

    code: str
    message: str

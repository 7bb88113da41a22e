"""What can happen in a session. Times are integer microseconds of one monotonic clock.

Utterances are numbered by the ear, replies and items by the conversation. An event that names an
utterance, revision or reply that is no longer current is late, and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

PlayoutKind = Literal["started", "playing", "underrun", "stopped", "flushed"]


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; ``at`` is when it happened (microseconds)."""

    at: int


# --- the session -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionOpened(Event):
    """The client is connected and can hear: greet, and warm the prompt."""

    greet: bool = True


@dataclass(frozen=True, slots=True)
class SessionConfigured(Event):
    """The client changed the session; ``None`` leaves a value as it is."""

    manual: bool | None = None
    """True: the client says when a turn ends; speech detection decides nothing."""
    create_response: bool | None = None
    interrupt_response: bool | None = None
    instructions: str | None = None
    """The system prompt; empty means the role's own."""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SessionClosed(Event):
    """The client is gone."""


# --- hearing -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpeechStarted(Event):
    utterance: int
    onset: int
    """When the first voiced sample was heard (microseconds, <= at)."""


@dataclass(frozen=True, slots=True)
class SpeechContinued(Event):
    """Still voiced; sent several times a second, so that its absence means lost audio."""

    utterance: int


@dataclass(frozen=True, slots=True)
class SpeechPaused(Event):
    """A likely end: about 100 ms of silence."""

    utterance: int
    last_voiced: int


@dataclass(frozen=True, slots=True)
class SpeechResumed(Event):
    utterance: int


@dataclass(frozen=True, slots=True)
class InputCommitted(Event):
    """Manual turns: the client says that the utterance is complete."""

    utterance: int


@dataclass(frozen=True, slots=True)
class InputCleared(Event):
    """The client wants what was heard and not committed forgotten."""


@dataclass(frozen=True, slots=True)
class Transcribed(Event):
    """Recognised text of an utterance; empty when nothing was said or the text was rejected."""

    utterance: int
    revision: int
    text: str
    final: bool


@dataclass(frozen=True, slots=True)
class TranscriptionFailed(Event):
    utterance: int
    revision: int
    final: bool


@dataclass(frozen=True, slots=True)
class TurnScored(Event):
    """The turn model's probability that the person has finished; None when there is no model."""

    utterance: int
    revision: int
    probability: float | None


# --- items and requests of the client ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MessageAdded(Event):
    item: str
    role: Literal["user", "assistant", "system"]
    text: str


@dataclass(frozen=True, slots=True)
class ItemDeleted(Event):
    item: str


@dataclass(frozen=True, slots=True)
class ItemTruncated(Event):
    """The client says how much of an item's audio it played (samples at 24 kHz)."""

    item: str
    samples: int


@dataclass(frozen=True, slots=True)
class ReplyRequested(Event):
    """The client asks for a reply now (typed text, or manual turns)."""

    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyCancelled(Event):
    """The client asks to stop the reply in progress."""


# --- language, voice, playout ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextArrived(Event):
    """A piece of the answer; ``arrived`` is when its bytes came, before they were read."""

    reply: int
    text: str
    arrived: int | None = None
    tokens: int | None = None
    """None where the server did not say."""


@dataclass(frozen=True, slots=True)
class TextInterrupted(Event):
    """The answer broke off or stalled, and another backend can go on with it."""

    reply: int


@dataclass(frozen=True, slots=True)
class TextRouted(Event):
    """Who answers, and how that came about; ``route`` is told to clients as it stands."""

    reply: int
    route: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TextFinished(Event):
    """The answer is complete. ``usage``: tokens of the prompt, of it cached, of the answer."""

    reply: int
    usage: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class TextFailed(Event):
    reply: int
    kind: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Characters ``[start, end)`` of a clause sound in samples ``[first, last)`` of its audio."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ClauseVoiced(Event):
    """The audio of a clause is there: ``samples`` at 24 kHz, our own closing pause included.

    ``silences`` are the (first, last) samples between which nothing is to be heard.
    """

    reply: int
    clause: int
    samples: int
    words: tuple[WordSpan, ...] = ()
    silences: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class VoiceFailed(Event):
    reply: int
    clause: int


@dataclass(frozen=True, slots=True)
class Played(Event):
    """How much of a reply has been played so far (samples at 24 kHz).

    ``heard_at`` is when the last of them was heard (``underrun``, ``stopped``, ``flushed``) or the
    next one was (``started``, ``playing``), on the listener's clock; ``offset`` is the session's
    clock less the listener's. ``stretched`` counts the samples of silence that the player has added
    to pauses. ``measured`` is False when the figures are estimates, because the client does not
    report its playout.
    """

    reply: int
    samples: int
    kind: PlayoutKind = "playing"
    heard_at: int | None = None
    offset: int = 0
    stretched: int = 0
    uplink: int = 0
    """How long the person's voice takes from the ear of the microphone to us, if that is known."""
    cushion: int | None = None
    """What the player keeps unplayed against jitter (microseconds)."""
    measured: bool = False


# --- time --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Woke(Event):
    """A deadline set by a ``WakeAt`` action has passed."""

    timer: str
    generation: int

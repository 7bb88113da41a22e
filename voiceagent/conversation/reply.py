"""One reply, from the request to the last heard word, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from audio.phrases import PhraseSplitter
from voiceagent.playout import PlayoutLedger
from voiceagent.playout_pauses import PauseFinder

# The milestones of a spoken answer in the order they must come; each part is named for what ended
# at its milestone, so that the parts add up to the response gap exactly.
MILESTONES = (
    ("detected", "endpointing"),
    ("requested", "transcription"),
    ("first_text", "first token"),
    ("first_clause", "clause"),
    ("first_voiced", "voice"),
    ("released", "hold"),
    ("sounded", "playout"),
    ("audible", "leading silence"),
)

_AT_THE_LISTENER = ("sounded", "audible")


@dataclass(slots=True)
class Reply:
    """What is known of the reply in progress. ``committed`` is False for one started on a guess."""

    id: int
    item: str
    answers: str | None = None
    """The user's text that this replies to; None for a greeting or a prompt of our own."""
    last_voiced: int | None = None
    committed: bool = False
    messages: tuple[dict[str, object], ...] = ()
    attempts: int = 0
    text: str = ""
    text_at: int = 0
    text_done: bool = False
    failed: bool = False
    voiceless: bool = False
    """The voice has failed: the rest is told as text only."""
    broken: str | None = None
    """Why a reply that was started on a guess failed before it was committed."""
    usage: tuple[int, int, int] | None = None
    route: dict[str, object] | None = None
    splitter: PhraseSplitter = field(default_factory=PhraseSplitter)
    ledger: PlayoutLedger = field(default_factory=PlayoutLedger)
    clauses: list[str] = field(default_factory=list)
    voiced: int = 0
    released: int = 0
    audio_done: bool = False
    ducked: bool = False
    sealed: bool = False
    """The client said what was heard; reports that come later change nothing."""
    marks: dict[str, int] = field(default_factory=dict)
    uplink: int = 0
    """How long the user's voice was under way to us (microseconds)."""
    offset: int = 0
    """The session's clock less the listener's."""
    shift: int = 0
    """What the listener's clock has jumped by since the reply began."""
    measured: bool = False
    """The client reports what it plays."""
    cushion: int | None = None
    cut_by: tuple[str, int] | None = None
    """Item and onset of the user's speech that interrupted it."""
    stopped: bool = False
    """It was told when its last sample was heard."""
    pauses: PauseFinder = field(init=False)

    def __post_init__(self) -> None:
        self.pauses = PauseFinder(self.ledger)

    @property
    def all_voiced(self) -> bool:
        """Every clause given to the voice has its audio."""
        return self.voiced == len(self.clauses)

    @property
    def playing(self) -> bool:
        """Some of it has been handed to playout."""
        return self.released > 0

    @property
    def over(self) -> bool:
        """Nothing more will come, and all there is has been played."""
        return (
            self.text_done
            and self.all_voiced
            and self.released == self.voiced
            and self.ledger.remaining == 0
        )

    def mark(self, name: str, at: int) -> None:
        """Note the first time that something happened."""
        self.marks.setdefault(name, at)

    def parts(self) -> tuple[tuple[str, int], ...]:
        """The response gap in named parts (microseconds) that add up to it."""
        if self.last_voiced is None:
            return ()
        uplink = self._uplink()
        before = self.last_voiced
        end = max(before, self.marks.get("audible", before) - uplink)
        parts = [("uplink", uplink)] if uplink else []
        for milestone, part in MILESTONES:
            later = uplink if milestone in _AT_THE_LISTENER else 0
            # A guess runs ahead: a milestone may lie before the one it follows.
            at = min(max(before, self.marks.get(milestone, before) - later), end)
            parts.append((part, at - before))
            before = at
        return tuple(parts)

    def _uplink(self) -> int:
        """What listener's and session's times differ by: the user's end is stamped as it reaches
        us, and by the same clock the agent's sound as much later than it was heard."""
        sounded = self.marks.get("sounded")
        if sounded is None or self.last_voiced is None:
            return 0
        handed_over = max(self.last_voiced, self.marks.get("released", self.last_voiced))
        return max(0, min(self.uplink, sounded - handed_over))

"""Deadlines with generations: a wake-up that was replaced or cancelled changes nothing."""

from __future__ import annotations

from voiceagent.conversation.actions import WakeAt

SPEECH, HOLD, TRANSCRIPT, SETTLE, BARGE_IN = "speech", "hold", "transcript", "settle", "barge_in"
CONTENT, CLAUSE, VOICE, PLAYOUT, IDLE = "content", "clause", "voice", "playout", "idle"


class Timers:
    """Which deadlines are set. Arming replaces; ``fired`` tells a live wake-up from a late one."""

    def __init__(self) -> None:
        self._generation = 0
        self._live: dict[str, WakeAt] = {}

    def arm(self, timer: str, when: int) -> WakeAt:
        """Set a deadline; the action must reach the shell."""
        self._generation += 1
        self._live[timer] = WakeAt(timer, when, self._generation)
        return self._live[timer]

    def disarm(self, *timers: str) -> None:
        """Forget deadlines; their wake-ups are late from now on."""
        for timer in timers:
            self._live.pop(timer, None)

    def fired(self, timer: str, generation: int) -> bool:
        """True, once, when this wake-up is the current one."""
        live = self._live.get(timer)
        if live is None or live.generation != generation:
            return False
        del self._live[timer]
        return True

    def armed(self, timer: str) -> bool:
        """Is this deadline set?"""
        return timer in self._live

    @property
    def live(self) -> tuple[WakeAt, ...]:
        """All deadlines that are set."""
        return tuple(self._live.values())

"""When the tokens of the reply in progress came, told a few times a second."""

from __future__ import annotations

from dataclasses import dataclass, field

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.rhythm.evenness import evenness
from voiceagent.rhythm.stream import Arrival, Stream, count_tokens

EVERY = 250_000
"""Microseconds between two tellings."""
_MOST = 1_024
"""Chunks of one reply."""


@dataclass(slots=True)
class TokenTicks:
    """Of one reply. Nothing is told before the reply is the answer."""

    item: str | None = None
    _arrivals: list[Arrival] = field(default_factory=list)
    _told: int = 0
    _told_at: int = -EVERY

    def arrived(self, event: ev.TextArrived) -> list[act.Action]:
        """A chunk came."""
        if len(self._arrivals) < _MOST:
            at = event.at if event.arrived is None else event.arrived
            self._arrivals.append(Arrival(at, event.tokens, len(event.text)))
        due = event.at - self._told_at >= EVERY
        return self.tell(event.reply, event.at) if due else []

    def tell(self, reply: int, now: int) -> list[act.Action]:
        """What has come since the last telling."""
        fresh = self._arrivals[self._told :]
        if self.item is None or not fresh:
            return []
        self._told, self._told_at = len(self._arrivals), now
        ticks = tuple((arrival.t_us, arrival.tokens) for arrival in fresh)
        even = evenness(count_tokens(Stream(tuple(self._arrivals))))
        return [act.TokensSeen(reply, self.item, ticks, even)]

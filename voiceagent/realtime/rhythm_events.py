"""The ``voiceagent.*`` events that tell of the rhythm. Times lie on the client's input audio."""

from __future__ import annotations

from collections.abc import Callable

from voiceagent.conversation import actions as act
from voiceagent.realtime.server_events import ServerEvent, ours
from voiceagent.rhythm.barge_in import classify_stop
from voiceagent.rhythm.evenness import evenness_band
from voiceagent.rhythm.gaps import classify_gap
from voiceagent.rhythm.pauses import classify_pause
from voiceagent.rhythm.values import known


class RhythmEvents:
    """``position`` gives the place (microseconds) of a session time in the input audio."""

    def __init__(self, position: Callable[[int], int]) -> None:
        self._position = position

    def state(self, action: act.StateChanged, now: int) -> list[ServerEvent]:
        """Who speaks, and since when."""
        return [ours("state", user=action.user, agent=action.agent, at_ms=self._ms(now))]

    def gap(self, action: act.ReplySounded, _now: int) -> list[ServerEvent]:
        """The response gap and the named parts that add up to it."""
        gap_ms = None if action.gap is None else action.gap / 1_000
        voiced = action.last_voiced
        told = ours(
            "gap",
            **_ids(action.reply, action.item),
            gap_ms=gap_ms,
            measured=action.measured,
            parts=[{"name": name, "ms": us / 1_000} for name, us in action.parts],
            at_ms=self._ms(action.audible_at),
            user_end_ms=None if voiced is None else self._ms(voiced),
        )
        return [told | {"class": classify_gap(gap_ms)}]

    def pause(self, action: act.PauseHeard, _now: int) -> list[ServerEvent]:
        """A silence inside the reply is over."""
        ms = action.duration / 1_000
        told = ours(
            "pause",
            **_ids(action.reply, action.item),
            at_ms=self._ms(action.at),
            duration_ms=ms,
            place=action.place.value,
            cause=action.cause.value,
            underrun_ms=action.underrun / 1_000,
            stretched_ms=action.stretched / 1_000,
            measured=action.measured,
        )
        return [told | {"class": str(classify_pause(ms, action.place))}]

    def stopped(self, action: act.ReplyStopped, _now: int) -> list[ServerEvent]:
        """How soon the agent was silent; only after an interruption."""
        if action.stop is None:
            return []
        ms = action.stop / 1_000
        told = ours(
            "stop",
            **_ids(action.reply, action.item),
            stop_ms=ms if ms >= 0 else None,
            at_ms=self._ms(action.at),
            measured=action.measured,
        )
        return [told | {"class": classify_stop(ms)}]

    def tokens(self, action: act.TokensSeen, _now: int) -> list[ServerEvent]:
        """What of the answer's text came when, and how evenly so far."""
        even = known(action.evenness)
        told = ours(
            "tokens",
            **_ids(action.reply, action.item),
            ticks=[[self._ms(at), tokens] for at, tokens in action.ticks],
            evenness=even,
            band=None if even is None else evenness_band(even),
        )
        return [told]

    def _ms(self, at: int) -> float:
        return self._position(at) / 1_000


def _ids(reply: int, item: str) -> dict[str, str]:
    return {"response_id": f"resp_{reply}", "item_id": item}

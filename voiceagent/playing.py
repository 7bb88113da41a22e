"""Plays a session's replies to its listener, and takes in what is known of their being heard."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.listener_clock import ListenerClock
from voiceagent.pacer import Pacer
from voiceagent.voicing import Voicing

_REMEMBERED = 16
"""Replies whose reports are still taken."""
_ASKED = 8
"""Questions about the client's clock that may be open."""
_QUICK, _QUICK_S, _LATER_S = 6, 0.25, 2.5
"""The first round trips follow each other quickly, since nothing is known yet."""


class Plays(Protocol):
    """What is needed of the session's client; see ``voiceagent.session.Client``."""

    reports_playout: bool

    def tell(self, action: act.Action) -> None: ...

    def audio(self, reply: int, item: str, pcm: NDArray[np.int16]) -> None: ...

    def clause(
        self,
        reply: int,
        item: str,
        clause: int,
        text: str,
        first: int,
        samples: int,
        words: tuple[ev.WordSpan, ...],
    ) -> None: ...

    def ask_clock(self, number: int) -> None: ...


class Playing:
    """Audio out, reports in. Where the client reports nothing, the pacer's estimate stands in."""

    def __init__(
        self,
        client: Plays,
        voicing: Voicing,
        clock: ListenerClock,
        post: Callable[[ev.Event], None],
        now: Callable[[], int],
        voiced: Callable[[int, str, NDArray[np.int16], int], None],
    ) -> None:
        """``voiced`` is given what is handed to playout: reply, text, audio, samples of sound."""
        self._client, self._voicing, self._clock = client, voicing, clock
        self._post, self._now, self._voiced = post, now, voiced
        self.pacer = Pacer(client.audio, self._estimated, now)
        self._items: OrderedDict[int, str] = OrderedDict()
        self._asked: OrderedDict[int, int] = OrderedDict()

    def remember(self, action: act.ReplyStarted) -> None:
        """From now on the client may report on this reply."""
        self._items[action.reply] = action.item
        while len(self._items) > _REMEMBERED:
            self._items.popitem(last=False)

    def play(self, action: act.Play) -> None:
        """Send a voiced clause, after what was sent before it."""
        voiced = self._voicing.take(action.reply, action.clause)
        item = self._items[action.reply]
        self._client.clause(
            action.reply,
            item,
            action.clause,
            voiced.text,
            voiced.first,
            len(voiced.pcm),
            voiced.words,
        )
        self._voiced(action.reply, voiced.text, voiced.pcm, voiced.sound)
        self.pacer.play(action.reply, item, voiced.pcm)

    def flush(self, action: act.Flush) -> None:
        """Stop a reply, here and at the client."""
        heard = self.pacer.flush(action.reply)
        self._estimated(action.reply, "flushed", heard, self._now())
        self._client.tell(action)

    def report(
        self,
        item: str,
        played_samples: int,
        input_ms: float | None,
        kind: ev.PlayoutKind,
        stretched_samples: int = 0,
        cushion_ms: float | None = None,
    ) -> None:
        """The client's player says how much of an item has sounded, and when on its clock."""
        reply = next((reply for reply, known in self._items.items() if known == item), None)
        if reply is None:
            return
        now = self._now()
        offset = self._clock.offset if input_ms is not None else None
        if input_ms is None or offset is None:
            heard_at, offset = now, 0
        else:  # nothing was heard later than the report of it
            heard_at = min(int(input_ms * 1_000), self._clock.latest(now))
        self._post(
            ev.Played(
                now,
                reply,
                played_samples,
                kind,
                heard_at,
                offset,
                stretched_samples,
                self._clock.uplink,
                None if cushion_ms is None else round(cushion_ms * 1_000),
                measured=True,
            )
        )

    def _estimated(self, reply: int, kind: ev.PlayoutKind, samples: int, at: int) -> None:
        if not self._client.reports_playout:
            self._post(ev.Played(self._now(), reply, samples, kind, at))

    # --- the client's clock --------------------------------------------------------------------

    async def ask_clock(self) -> None:
        """Ask a client that reports what its clock reads, until cancelled."""
        number = 0
        while self._client.reports_playout:
            number += 1
            self._asked[number] = self._now()
            while len(self._asked) > _ASKED:
                self._asked.popitem(last=False)
            self._client.ask_clock(number)
            await asyncio.sleep(_QUICK_S if number < _QUICK else _LATER_S)

    def clock_answered(self, number: int, input_ms: float) -> None:
        """The client's clock read this when it was asked."""
        sent = self._asked.pop(number, None)
        if sent is not None:
            self._clock.round_trips.add(sent, self._now(), int(input_ms * 1_000))

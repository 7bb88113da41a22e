"""What a server keeps and counts of its sessions: joins them to the store, the metrics, the sound.

A session tells its ``SessionKeeper`` what happened; nothing here makes it wait, and nothing that
fails here is its trouble.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voiceagent.listener_clock import ListenerClock
from voiceagent.metrics.prometheus import Metrics
from voiceagent.report.html import report_html
from voiceagent.settings import Settings, SettingsError
from voiceagent.sound_kept import SessionSound, SoundBehind, clips
from voiceagent.speaking_rate import SpeakingRate
from voiceagent.store.errors import StoreError
from voiceagent.store.store import Store
from voiceagent.store.upkeep import SERVER
from voiceagent.turn_record import SessionRecord, TurnRecord

log = logging.getLogger(__name__)

_LAG_EVERY_S = 0.5
_MOST_WAITING = 1_000


class Telemetry(Protocol):
    """Where turns are sent on to; see ``voiceagent.metrics.otel.Telemetry``."""

    def turn(self, record: TurnRecord, began: datetime | None = None) -> None: ...

    def close(self) -> None: ...


class SessionKeeper:
    """Of one session."""

    def __init__(
        self,
        keeping: Keeping,
        session: SessionRecord,
        sound: SoundBehind | None,
    ) -> None:
        self.keep_text = keeping.keep_text
        self._keeping, self._session, self._sound = keeping, session, sound

    def turn(self, record: TurnRecord) -> None:
        """A turn is complete."""
        self._keeping.turn(self._session, record)

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """Input audio (24 kHz)."""
        if self._sound:
            self._sound.heard(pcm)

    def voiced(self, reply: int, text: str, pcm: NDArray[np.int16], sound: int) -> None:
        """A clause's audio (24 kHz) is handed to playout; ``sound`` of its samples are no silence
        around the words."""
        self._keeping.rate.spoke(len(text.strip()), sound)
        if self._sound:
            self._sound.voiced(reply, pcm)

    def ended(self, clock: ListenerClock, began: int) -> None:
        """The session is over. ``clock`` ties the input audio to the session's time."""
        if self._sound:
            self._sound.close(clock.at(0), began)
        self._keeping.ended(self._session)


class Keeping:
    """Of a whole server. ``open`` it on the running loop, before the first session."""

    def __init__(
        self,
        *,
        address: str | None = None,
        keep_text: bool = False,
        keep_days: int = 0,
        audio: Path | None = None,
        keep_audio: bool = False,
        server: str = "local",
        telemetry: Telemetry | None = None,
    ) -> None:
        """``address`` of the store's database, None to keep nothing. ``audio`` is the folder of the
        sessions' sounds, which are deleted with them, and kept anew with ``keep_audio``. ``server``
        tells this server's sessions from those of others in the same database."""
        self.keep_text, self._keep_days = keep_text, keep_days
        self._address, self._audio, self._keep_audio = address, audio, keep_audio
        self._telemetry, self._server = telemetry, server
        self.rate = SpeakingRate()
        self.metrics = Metrics(characters_per_second=lambda: self.rate.characters_per_second)
        self.store: Store | None = None
        self._waiting: deque[Callable[[Store], None]] = deque(maxlen=_MOST_WAITING)
        """What the store is to be told once it is open."""
        self.trouble: str | None = None
        """Why nothing is kept although something should be."""

    async def open(self) -> None:
        """Open the store. One that can never be opened so is named in ``trouble``."""
        if self._address is None:
            return
        try:
            self.store = await Store.open(
                self._address,
                keep_text=self.keep_text,
                keep_days=self._keep_days,
                audio=self._audio,
                server=self._server,
            )
        except StoreError as error:
            self.trouble, self._address = str(error), None
            log.error("no session is kept: %s", error)
            return
        while self._waiting:
            self._waiting.popleft()(self.store)

    async def close(self) -> None:
        """Write and send what waits."""
        if self.store:
            await self.store.aclose()
        if self._telemetry:  # it may wait for the network, which the loop must not
            await asyncio.to_thread(self._telemetry.close)

    async def watch_lag(self) -> None:
        """Measure how late the loop wakes, until cancelled: all sessions are late by as much."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LAG_EVERY_S
            await asyncio.sleep(_LAG_EVERY_S)
            self.metrics.loop_lag(max(0.0, loop.time() - due))

    def report_html(self, session: SessionRecord, turns: Sequence[TurnRecord]) -> str:
        """The report's page, with what is there to listen to."""
        found = clips(self._audio / session.id, turns) if self._audio else {}
        return report_html(session, turns, found)

    def session(
        self, session_id: str, *, reports_playout: bool, details: dict[str, Any]
    ) -> SessionKeeper:
        """A session begins."""
        record = SessionRecord(
            session_id,
            datetime.now(UTC),
            reports_playout=reports_playout,
            version=version("voiceagent"),
            characters_per_second=self.rate.characters_per_second,
            details={SERVER: self._server, **details},
        )
        self.metrics.session_began()
        self._tell(lambda store: store.session_began(record))
        return SessionKeeper(self, record, self._sound(session_id))

    def _sound(self, session_id: str) -> SoundBehind | None:
        if not (self._address and self._keep_audio and self._audio):
            return None
        try:
            return SoundBehind(SessionSound(self._audio / session_id))
        except OSError as error:  # a full or read-only disk costs the sound, not the call
            log.error("the sound of this session is not kept: %s", error)
            return None

    def turn(self, session: SessionRecord, record: TurnRecord) -> None:
        """A session's turn is complete."""
        self._tell(lambda store: store.turn(session.id, record))
        self.metrics.turn(record)
        if self.store:
            self.metrics.records_dropped(self.store.dropped)
        if self._telemetry:
            try:
                self._telemetry.turn(record, session.started_at)
            except Exception as error:
                log.error("a turn was not sent on: %s", type(error).__name__)

    def ended(self, session: SessionRecord) -> None:
        """A session is over."""
        now = datetime.now(UTC)
        self.metrics.session_ended(max(0.0, (now - session.started_at).total_seconds()))
        rate = self.rate.characters_per_second
        self._tell(lambda store: store.session_ended(session.id, now, rate))

    def _tell(self, job: Callable[[Store], None]) -> None:
        """Tell the store, at once or when it is open."""
        if self.store:
            job(self.store)
        elif self._address:
            self._waiting.append(job)


def keeping_of(settings: Settings) -> Keeping:
    """As the settings say. Raises SettingsError where telemetry is asked for and not installed."""
    telemetry: Telemetry | None = None
    if settings.otel:
        try:
            from voiceagent.metrics.otel import exporting

            telemetry = exporting()
        except ImportError as error:
            raise SettingsError([f"{error}."]) from None
    return Keeping(
        address=settings.database,
        keep_text=settings.keep_text,
        keep_days=settings.keep_days,
        audio=settings.home / "audio",
        keep_audio=settings.keep_audio,
        server=f"{socket.gethostname()}:{settings.port}",
        telemetry=telemetry,
    )

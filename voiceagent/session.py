"""The shell of one conversation: it carries out the core's actions with the real parts.

One queue brings every event to the core, in one order; the core's actions are carried out at once.
Slow work (recognition, the language model, the voice) runs in tasks of its own that post their
results as events, so that nothing here ever waits.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Coroutine
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from audio.ear import Continued, Ear, Paused, Resumed, Started
from audio.worker import Busy
from voiceagent.answering import Answering
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.turn import Conversation
from voiceagent.keeper import Keeps, KeepsNothing
from voiceagent.listener_clock import ListenerClock
from voiceagent.parts import Parts
from voiceagent.playing import Playing
from voiceagent.recording import Recorder
from voiceagent.voicing import Voicing
from voiceagent.watching import Watching

log = logging.getLogger(__name__)

INPUT_HZ = 24_000
_INBOX = 4_096
_STUBBORN_S = 0.3
"""How long tasks may take to end; the connection waits for its session only a little longer."""
_TELL = (
    act.StateChanged,
    act.TurnStarted,
    act.PartialHeard,
    act.TurnCommitted,
    act.TurnDropped,
    act.ReplyStarted,
    act.ReplyText,
    act.ReplyAudioDone,
    act.ReplySounded,
    act.PauseHeard,
    act.ReplyStopped,
    act.RouteTold,
    act.ReplyEnded,
    act.HeardChanged,
    act.Trouble,
    act.Duck,
)


class Client(Protocol):
    """What a session needs of its connection. Nothing in it may block."""

    reports_playout: bool

    def tell(self, action: act.Action) -> None:
        """Pass on what the person should see."""

    def audio(self, reply: int, item: str, pcm: NDArray[np.int16]) -> None:
        """The next samples (24 kHz) of a reply."""

    def clause(
        self,
        reply: int,
        item: str,
        clause: int,
        text: str,
        first: int,
        samples: int,
        words: tuple[ev.WordSpan, ...],
    ) -> None:
        """A clause will sound from sample ``first`` of the reply on."""

    def ask_clock(self, number: int) -> None:
        """Ask what the client's clock reads; the answer names the number."""

    def close(self, code: int, reason: str) -> None:
        """End the connection."""


def new_session_id() -> str:
    """An id that no other session has, and that nobody can guess."""
    return f"sess_{secrets.token_hex(8)}"


class Session:
    """One person's conversation. Create it on a running loop, then await ``run``."""

    def __init__(
        self,
        parts: Parts,
        client: Client,
        *,
        greet: bool = True,
        session_id: str | None = None,
        recorder: Recorder | None = None,
        keeper: Keeps | None = None,
    ) -> None:
        """``keeper`` is told what to keep of the session."""
        self.id = session_id or new_session_id()
        self.clock = ListenerClock()
        self._loop = asyncio.get_running_loop()
        self._parts, self._client, self._recorder = parts, client, recorder
        self._greet = greet
        self._watching = Watching(keeper or KeepsNothing(), self.now_us(), self.id)
        self._inbox: asyncio.Queue[ev.Event] = asyncio.Queue(_INBOX)
        self._conversation = Conversation(parts.script, parts.rules)
        self._ear = Ear(parts.vad, INPUT_HZ, parts.ear)
        self._tasks: set[asyncio.Task[None]] = set()
        self._wakes: dict[str, asyncio.TimerHandle] = {}
        self._partial: asyncio.Task[None] | None = None
        self._final: tuple[int, asyncio.Task[None]] | None = None
        """The latest final recognition, and of which utterance it is."""
        self._answering = Answering(
            parts.router, self.id, self.post, self.now_us, self._start, self._watching.decided
        )
        self._voicing = Voicing(parts.voice, parts.speed, self.post, self.now_us, self._start)
        self._playing = Playing(
            client, self._voicing, self.clock, self.post, self.now_us, self._watching.voiced
        )
        self._over = False

    def now_us(self) -> int:
        """The session's clock: monotonic microseconds (the event loop's time)."""
        return int(self._loop.time() * 1_000_000)

    # --- coming in -----------------------------------------------------------------------------

    def post(self, event: ev.Event) -> None:
        """Queue an event. A session that cannot keep up is ended rather than grown."""
        if self._over:
            return
        try:
            self._inbox.put_nowait(event)
        except asyncio.QueueFull:
            log.error("session %s: event queue full, closing", self.id)
            self._client.close(1011, "the server could not keep up")
            self._over = True

    def hear(self, pcm: NDArray[np.int16]) -> None:
        """Input audio (24 kHz mono). The ear costs 0.1 ms per 32 ms, so it runs right here."""
        if self._over:
            return
        now = self.now_us()
        found = self._ear.push(pcm)
        self.clock.arrived(now, _audio_us(self._ear.position))
        self._watching.heard(pcm)
        if self._recorder:
            self._recorder.heard(pcm)
        for event in found:
            match event:
                case Started():
                    onset = self._when(event.onset, now)
                    self.post(ev.SpeechStarted(now, event.utterance, onset))
                case Continued():
                    self.post(ev.SpeechContinued(now, event.utterance))
                case Paused():
                    last_voiced = self._when(event.last_voiced, now)
                    self.post(ev.SpeechPaused(now, event.utterance, last_voiced))
                case Resumed():
                    self.post(ev.SpeechResumed(now, event.utterance))

    def set_manual(self, manual: bool) -> None:
        """Manual turns: the client says where an utterance ends."""
        if manual:
            self._ear.begin_manual()
        else:
            self._ear.end_manual()
        self.post(ev.SessionConfigured(self.now_us(), manual=manual))

    def commit_input(self) -> bool:
        """The client ends the utterance; False when nothing was heard since the last one."""
        if not self._ear.uncommitted:
            return False
        self.post(ev.InputCommitted(self.now_us(), self._ear.commit()))
        return True

    def clear_input(self) -> None:
        """Forget what was heard and not committed."""
        self._ear.clear()
        self.post(ev.InputCleared(self.now_us()))

    def playout_report(
        self,
        item: str,
        played_samples: int,
        input_ms: float | None,
        kind: ev.PlayoutKind,
        stretched_samples: int = 0,
        cushion_ms: float | None = None,
    ) -> None:
        """The client's player says how much of an item has sounded."""
        self._playing.report(item, played_samples, input_ms, kind, stretched_samples, cushion_ms)

    def clock_answered(self, number: int, input_ms: float) -> None:
        """The client answers what its clock read."""
        self._playing.clock_answered(number, input_ms)

    def item(self, item_id: str) -> dict[str, Any] | None:
        """An item of the history, or None."""
        item = self._conversation.history.find(item_id)
        return {"id": item.id, "role": item.role, "text": item.content()} if item else None

    def close(self) -> None:
        """The client is gone. ``run`` returns soon after."""
        if not self._over:
            self.post(ev.SessionClosed(self.now_us()))

    # --- running -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Converse until the session is closed; leaves no task behind."""
        pacing = self._start(self._playing.pacer.run())
        self._start(self._playing.ask_clock())
        pacing.add_done_callback(self._silenced)
        self.post(ev.SessionOpened(self.now_us(), self._greet))
        try:
            while not self._over:
                event = await self._inbox.get()
                actions = self._conversation.handle(event)
                if self._recorder:
                    self._recorder.write(event, actions)
                for action in actions:
                    self._perform(action)
                for action in self._watching.observe(event, actions):
                    self._client.tell(action)
                self._over = self._over or isinstance(event, ev.SessionClosed)
        finally:
            self._over = True
            try:
                await self._stop()
            finally:  # even if whoever runs this has lost patience
                if self._recorder:
                    self._recorder.close()
                self._watching.close(self.now_us(), self.clock)

    async def _stop(self) -> None:
        for wake in self._wakes.values():
            wake.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:  # a library that swallows the cancellation must not keep the session
            await asyncio.wait(self._tasks, timeout=_STUBBORN_S)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _silenced(self, pacing: asyncio.Task[None]) -> None:
        """Without its pacer a session would go on in silence."""
        if not pacing.cancelled() and not self._over:
            self._client.close(1011, "the voice could not be sent")
            self.close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("session %s: a task failed", self.id, exc_info=task.exception())

    # --- carrying out --------------------------------------------------------------------------

    def _perform(self, action: act.Action) -> None:
        match action:
            case act.WakeAt():
                self._wake(action)
            case act.Transcribe():
                self._transcribe(action)
            case act.ScoreTurn():
                if self._parts.turn_model:
                    self._start(self._score(action, self._ear.audio(action.utterance)))
            case act.CloseUtterance():
                self._ear.close_utterance(action.utterance)
            case act.Prefill():
                self._answering.prefill(action.messages)
            case act.Generate():
                self._answering.generate(action)
            case act.ContinueFrom():
                self._answering.go_on(action)
            case act.SpeechUntil():
                self._answering.speech_until(action)
            case act.CancelGeneration():
                self._answering.cancel(action.reply)
            case act.Speak():
                self._voicing.speak(action.reply, action.clause, action.text)
            case act.CancelSpeech():
                self._voicing.cancel(action.reply)
            case act.Play():
                self._playing.play(action)
            case act.Flush():
                self._playing.flush(action)
            case _ if isinstance(action, _TELL):
                if isinstance(action, act.ReplyStarted):
                    self._playing.remember(action)
                self._client.tell(action)

    def _wake(self, action: act.WakeAt) -> None:
        if action.timer in self._wakes:
            self._wakes[action.timer].cancel()
        self._wakes[action.timer] = self._loop.call_at(
            action.when / 1_000_000,
            lambda: self.post(ev.Woke(self.now_us(), action.timer, action.generation)),
        )

    def _transcribe(self, action: act.Transcribe) -> None:
        """Recognise; what an earlier call would tell of the same utterance is given up."""
        if self._partial and not self._partial.done():
            if not action.final:
                return
            self._partial.cancel()
        if action.final and self._final and self._final[0] == action.utterance:
            self._final[1].cancel()
        task = self._start(self._recognise(action, self._ear.audio(action.utterance)))
        if action.final:
            self._final = action.utterance, task
        else:
            self._partial = task

    async def _recognise(self, action: act.Transcribe, pcm: NDArray[np.float32]) -> None:
        try:
            result = await self._parts.recogniser.transcribe(
                pcm, final=action.final, prompt=self._parts.vocabulary
            )
        except Exception as error:
            if action.final:
                log.warning("session %s: recognition failed: %s", self.id, type(error).__name__)
            self.post(
                ev.TranscriptionFailed(
                    self.now_us(), action.utterance, action.revision, action.final
                )
            )
            return
        self.post(
            ev.Transcribed(
                self.now_us(), action.utterance, action.revision, result.text, action.final
            )
        )

    async def _score(self, action: act.ScoreTurn, pcm: NDArray[np.float32]) -> None:
        if self._parts.turn_model is None:
            return
        try:
            probability = await self._parts.turn_model.score(pcm)
        except Busy:  # without an opinion the hold is the middle one
            return
        self.post(ev.TurnScored(self.now_us(), action.utterance, action.revision, probability))

    def _when(self, sample: int, now: int) -> int:
        at = self.clock.at(_audio_us(sample))
        return now if at is None else min(at, now)


def _audio_us(sample: int) -> int:
    """Samples at 16 kHz to microseconds of audio."""
    return sample * 125 // 2

"""A whole turn, from the person's first sound to the last heard word of the answer.

``Conversation.handle(event)`` returns the actions to carry out, in order. There is no clock in
here: time is what the events say. The person's half (utterances, likely ends) is ``listening.py``,
the agent's half (text, clauses, sound) ``speaking.py``; this file decides. Three rules hold:

- an utterance is open (being spoken), paused (a likely end) or closed; a transcript counts only
  for the revision of the audio that it was made from;
- a reply may be started on a likely end, but nothing of it is heard before the turn is committed,
  and nothing begins to sound while the person is speaking;
- every state that waits has a deadline (see ``states.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation import timers as t
from voiceagent.conversation.history import History, Item
from voiceagent.conversation.interruption import is_backchannel
from voiceagent.conversation.listening import DropReason, Listening
from voiceagent.conversation.rules import Rules, Script
from voiceagent.conversation.speaking import Speaking
from voiceagent.conversation.states import Agent, User
from voiceagent.conversation.utterance import Turn


class Conversation:
    """The pure core of a session."""

    def __init__(self, script: Script | None = None, rules: Rules | None = None) -> None:
        self.script, self.rules = script or Script(), rules or Rules()
        self.history = History(self.rules.history, self.rules.history_characters)
        self._system = self.script.system
        self._out: list[act.Action] = []
        self.timers = t.Timers()
        self.speaking = Speaking(self.rules, self.script, self.history, self.timers, self._out)
        self.listening = Listening(self.rules, self.timers, self._out)
        self._manual, self._create, self._interrupt = False, True, True
        self._wanted: ev.ReplyRequested | None = None
        """A reply that waits: for the text of a manual turn, or for the voice to finish."""
        self._items = self._prompts = 0
        self._closed = False
        self._told = (User.QUIET, Agent.IDLE)
        self._on: dict[type[ev.Event], Callable[[Any], None]] = {
            ev.SessionOpened: self._opened,
            ev.SessionConfigured: self._configured,
            ev.SessionClosed: self._session_closed,
            ev.SpeechStarted: self._speech_started,
            ev.SpeechContinued: self._speech_continued,
            ev.SpeechPaused: self._speech_paused,
            ev.SpeechResumed: self._speech_resumed,
            ev.InputCommitted: self._input_committed,
            ev.InputCleared: self._input_cleared,
            ev.Transcribed: self._transcribed,
            ev.TranscriptionFailed: self._transcription_failed,
            ev.TurnScored: self._turn_scored,
            ev.MessageAdded: self._message_added,
            ev.ItemDeleted: self._item_deleted,
            ev.ItemTruncated: self._item_truncated,
            ev.ReplyRequested: self._reply_requested,
            ev.ReplyCancelled: self._reply_cancelled,
            ev.TextArrived: self.speaking.text_arrived,
            ev.TextInterrupted: self.speaking.text_interrupted,
            ev.TextRouted: self.speaking.routed,
            ev.TextFinished: self.speaking.text_finished,
            ev.TextFailed: self.speaking.text_failed,
            ev.ClauseVoiced: self.speaking.clause_voiced,
            ev.VoiceFailed: self._voice_failed,
            ev.Played: self.speaking.played,
            ev.Woke: self._woke,
        }

    def handle(self, event: ev.Event) -> list[act.Action]:
        """What to do about ``event``. Late and repeated events give no actions."""
        if not self._closed:
            self._on[type(event)](event)
            if not self._closed:
                self._follow_up(event.at)
        actions, self._out[:] = list(self._out), []
        return actions

    @property
    def user(self) -> User:
        """Derived from the open turn."""
        return self.listening.state

    @property
    def agent(self) -> Agent:
        """Derived from the reply."""
        return self.speaking.state

    @property
    def prompts_when_idle(self) -> bool:
        """Whether the agent may speak unasked: not to clients that decide about replies."""
        return self._create and not self._manual and self._prompts < self.rules.idle_prompts

    # --- the session ---------------------------------------------------------------------------

    def _opened(self, event: ev.SessionOpened) -> None:
        if event.greet and self.script.greeting:
            reply = self.speaking.recite(event.at, self._new_item(), self.script.greeting)
            self.speaking.commit(reply, event.at)
        self._out.append(act.Prefill(self._messages()))

    def _configured(self, event: ev.SessionConfigured) -> None:
        if event.manual is not None:
            if event.manual and self.listening.turn:
                self._drop(self.listening.turn, "empty")
            self._manual = event.manual
        if event.create_response is not None:
            self._create = event.create_response
        if event.interrupt_response is not None:
            self._interrupt = event.interrupt_response
        if event.max_tokens is not None:
            self.speaking.max_tokens = event.max_tokens
        instructions = event.instructions
        if instructions is not None and (instructions or self.script.system) != self._system:
            self._system = instructions or self.script.system
            self._out.append(act.Prefill(self._messages()))

    def _session_closed(self, _event: ev.SessionClosed) -> None:
        self.speaking.close()
        self.timers.disarm(*(wake.timer for wake in self.timers.live))
        self.listening.turn = None
        self.listening.settling.clear()
        self._closed = True

    # --- hearing -------------------------------------------------------------------------------

    def _speech_started(self, event: ev.SpeechStarted) -> None:
        if self._manual or self.listening.open(event.utterance):
            return
        if self.listening.turn:
            self._drop(self.listening.turn, "unrecognised")
        turn = Turn(self._new_item(), event.utterance, event.onset, event.at)
        self.listening.begin(turn, event.at)
        if self.agent is Agent.SPEAKING and self._interrupt:
            turn.overlap = True
            self.speaking.duck(True)
            self._arm(t.BARGE_IN, event.at + self.rules.barge_in)

    def _speech_continued(self, event: ev.SpeechContinued) -> None:
        turn = self.listening.open(event.utterance)
        if turn is None:
            return
        if turn.paused_at is not None:
            self._resume(turn, event.at)
        if event.at - turn.onset >= self.rules.longest_turn:
            self.listening.force_end(turn, event.at)
        else:
            self.listening.go_on(turn, event.at)

    def _speech_paused(self, event: ev.SpeechPaused) -> None:
        turn = self.listening.open(event.utterance)
        if turn and turn.paused_at is None:
            self.listening.pause(turn, event.at, event.last_voiced)

    def _speech_resumed(self, event: ev.SpeechResumed) -> None:
        turn = self.listening.open(event.utterance)
        if turn and turn.paused_at is not None:
            self._resume(turn, event.at)

    def _resume(self, turn: Turn, now: int) -> None:
        self._drop_guess()
        self.listening.resume(turn, now)
        if self.agent is Agent.SPEAKING and turn.overlap and not self.timers.armed(t.BARGE_IN):
            self._arm(t.BARGE_IN, now + self.rules.barge_in)

    def _input_committed(self, event: ev.InputCommitted) -> None:
        self.listening.commit_input(self._new_item(), event.utterance, event.at)

    def _input_cleared(self, _event: ev.InputCleared) -> None:
        self._wanted = None
        self.listening.clear()
        if self.listening.turn:
            self._drop(self.listening.turn, "empty")

    # --- deciding ------------------------------------------------------------------------------

    def _transcribed(self, event: ev.Transcribed) -> None:
        text = event.text.strip()
        awaited = self.listening.awaited(event.utterance, event.revision)
        if awaited and event.final:
            awaited.text = text
            self._settled(event.at)
            return
        turn = self.listening.open(event.utterance)
        if turn is None or (event.final and event.revision != turn.revision):
            return
        if text and text != turn.partial:
            turn.partial = text
            self._out.append(act.PartialHeard(turn.item, text))
        if not event.final:
            self._read_ahead(text)
        elif turn.paused_at is not None:
            turn.text = text
            self.timers.disarm(t.TRANSCRIPT)
            self._decide(turn, event.at)

    def _read_ahead(self, partial: str) -> None:
        """Let the model read what is certain of the question while it is still being asked."""
        words = partial.split()[: -self.rules.uncertain_words]
        if len(words) >= self.rules.read_ahead_words and self.speaking.reply is None:
            self._out.append(act.Prefill(self._messages(draft=" ".join(words))))

    def _decide(self, turn: Turn, now: int) -> None:
        """The text of a likely end is there: interruption, guess, or the end of the turn."""
        text = turn.text or ""
        if self.agent is Agent.SPEAKING and turn.overlap:
            if not text or is_backchannel(text):
                self._drop(turn, "backchannel" if text else "empty")
                return
            self.timers.disarm(t.BARGE_IN)
            self.speaking.end("interrupted", (turn.item, turn.onset))
        if turn.hold_over:
            self._commit(turn, now)
            return
        self.listening.wait_out(turn, now)
        likely = turn.probability is None or turn.probability >= self.rules.complete_above
        if text and likely and self._create and turn.guesses < self.rules.speculations:
            self._guess(turn, now)

    def _turn_scored(self, event: ev.TurnScored) -> None:
        turn = self.listening.open(event.utterance)
        if turn and turn.revision == event.revision and turn.paused_at is not None:
            turn.probability = event.probability
            if not turn.hold_over:
                self.listening.wait_out(turn, event.at)

    def _transcription_failed(self, event: ev.TranscriptionFailed) -> None:
        awaited = self.listening.awaited(event.utterance, event.revision)
        turn = awaited or self.listening.open(event.utterance)
        if turn and turn.revision == event.revision and event.final:
            self._unrecognised(turn, event.at)

    def _guess(self, turn: Turn, now: int) -> None:
        """Start the answer before the turn is committed; a wrong guess is thrown away unheard."""
        if self.agent is Agent.SPEAKING:
            return
        if self.speaking.reply:  # an unheard answer to what was said before: it is out of date
            if self.speaking.reply.committed:
                self._wanted = ev.ReplyRequested(now)
            self.speaking.end("cancelled")
        turn.guesses += 1
        self._answer(turn, now, self._messages(draft=turn.text or ""))

    def _commit(self, turn: Turn, now: int) -> None:
        """The turn is over. Its words enter the history, and its answer may be heard."""
        if not turn.text:
            self._drop(turn, "empty")
            return
        self.listening.close(turn)
        self._wanted = None
        guess = self.speaking.reply
        self._tell_turn(turn)
        if guess and not guess.committed and guess.answers == turn.text:
            self.speaking.commit(guess, now)
            return
        self._reply_to(turn, now)

    def _settled(self, now: int) -> None:
        """Turns that ended by order or by length, and have their text."""
        while turn := self.listening.settled():
            if turn.text:
                self._tell_turn(turn)
                if not self._manual:
                    self._reply_to(turn, now)
            else:
                self._wanted = None
                self._out.append(act.TurnDropped(turn.item, "empty"))

    def _reply_to(self, turn: Turn, now: int) -> None:
        if not self._create:
            return
        if self.agent is Agent.SPEAKING:  # not to be interrupted: answer when it has finished
            self._wanted = ev.ReplyRequested(now)
            return
        self.speaking.end("cancelled")  # unheard, so the new answer covers both questions
        self._answer(turn, now, self._messages())
        if self.speaking.reply:
            self.speaking.commit(self.speaking.reply, now)

    def _answer(self, turn: Turn, now: int, messages: tuple[dict[str, Any], ...]) -> None:
        text = turn.text or ""
        # A danger may be told in two turns that are answered as one: the rules see both.
        fixed = self.script.fixed_answer(text) or self.script.fixed_answer(messages[-1]["content"])
        if fixed is not None:
            reply = self.speaking.recite(now, self._new_item(), fixed, answers=text)
        else:
            reply = self.speaking.generate(now, self._new_item(), messages, answers=text)
        reply.last_voiced = turn.last_voiced
        reply.mark("detected", turn.paused_at or now)

    def _tell_turn(self, turn: Turn) -> None:
        text = turn.text or ""
        self.history.add(Item(turn.item, "user", text))
        self._prompts = 0
        self._out.append(act.TurnCommitted(turn.item, text, turn.last_voiced, spoken=True))

    def _drop(self, turn: Turn, reason: DropReason) -> None:
        """Nothing came of it: an answer that waits is spoken, a voice that was lowered returns."""
        self.listening.close(turn)
        self._drop_guess()
        self._out.append(act.TurnDropped(turn.item, reason))
        self.speaking.duck(False)

    def _unrecognised(self, turn: Turn, now: int) -> None:
        if turn is self.listening.turn:
            self._drop(turn, "unrecognised")
        else:
            self._wanted = None
            self.listening.give_up(turn, "unrecognised")
            self._settled(now)  # those after it may have waited for it only
        if self.agent is Agent.IDLE and self._create and not self._manual:
            self._recite(now, self.script.not_understood)

    def _drop_guess(self) -> None:
        if self.speaking.reply and not self.speaking.reply.committed:
            self.speaking.end("cancelled")

    # --- requests of the client ----------------------------------------------------------------

    def _message_added(self, event: ev.MessageAdded) -> None:
        self.history.add(Item(event.item, event.role, event.text))
        self._prompts = 0
        self.timers.disarm(t.IDLE)

    def _reply_requested(self, event: ev.ReplyRequested) -> None:
        if self.agent is not Agent.IDLE or self._wanted:
            code = act.ACTIVE
            self._out.append(act.Trouble(code, "A response is already in progress."))
        elif self.listening.settling:
            self._wanted = event
        else:
            self._drop_guess()
            self._request_reply(event.at, event.instructions)

    def _request_reply(self, now: int, instructions: str | None = None) -> None:
        messages = self.history.messages(instructions or self._system)
        asked = messages[-1]["content"] if messages and messages[-1]["role"] == "user" else ""
        fixed = self.script.fixed_answer(asked)
        if fixed is not None:
            self._recite(now, fixed)
            return
        reply = self.speaking.generate(now, self._new_item(), messages, answers=None)
        self.speaking.commit(reply, now)

    def _reply_cancelled(self, _event: ev.ReplyCancelled) -> None:
        wanted, self._wanted = self._wanted, None
        if self.agent is Agent.IDLE and wanted is None:
            code = act.NOT_ACTIVE
            self._out.append(act.Trouble(code, "There is no response to cancel."))
        else:
            self.speaking.end("cancelled")

    def _item_deleted(self, event: ev.ItemDeleted) -> None:
        if not self.history.remove(event.item):
            self._out.append(act.Trouble(act.NO_ITEM, f"There is no item {event.item!r}."))

    def _item_truncated(self, event: ev.ItemTruncated) -> None:
        if not self.speaking.truncate(event.item, event.samples):
            message = f"There is no spoken item {event.item!r} to truncate."
            self._out.append(act.Trouble(act.NO_ITEM, message))

    # --- time ----------------------------------------------------------------------------------

    def _woke(self, event: ev.Woke) -> None:
        if self.timers.fired(event.timer, event.generation):
            self._passed(event.timer, event.at)

    def _passed(self, timer: str, now: int) -> None:
        turn = self.listening.turn
        match timer:
            case t.SPEECH if turn:
                self.listening.pause(turn, now, turn.heard_at)
            case t.HOLD if turn:
                turn.hold_over = True
                if turn.text is not None:
                    self._commit(turn, now)
            case t.TRANSCRIPT if turn:
                self._unrecognised(turn, now)
            case t.SETTLE if self.listening.settling:
                self._unrecognised(self.listening.settling[0], now)
            case t.BARGE_IN if turn and turn.paused_at is None and self.agent is Agent.SPEAKING:
                self.speaking.end("interrupted", (turn.item, turn.onset))
            case t.CONTENT:
                self.speaking.content_late(now)
            case t.CLAUSE:
                self.speaking.clause_due(now)
            case t.VOICE:
                self.speaking.voice_failed(now)
            case t.PLAYOUT:
                self.speaking.playout_late()
            case t.IDLE:
                self._prompts += 1
                self._recite(now, self.script.idle_prompt)

    def _voice_failed(self, event: ev.VoiceFailed) -> None:
        if self.speaking.reply and self.speaking.reply.id == event.reply:
            self.speaking.voice_failed(event.at)

    def _follow_up(self, now: int) -> None:
        """What follows from the state as it is now, whatever the event was."""
        floor_free = self.listening.floor_free
        if floor_free or self.agent is Agent.SPEAKING:
            self.speaking.release(now)
        self.speaking.finish(now)
        wanted = self._wanted
        if wanted and floor_free and self.speaking.reply is None:
            self._wanted = None
            self._request_reply(now, wanted.instructions)
        states = (self.user, self.agent)
        if states != self._told:
            ended = self.agent is Agent.IDLE and self._told[1] is not Agent.IDLE
            if ended and self.listening.turn is None:
                # What was heard is known now: the next question begins where this reading ends.
                # Not after an interruption: the server is still giving up the answer that was cut.
                self._out.append(act.Prefill(self._messages()))
            self._told = states
            self._out.append(act.StateChanged(*states))
        if states != (User.QUIET, Agent.IDLE) or not floor_free or not self.prompts_when_idle:
            self.timers.disarm(t.IDLE)
        elif not self.timers.armed(t.IDLE):
            self._arm(t.IDLE, now + self.rules.idle)

    # --- small things --------------------------------------------------------------------------

    def _recite(self, now: int, text: str) -> None:
        self.speaking.end("cancelled")
        self.speaking.commit(self.speaking.recite(now, self._new_item(), text), now)

    def _messages(self, draft: str = "") -> tuple[dict[str, Any], ...]:
        return self.history.messages(self._system, draft)

    def _new_item(self) -> str:
        while True:  # clients may name their items as we do
            self._items += 1
            item = f"item_{self._items}"
            if self.history.find(item) is None:
                return item

    def _arm(self, timer: str, when: int) -> None:
        self._out.append(self.timers.arm(timer, when))

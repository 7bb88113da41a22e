"""The agent's half: a reply's text becomes clauses, sound, and what was heard."""

from __future__ import annotations

from collections import OrderedDict

from audio.phrases import PhraseSplitter
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.history import History, Item
from voiceagent.conversation.measuring import measure, settle
from voiceagent.conversation.reply import Reply
from voiceagent.conversation.rules import MS, SECOND, Rules, Script, to_us
from voiceagent.conversation.states import Agent
from voiceagent.conversation.timers import CLAUSE, CONTENT, PLAYOUT, VOICE, Timers
from voiceagent.playout import Piece

_REMEMBERED = 8


class Speaking:
    """The reply in progress and the few before it. Emits actions to ``out``."""

    def __init__(
        self, rules: Rules, script: Script, history: History, timers: Timers, out: list[act.Action]
    ) -> None:
        self.rules, self.script, self.history = rules, script, history
        self._timers, self._out = timers, out
        self._replies = 0
        self._ended: OrderedDict[int, Reply] = OrderedDict()
        self.max_tokens = rules.max_tokens
        self.reply: Reply | None = None

    @property
    def state(self) -> Agent:
        """Derived from the reply: none or a mere guess is idle."""
        if self.reply is None or not self.reply.committed:
            return Agent.IDLE
        return Agent.SPEAKING if self.reply.playing else Agent.THINKING

    # --- beginning and ending ------------------------------------------------------------------

    def generate(
        self, now: int, item: str, messages: tuple[dict[str, object], ...], answers: str | None
    ) -> Reply:
        """Ask the language model for a reply; nothing is heard or told before ``commit``."""
        reply = self._new(item, answers)
        reply.messages = messages
        self._request(reply, now)
        return reply

    def recite(self, now: int, item: str, text: str, answers: str | None = None) -> Reply:
        """Speak fixed text: a greeting, a safety answer, a prompt."""
        reply = self._new(item, answers)
        reply.mark("requested", now)
        self._add_text(reply, now, text)
        self._finish_text(reply, now)
        return reply

    def commit(self, reply: Reply, now: int) -> None:
        """The reply is the answer: it enters the history and may be heard."""
        reply.committed = True
        self.history.add(Item(reply.item, "assistant", ledger=reply.ledger))
        self._out.append(act.ReplyStarted(reply.id, reply.item))
        if reply.text:
            self._out.append(act.ReplyText(reply.id, reply.item, reply.text))
        if reply.route:
            self._out.append(act.RouteTold(reply.id, reply.item, reply.route))
        if reply.broken:
            self._apologize(reply, now, reply.broken)

    def end(self, status: act.ReplyStatus, cut_by: tuple[str, int] | None = None) -> None:
        """Stop the reply wherever it is: the model, the voice, the sound.

        ``cut_by`` are the item and the onset of the user's speech that interrupts it.
        """
        reply, self.reply = self.reply, None
        if reply is None:
            return
        reply.cut_by = cut_by
        self._timers.disarm(CONTENT, CLAUSE, VOICE, PLAYOUT)
        if not reply.text_done:
            self._out.append(act.CancelGeneration(reply.id))
        if status != "completed":
            self._out.append(act.CancelSpeech(reply.id))
        if reply.playing and reply.ledger.remaining:
            self._out.append(act.Flush(reply.id))
        if not reply.committed:
            return
        self._ended[reply.id] = reply
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)
        heard = reply.ledger.heard_text()
        cut = cut_by[0] if cut_by else None
        ended = act.ReplyEnded(reply.id, reply.item, status, reply.text, heard, reply.usage, cut)
        self._out.append(ended)
        if status == "completed":  # all of it was heard, whether or not a last report comes
            self._out += settle(reply)

    def close(self) -> None:
        """The client is gone: what was heard last is all that was heard."""
        self.end("cancelled")
        for reply in self._ended.values():
            self._out += settle(reply)

    # --- text ----------------------------------------------------------------------------------

    def text_arrived(self, event: ev.TextArrived) -> None:
        """A piece of the model's answer."""
        reply = self._current(event.reply)
        if reply and not reply.text_done and not reply.broken:
            self._add_text(reply, event.at, event.text)
            # While there is speech to hear, silence of the model is nobody's loss.
            due = max(event.at + self.rules.between_chunks, self._speech_until(reply, event.at))
            self._timers_arm(CONTENT, due)

    def text_finished(self, event: ev.TextFinished) -> None:
        """The model's answer is complete; an empty one is a failure."""
        reply = self._current(event.reply)
        if reply is None or reply.text_done or reply.broken:
            return
        reply.usage = event.usage
        if reply.text.strip():
            self._finish_text(reply, event.at)
        else:
            self.text_failed(ev.TextFailed(event.at, event.reply, "empty", retryable=True))

    def text_interrupted(self, event: ev.TextInterrupted) -> None:
        """Somebody else can go on: what the voice was given stands, the rest is asked anew."""
        reply = self._current(event.reply)
        if reply is None or reply.text_done or reply.broken:
            return
        said = "".join(reply.clauses)
        reply.text, reply.splitter = said, PhraseSplitter()
        self._timers.disarm(CLAUSE)
        self._timers_arm(CONTENT, event.at + self.rules.first_content)
        self._out.append(act.ContinueFrom(reply.id, said))

    def routed(self, event: ev.TextRouted) -> None:
        """Who answers; told once the reply is the answer."""
        reply = self._current(event.reply) or self._ended.get(event.reply)
        if reply is None:
            return
        reply.route = event.route
        if reply.committed:
            self._out.append(act.RouteTold(reply.id, reply.item, event.route))

    def text_failed(self, event: ev.TextFailed) -> None:
        """Ask once more if nothing was said yet; else say that something went wrong."""
        reply = self._current(event.reply)
        if reply is None or reply.text_done or reply.broken:
            return
        if event.retryable and not reply.text.strip() and reply.attempts < self.rules.attempts:
            self._request(reply, event.at)
            return
        self._timers.disarm(CONTENT, CLAUSE)
        if reply.committed:
            self._apologize(reply, event.at, event.kind)
        else:  # a guess: it is a trouble only if the turn ends here
            reply.broken = event.kind

    def content_late(self, now: int) -> None:
        """The bound for first or further content has passed."""
        if self.reply:
            self._out.append(act.CancelGeneration(self.reply.id))
            self.text_failed(ev.TextFailed(now, self.reply.id, "timeout", retryable=False))

    def clause_due(self, now: int) -> None:
        """A clause has not ended in time: speak what stands, at a word's edge."""
        reply = self.reply
        if reply is None or reply.text_done:
            return
        first = not reply.clauses
        words = self.rules.first_clause_words if first else self.rules.later_clause_words
        if now - reply.text_at >= self.rules.stalled_text:
            words = 1
        clause = reply.splitter.take(words)
        if clause:
            self._speak(reply, now, clause)
        elif reply.splitter.pending.strip():
            stalled = reply.text_at + self.rules.stalled_text
            self._timers_arm(CLAUSE, stalled if stalled > now else now + self.rules.stalled_text)

    # --- sound ---------------------------------------------------------------------------------

    def clause_voiced(self, event: ev.ClauseVoiced) -> None:
        """Audio of the next clause."""
        reply = self._current(event.reply)
        if reply is None or reply.all_voiced or event.clause != reply.voiced:
            return
        text = reply.clauses[event.clause]
        reply.ledger.add(Piece(text, event.samples, event.words, event.silences))
        reply.voiced += 1
        reply.mark("first_voiced", event.at)
        if reply.all_voiced:
            self._timers.disarm(VOICE)
        else:
            self._timers_arm(VOICE, event.at + self.rules.voice_bound)
        self._arm_clause(reply, event.at)

    def voice_failed(self, now: int) -> None:
        """The voice gave nothing: what is voiced is played, and the rest is told as text only."""
        reply = self.reply
        if reply is None:
            return
        self._timers.disarm(CLAUSE, VOICE)
        if not reply.committed:  # a guess: it is a trouble only if the turn ends here
            self._timers.disarm(CONTENT)
            self._out.append(act.CancelGeneration(reply.id))
            reply.broken = "voice_failed"
            return
        self._out.append(act.CancelSpeech(reply.id))
        self._out.append(
            act.Trouble("voice_failed", "The voice failed, so the answer could not be spoken.")
        )
        del reply.clauses[reply.voiced :]
        reply.voiceless = reply.failed = True

    def release(self, now: int) -> None:
        """Hand every voiced clause to playout, in order."""
        reply = self.reply
        if reply is None or not reply.committed:
            return
        while reply.released < reply.voiced:
            reply.mark("released", now)
            self._out.append(act.Play(reply.id, reply.released))
            reply.released += 1
            self._arm_playout(reply, now)
            self._tell_speech(reply, now)
        if reply.text_done and reply.all_voiced and not reply.audio_done:
            reply.audio_done = True
            self._out.append(act.ReplyAudioDone(reply.id, reply.item, reply.text))

    def finish(self, now: int) -> None:
        """End the reply when it was heard to its end."""
        reply = self.reply
        if reply is None or not reply.committed or not reply.over:
            return
        if reply.ledger.total == 0 and not reply.failed:  # nothing sayable came of it
            reply.audio_done = False
            self._apologize(reply, now, "empty")
        else:
            self.end("failed" if reply.failed else "completed")

    def played(self, event: ev.Played) -> None:
        """The listener has heard this much of a reply, the current one or one that was cut."""
        reply = self._current(event.reply) or self._ended.get(event.reply)
        if reply is None or reply.sealed or not reply.playing:
            return
        heard, before = reply.ledger.heard_text(), reply.ledger.played
        reply.ledger.play_to(event.samples)
        self._out += measure(reply, event)
        if reply is self.reply:
            if reply.ledger.played > before:  # a player that stands still is not waited for
                self._arm_playout(reply, event.at)
        elif reply.ledger.heard_text() != heard:
            self._out.append(act.HeardChanged(reply.id, reply.item, reply.ledger.heard_text()))

    def playout_late(self) -> None:
        """No report came in time: take the audio as played, so that nothing waits for ever."""
        if self.reply:
            self.reply.ledger.play_to(self.reply.ledger.total)

    def truncate(self, item: str, samples: int) -> bool:
        """The client's word on what was heard of an item; False when there is no such reply."""
        known = [*self._ended.values(), *([self.reply] if self.reply else [])]
        reply = next((reply for reply in known if reply.item == item and reply.committed), None)
        if reply is None:
            return False
        if reply is self.reply:
            self.end("interrupted")
        reply.ledger.truncate(samples)
        reply.sealed = True
        self._out += settle(reply)
        self._out.append(act.HeardChanged(reply.id, reply.item, reply.ledger.heard_text()))
        return True

    def duck(self, on: bool) -> None:
        """Lower or restore the voice."""
        if self.reply and self.reply.ducked != on:
            self.reply.ducked = on
            self._out.append(act.Duck(self.reply.id, on))

    # --- inside --------------------------------------------------------------------------------

    def _new(self, item: str, answers: str | None) -> Reply:
        self._replies += 1
        self.reply = Reply(self._replies, item, answers)
        return self.reply

    def _current(self, reply: int) -> Reply | None:
        return self.reply if self.reply and self.reply.id == reply else None

    def _request(self, reply: Reply, now: int) -> None:
        reply.attempts += 1
        reply.mark("requested", now)
        self._out.append(
            act.Generate(
                reply.id, reply.messages, self.max_tokens, reply.attempts, not reply.committed
            )
        )
        self._timers_arm(CONTENT, now + self.rules.first_content)

    def _add_text(self, reply: Reply, now: int, text: str) -> None:
        reply.mark("first_text", now)
        reply.text += text
        reply.text_at = now
        if reply.committed:
            self._out.append(act.ReplyText(reply.id, reply.item, text))
        for clause in reply.splitter.push(text):
            self._speak(reply, now, clause)
        self._arm_clause(reply, now)

    def _finish_text(self, reply: Reply, now: int) -> None:
        reply.text_done = True
        self._timers.disarm(CONTENT, CLAUSE)
        for clause in reply.splitter.flush():
            self._speak(reply, now, clause)

    def _apologize(self, reply: Reply, now: int, kind: str) -> None:
        sayable = reply.ledger.total > 0 or not reply.all_voiced
        words = self.script.lost_rest if sayable else self.script.no_answer
        if sayable or reply.clauses:
            for clause in reply.splitter.flush():
                self._speak(reply, now, clause)
        else:  # a lone first word before an apology would only puzzle
            reply.splitter = PhraseSplitter()
        reply.failed, reply.text_done = True, False
        self._add_text(reply, now, f" {words}" if reply.text else words)
        self._finish_text(reply, now)
        self._out.append(act.Trouble(kind, words))

    def _speak(self, reply: Reply, now: int, clause: str) -> None:
        if reply.voiceless:
            return
        reply.mark("first_clause", now)
        self._out.append(act.Speak(reply.id, len(reply.clauses), clause))
        reply.clauses.append(clause)
        self._tell_speech(reply, now)
        if not self._timers.armed(VOICE):
            self._timers_arm(VOICE, now + self.rules.voice_bound)

    def _tell_speech(self, reply: Reply, now: int) -> None:
        """The router weighs a stalled stream against the speech that is left."""
        if not reply.text_done:
            self._out.append(act.SpeechUntil(reply.id, self._speech_until(reply, now)))

    def _speech_until(self, reply: Reply, now: int) -> int:
        """When all that was given to the voice will have been heard, as far as known."""
        silent = sum(map(len, reply.clauses[reply.voiced :]))
        estimate = round(silent / self.rules.characters_per_second * SECOND)
        return now + to_us(reply.ledger.remaining) + estimate

    def _arm_clause(self, reply: Reply, now: int) -> None:
        """When the text now pending must be spoken, finished or not."""
        if reply.text_done or not reply.splitter.pending.strip():
            self._timers.disarm(CLAUSE)
        elif not reply.clauses:
            due = reply.marks["first_text"] + self.rules.first_clause
            self._timers_arm(CLAUSE, max(due, now))
        elif reply.all_voiced:
            left = to_us(reply.ledger.remaining) - self.rules.reserve
            self._timers_arm(CLAUSE, now + max(left, 100 * MS))

    def _arm_playout(self, reply: Reply, now: int) -> None:
        if reply.ledger.remaining:
            due = now + to_us(reply.ledger.remaining) + self.rules.playout_slack
            self._timers_arm(PLAYOUT, due)
        else:
            self._timers.disarm(PLAYOUT)

    def _timers_arm(self, timer: str, when: int) -> None:
        self._out.append(self._timers.arm(timer, when))

"""The session's watch: it sees every event and what the conversation made of it, and writes down
what each turn was. It decides nothing and holds nothing up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from routing.decision import Decision
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.token_ticks import TokenTicks
from voiceagent.turn_draft import MOST_ARRIVALS, Answer, Draft, draft
from voiceagent.turn_record import ArrivalRecord, TurnRecord

_LATE_NEWS = 2_000_000
"""Microseconds after a reply's end in which the player's last report and the router's account
arrive; then the turn is complete as it is."""
_MOST_OPEN = 64
_UNDECIDED = 8_000_000
"""Whether what stopped the agent was an interruption is known after this long at the latest."""


class TurnWatch:
    """``on_turn`` gets each turn's record once, when nothing more is to come.

    Where ``keep_text`` is off, no record holds what was said.
    """

    def __init__(
        self, on_turn: Callable[[TurnRecord], None], began: int, *, keep_text: bool = False
    ) -> None:
        self._on_turn, self._began, self._keep_text = on_turn, began, keep_text
        self._numbers = 0
        self._answering, self._wanted = True, False
        """Turns are answered by themselves; the client asked for the answer to what comes next."""
        self._open: list[Draft] = []
        """Turns that are not complete, in the order of their beginning."""
        self._answers: dict[int, Answer] = {}
        """By reply; of guesses, too."""
        self._ticks: dict[int, TokenTicks] = {}
        self._on: dict[type[act.Action], Callable[[Any, int], None]] = {
            act.TurnStarted: self._turn_started,
            act.TurnCommitted: self._turn_committed,
            act.TurnDropped: self._turn_dropped,
            act.Generate: self._generate,
            act.ReplyStarted: self._reply_started,
            act.ReplyText: self._reply_text,
            act.ReplySounded: self._of_reply(Draft.sounded),
            act.PauseHeard: self._of_reply(Draft.paused),
            act.ReplyStopped: self._of_reply(Draft.stopped),
            act.ReplyEnded: self._reply_ended,
            act.HeardChanged: self._heard_changed,
            act.Trouble: self._trouble,
        }

    def observe(self, event: ev.Event, actions: list[act.Action]) -> list[act.Action]:
        """Note an event and its actions; returns what the client should be told beside them."""
        match event:
            case ev.MessageAdded(role="user"):
                self._typed(event)
            case ev.SessionConfigured():
                self._configured(event)
            case ev.ReplyRequested():
                self._wanted = True
                self._await([turn for turn in self._open if turn.record.committed_us is not None])
        for action in actions:
            if note := self._on.get(type(action)):
                note(action, event.at)
        told = self._text(event)
        self._settle(event.at)
        return told

    def decided(self, reply: int, decision: Decision) -> None:
        """The router is done with a request for this reply."""
        if (answer := self._answers.get(reply)) is not None:
            answer.decided(decision, self._began)

    def close(self, now: int) -> None:
        """The session is over: what is open is complete as it is."""
        if self._open:
            self._adopt_guesses(self._open[-1])
        for turn in self._open:
            never_ended = turn.record.kind == "spoken" and turn.record.committed_us is None
            if never_ended and turn.record.reply is None:
                turn.set(kind="dropped", dropped="closed")
            elif turn.awaited and turn.record.reply is None and turn.over_at is None:
                turn.over_at = now  # the answer did not come before the end
            self._emit(turn)
        self._open.clear()

    # --- the person ----------------------------------------------------------------------------

    def _turn_started(self, action: act.TurnStarted, _now: int) -> None:
        onset = action.onset - self._began
        self._begin("spoken", user_item=action.item, user_onset_us=onset)

    def _turn_committed(self, action: act.TurnCommitted, now: int) -> None:
        turn = self._of_user(action.item) or self._begin("spoken", user_item=action.item)
        turn.set(
            user_end_us=action.last_voiced - self._began,
            committed_us=now - self._began,
            user_text=action.text,
        )
        if self._answering or self._wanted:
            self._await([turn])

    def _configured(self, event: ev.SessionConfigured) -> None:
        if event.create_response is not None:
            self._answering = event.create_response
        if event.manual is not None:
            self._answering = not event.manual

    @staticmethod
    def _await(turns: list[Draft]) -> None:
        """An answer to these is to come."""
        for turn in turns:
            if turn.record.reply is None and turn.over_at is None:
                turn.awaited = True

    def _turn_dropped(self, action: act.TurnDropped, now: int) -> None:
        turn = self._of_user(action.item)
        if turn is not None:
            turn.set(kind="dropped", dropped=action.reason)
            turn.over_at = now
            self._adopt_guesses(turn)
        for cut in self._open:
            if cut.cut_by == action.item:
                cut.set(false_stop=True)

    def _typed(self, event: ev.MessageAdded) -> None:
        turn = self._begin("typed", user_item=event.item, user_text=event.text)
        turn.set(committed_us=event.at - self._began)

    # --- the agent -----------------------------------------------------------------------------

    def _generate(self, action: act.Generate, now: int) -> None:
        answer = self._answers.setdefault(action.reply, Answer())
        if not answer.asked:
            answer.asked, answer.requested_us = True, now - self._began
        self._ticks = {r: t for r, t in self._ticks.items() if r >= action.reply - 1}
        self._ticks.setdefault(action.reply, TokenTicks())

    def _reply_started(self, action: act.ReplyStarted, now: int) -> None:
        waiting = [t for t in self._open if t.record.reply is None and t.over_at is None]
        asked = [turn for turn in waiting if turn.awaited]
        self._wanted = False
        turn = asked[-1] if asked else self._begin("unasked")
        for other in asked[:-1]:  # this reply answers them, too
            other.set(status="cancelled")
            other.over_at = now
        turn.set(reply=action.reply, item=action.item)
        turn.answer = self._answers.setdefault(action.reply, Answer())
        self._adopt_guesses(turn)
        self._ticks.setdefault(action.reply, TokenTicks()).item = action.item

    def _reply_text(self, action: act.ReplyText, _now: int) -> None:
        if turn := self._of(action.reply):
            turn.text += action.delta

    def _reply_ended(self, action: act.ReplyEnded, now: int) -> None:
        if turn := self._of(action.reply):
            turn.set(status=action.status)
            turn.text, turn.heard, turn.cut_by = action.text, action.heard, action.cut_by
            turn.over_at = now

    def _heard_changed(self, action: act.HeardChanged, _now: int) -> None:
        if turn := self._of(action.reply):
            turn.heard = action.heard

    def _trouble(self, action: act.Trouble, _now: int) -> None:
        if action.code == act.ACTIVE:  # refused: nothing was asked for after all
            self._wanted = False
            for waiting in self._open:
                waiting.awaited = waiting.awaited and waiting.record.kind == "spoken"
        if action.code in act.CLIENTS_OWN:
            return
        turn = next((t for t in reversed(self._open) if t.record.reply is not None), None)
        if turn is not None and turn.over_at is None:
            turn.set(trouble=action.code)

    def _text(self, event: ev.Event) -> list[act.Action]:
        """Arrivals of the model's text."""
        if isinstance(event, ev.TextArrived):
            answer = self._answers.get(event.reply)
            if answer is None:
                return []
            at = (event.at if event.arrived is None else event.arrived) - self._began
            if len(answer.arrivals) < MOST_ARRIVALS:
                answer.arrivals.append(ArrivalRecord(at, len(event.text), event.tokens))
            return self._ticks[event.reply].arrived(event) if event.reply in self._ticks else []
        if isinstance(event, ev.TextFinished):
            answer = self._answers.get(event.reply)
            if answer is not None and event.usage:
                answer.final_usage = event.usage[2]
            ticks = self._ticks.get(event.reply)
            return ticks.tell(event.reply, event.at) if ticks else []
        return []

    # --- turns ---------------------------------------------------------------------------------

    def _begin(self, kind: Any, **fields: Any) -> Draft:
        self._numbers += 1
        turn = draft(self._numbers, kind, self._began, **fields)
        self._open.append(turn)
        if len(self._open) > _MOST_OPEN:  # questions that nobody wants answered
            old = next((t for t in self._open if t.record.reply is None), self._open[0])
            self._open.remove(old)
            self._emit(old)
        return turn

    def _of_user(self, item: str) -> Draft | None:
        return next((turn for turn in self._open if turn.record.user_item == item), None)

    def _of(self, reply: int) -> Draft | None:
        return next((turn for turn in self._open if turn.record.reply == reply), None)

    def _of_reply(self, note: Callable[[Draft, Any], None]) -> Callable[[Any, int], None]:
        def of_reply(action: Any, _now: int) -> None:
            if turn := self._of(action.reply):
                note(turn, action)

        return of_reply

    def _adopt_guesses(self, turn: Draft) -> None:
        """What answers that nobody heard have cost belongs to the turn that they were for."""
        heard = {known.record.reply for known in self._open}
        adopted = {reply for known in self._open for reply in known.guesses}
        for reply, answer in self._answers.items():
            if reply not in heard and reply not in adopted:
                turn.guesses[reply] = answer

    def _settle(self, now: int) -> None:
        complete = [turn for turn in self._open if self._complete(turn, now)]
        for turn in complete:
            self._open.remove(turn)
            self._emit(turn)

    def _complete(self, turn: Draft, now: int) -> bool:
        if turn.over_at is None:
            return False
        waited = now - turn.over_at
        if turn.cut_by is not None and waited < _UNDECIDED:
            cutting = self._of_user(turn.cut_by)
            if cutting is not None and cutting.record.committed_us is None:
                return False
        told_of_end = turn.record.ended_us is not None or turn.record.sounded_us is None
        return (told_of_end and turn.accounted) or waited >= _LATE_NEWS

    def _emit(self, turn: Draft) -> None:
        for reply in (turn.record.reply, *turn.guesses):
            if reply is not None:
                self._answers.pop(reply, None)
        if turn.record.reply is None and turn.record.status is None:
            if turn.awaited and turn.over_at is None:
                turn.set(status="unanswered")
            elif not turn.awaited and turn.record.kind != "dropped":
                turn.set(status="not_asked")
        self._on_turn(turn.finished(keep_text=self._keep_text))

"""The person's half: what is being said, what was said, and whose text is still awaited."""

from __future__ import annotations

from collections import deque
from typing import Literal

from voiceagent.conversation import actions as act
from voiceagent.conversation import timers as t
from voiceagent.conversation.endpointing import hold
from voiceagent.conversation.rules import Rules
from voiceagent.conversation.states import User
from voiceagent.conversation.utterance import Turn

DropReason = Literal["empty", "backchannel", "unrecognised"]


class Listening:
    """The open turn, and the turns whose audio is complete. Emits actions to ``out``.

    It decides nothing: what a text or a silence means is for ``turn.py`` to say.
    """

    def __init__(self, rules: Rules, timers: t.Timers, out: list[act.Action]) -> None:
        self.rules, self._timers, self._out = rules, timers, out
        self.turn: Turn | None = None
        self.settling: deque[Turn] = deque()
        """Turns that ended by order or by length and whose text is awaited, the oldest first."""

    @property
    def state(self) -> User:
        """Derived from the open turn."""
        if self.turn is None:
            return User.QUIET
        return User.SPEAKING if self.turn.paused_at is None else User.PAUSED

    @property
    def floor_free(self) -> bool:
        """Nothing is being said, and nothing that was said still lacks its text."""
        return self.turn is None and not self.settling

    def open(self, utterance: int) -> Turn | None:
        """The open turn, if it is this utterance."""
        return self.turn if self.turn and self.turn.utterance == utterance else None

    # --- an open turn --------------------------------------------------------------------------

    def begin(self, turn: Turn, now: int) -> None:
        """The first sound of a turn."""
        self.turn = turn
        self._out.append(act.TurnStarted(turn.item, turn.onset))
        self._arm(t.SPEECH, now + self.rules.lost_audio)

    def go_on(self, turn: Turn, now: int) -> None:
        """More of it is voiced: now and then, recognise what there is so far."""
        turn.heard_at = now
        self._arm(t.SPEECH, now + self.rules.lost_audio)
        old_enough = now - turn.onset >= self.rules.first_partial
        if old_enough and now - turn.partial_at >= self.rules.partial_every:
            turn.partial_at = now
            self._out.append(act.Transcribe(turn.utterance, turn.revision, final=False))

    def pause(self, turn: Turn, now: int, last_voiced: int) -> None:
        """A likely end: recognise what there is, ask the turn model, and wait out the hold."""
        turn.paused_at, turn.last_voiced = now, last_voiced
        turn.revision += 1
        turn.text = turn.probability = None
        turn.hold_over = False
        self._out.append(act.Transcribe(turn.utterance, turn.revision, final=True))
        self._out.append(act.ScoreTurn(turn.utterance, turn.revision))
        self._timers.disarm(t.SPEECH)
        self._arm(t.TRANSCRIPT, now + self.rules.transcript_bound)
        self.wait_out(turn, now)

    def resume(self, turn: Turn, now: int) -> None:
        """It was no end: what was recognised is out of date."""
        turn.paused_at = None
        turn.revision += 1
        turn.heard_at = now
        self._timers.disarm(t.HOLD, t.TRANSCRIPT)
        self._arm(t.SPEECH, now + self.rules.lost_audio)

    def wait_out(self, turn: Turn, now: int) -> None:
        """Set when the silence will have lasted long enough, by what is known of the turn now."""
        due = turn.last_voiced + hold(turn.probability, turn.text, self.rules)
        self._arm(t.HOLD, max(due, now))

    def close(self, turn: Turn) -> None:
        """The open turn is over."""
        self.turn = None
        self._timers.disarm(t.SPEECH, t.HOLD, t.TRANSCRIPT, t.BARGE_IN)
        self._out.append(act.CloseUtterance(turn.utterance))

    # --- turns whose text is awaited -----------------------------------------------------------

    def force_end(self, turn: Turn, now: int) -> None:
        """The longest turn is reached: what was said counts, and what follows is a new turn."""
        turn.paused_at, turn.last_voiced = now, now
        turn.revision += 1
        self._timers.disarm(t.SPEECH, t.BARGE_IN)
        self.turn = None
        self._settle(turn, now)

    def commit_input(self, item: str, utterance: int, now: int) -> None:
        """The client says that an utterance is complete."""
        turn = Turn(item, utterance, now, now, now, now, revision=1)
        self._out.append(act.TurnStarted(item, now))
        self._settle(turn, now)

    def _settle(self, turn: Turn, now: int) -> None:
        self._out.append(act.Transcribe(turn.utterance, turn.revision, final=True))
        self._out.append(act.CloseUtterance(turn.utterance))
        turn.text, turn.settle_by = None, now + self.rules.transcript_bound
        self.settling.append(turn)
        self._await_text()

    def awaited(self, utterance: int, revision: int) -> Turn | None:
        """The turn that waits for this text."""
        wanted = (utterance, revision)
        return next((turn for turn in self.settling if wanted == turn.key), None)

    def settled(self) -> Turn | None:
        """Take the oldest turn once its text is there, so that they count in their order."""
        if not self.settling or self.settling[0].text is None:
            return None
        turn = self.settling.popleft()
        self._await_text()
        return turn

    def give_up(self, turn: Turn, reason: DropReason) -> None:
        """No text came, or none is wanted any more."""
        self.settling.remove(turn)
        self._out.append(act.TurnDropped(turn.item, reason))
        self._await_text()

    def clear(self) -> None:
        """Forget every turn whose text is awaited."""
        for turn in tuple(self.settling):
            self.give_up(turn, "empty")

    def _await_text(self) -> None:
        if self.settling:
            self._arm(t.SETTLE, self.settling[0].settle_by)
        else:
            self._timers.disarm(t.SETTLE)

    def _arm(self, timer: str, when: int) -> None:
        self._out.append(self._timers.arm(timer, when))

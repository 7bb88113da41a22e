"""A simulated world around the pure conversation: a caller, models and a player on one time line.

The caller is a list of stretches of speech; recognition, language model and voice answer after
scripted delays; the player plays what it is given and reports. Every action of the conversation is
carried out here without any I/O, and the rules that must always hold are checked after each event.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.rules import MS, SECOND, Rules, Script, to_us
from voiceagent.conversation.states import AGENT_MOVES, USER_MOVES, Agent, User
from voiceagent.conversation.turn import Conversation

SAMPLES_PER_CHARACTER = 1_600
_ATOMIC_USER = {(state, after) for (state, _), after in USER_MOVES.items()}
_ATOMIC_AGENT = {(state, after) for (state, _), after in AGENT_MOVES.items()}


def reachable(moves: set[tuple[str, str]], start: str, end: str) -> bool:
    """Is ``end`` reached from ``start`` by lawful moves (one event may cause several)?"""
    seen, todo = {start}, [start]
    while todo:
        state = todo.pop()
        for before, after in moves:
            if before == state and after not in seen:
                seen.add(after)
                todo.append(after)
    return end in seen


@dataclass
class Speech:
    """The caller is silent for ``after``, then speaks for ``length`` (microseconds)."""

    after: int
    length: int


@dataclass
class Answer:
    """A scripted model's answer: (delay in microseconds, text) and how it ends."""

    pieces: list[tuple[int, str]]
    end: str = "finish"  # finish | fail | silence
    end_delay: int = 10 * MS


@dataclass
class Player:
    """Plays clauses in order on the world's clock, in real time."""

    played: dict[int, int] = field(default_factory=dict)
    total: dict[int, int] = field(default_factory=dict)
    flushed: set[int] = field(default_factory=set)
    free_at: int = 0


class World:
    """Runs a conversation to its end. ``told`` holds every action with its time."""

    def __init__(
        self,
        *,
        speech: list[Speech],
        texts: Callable[[int, int], str] = lambda utterance, revision: "what is my balance",
        answers: Callable[[int], Answer] = lambda n: Answer([(200 * MS, "Forty nine dollars. ")]),
        script: Script | None = None,
        rules: Rules | None = None,
        stt_delay: int = 150 * MS,
        voice_delay: int = 20 * MS,
        probability: float | None = 0.9,
        reports: bool = True,
        greet: bool = False,
    ) -> None:
        self.conversation = Conversation(script, rules or Rules(idle_prompts=0))
        self.texts, self.answers = texts, answers
        self.stt_delay, self.voice_delay, self.probability = stt_delay, voice_delay, probability
        self.reports = reports
        self.now = 0
        self.told: list[tuple[int, act.Action]] = []
        self.handled: list[ev.Event] = []
        self.player = Player()
        self._heap: list[tuple[int, int, ev.Event | Callable[[], None]]] = []
        self._order = 0
        self._cancelled: set[int] = set()
        self._generations: dict[int, int] = {}
        self._clauses: dict[tuple[int, int], tuple[str, int, tuple[ev.WordSpan, ...]]] = {}
        self.spoken: dict[int, list[int]] = {}
        self._utterance, self._open, self._voiced = 0, False, False
        self.at(0, ev.SessionOpened(0, greet))
        self._schedule_speech(speech)

    # --- the time line -------------------------------------------------------------------------

    def at(self, when: int, what: ev.Event | Callable[[], None]) -> None:
        """Let something happen at ``when``; things of one instant keep their order."""
        self._order += 1
        heapq.heappush(self._heap, (when, self._order, what))

    def run(self, until: int = 200 * SECOND) -> World:
        """Let everything happen, checking the rules after each event."""
        while self._heap and self._heap[0][0] <= until:
            self.now, _, what = heapq.heappop(self._heap)
            if callable(what):
                what()
            else:
                self.feed(what)
        self.now = until
        return self

    def feed(self, event: ev.Event) -> None:
        """Hand one event to the conversation and carry out what it says."""
        before = (self.conversation.user, self.conversation.agent)
        self.handled.append(event)
        actions = self.conversation.handle(event)
        for action in actions:
            self.told.append((self.now, action))
            self._perform(action)
        self.check(before, actions)

    def check(self, before: tuple[User, Agent], actions: list[act.Action]) -> None:
        """What must always hold."""
        core = self.conversation
        user, agent = core.user, core.agent
        assert reachable(_ATOMIC_USER, before[0], user), (before, user)
        assert reachable(_ATOMIC_AGENT, before[1], agent), (before, agent)
        resting = user is User.QUIET and agent is Agent.IDLE and not core.listening.settling
        assert resting or core.timers.live, "a state that waits without a deadline"
        if resting and core.prompts_when_idle:
            assert core.timers.live, "silence without a deadline"

    # --- the caller ----------------------------------------------------------------------------

    def _schedule_speech(self, speech: list[Speech]) -> None:
        when = 0
        for stretch in speech:
            when += stretch.after
            self.at(when + 60 * MS, self._speech(when))
            for tick in range(when + 260 * MS, when + stretch.length, 200 * MS):
                self.at(tick, self._continues)
            when += stretch.length
            self.at(when + 100 * MS, self._silence(when))

    def _speech(self, onset: int) -> Callable[[], None]:
        def begin() -> None:
            self._voiced = True
            if self._open:
                self.feed(ev.SpeechResumed(self.now, self._utterance))
            else:
                self._start(onset)

        return begin

    def _start(self, onset: int) -> None:
        self._utterance += 1
        self._open = True
        self.feed(ev.SpeechStarted(self.now, self._utterance, onset))

    def _continues(self) -> None:
        if self._voiced and not self._open:
            self._start(self.now)
        elif self._voiced:
            self.feed(ev.SpeechContinued(self.now, self._utterance))

    def _silence(self, last_voiced: int) -> Callable[[], None]:
        def end() -> None:
            self._voiced = False
            if self._open:
                self.feed(ev.SpeechPaused(self.now, self._utterance, last_voiced))

        return end

    # --- carrying out --------------------------------------------------------------------------

    def _perform(self, action: act.Action) -> None:
        match action:
            case act.WakeAt(timer, when, generation):
                self.at(max(when, self.now), ev.Woke(max(when, self.now), timer, generation))
            case act.Transcribe(utterance, revision, final):
                text = self.texts(utterance, revision)
                when = self.now + self.stt_delay
                self.at(when, ev.Transcribed(when, utterance, revision, text, final))
            case act.ScoreTurn(utterance, revision):
                when = self.now + 30 * MS
                self.at(when, ev.TurnScored(when, utterance, revision, self.probability))
            case act.CloseUtterance(utterance):
                if utterance == self._utterance:
                    self._open = False
            case act.Generate():
                self._generate(action)
            case act.CancelGeneration(reply):
                self._cancelled.add(reply)
            case act.Speak(reply, clause, text):
                self._speak(reply, clause, text)
            case act.Play(reply, clause):
                self._play(reply, clause)
            case act.Flush(reply):
                self._flush(reply)

    def _generate(self, action: act.Generate) -> None:
        number = len(self._generations)
        self._generations[action.reply] = action.attempt
        answer, when, reply = self.answers(number), self.now, action.reply

        def alive() -> bool:
            return reply not in self._cancelled and self._generations[reply] == action.attempt

        def later(event: ev.Event) -> Callable[[], None]:
            return lambda: self.feed(event) if alive() else None

        for delay, text in answer.pieces:
            when += delay
            self.at(when, later(ev.TextArrived(when, reply, text)))
        when += answer.end_delay
        if answer.end == "finish":
            self.at(when, later(ev.TextFinished(when, reply)))
        elif answer.end == "fail":
            self.at(when, later(ev.TextFailed(when, reply, "unavailable", retryable=True)))

    def _speak(self, reply: int, clause: int, text: str) -> None:
        samples, words, start = len(text) * SAMPLES_PER_CHARACTER, [], 0
        for word in text.split():
            start = text.index(word, start)
            end = start + len(word)
            first, last = start * SAMPLES_PER_CHARACTER, end * SAMPLES_PER_CHARACTER
            words.append(ev.WordSpan(start, end, first, last))
            start = end
        self._clauses[reply, clause] = (text, samples, tuple(words))
        when = self.now + self.voice_delay * (clause + 1)
        self.at(when, ev.ClauseVoiced(when, reply, clause, samples, tuple(words)))

    def _play(self, reply: int, clause: int) -> None:
        player = self.player
        assert reply not in player.flushed, "sound of a reply that was flushed"
        if reply not in player.total:
            assert self.conversation.listening.turn is None, "a voice began over the user"
        _, samples, _ = self._clauses[reply, clause]
        self.spoken.setdefault(reply, []).append(clause)
        begin = max(self.now, player.free_at)
        offset = player.total.get(reply, 0)
        player.total[reply] = offset + samples
        player.free_at = begin + to_us(samples)
        steps = [0, *range(2_400, samples, 2_400), samples] if samples else []
        for step in steps:
            self.at(begin + to_us(step), self._advance(reply, offset + step))

    def _advance(self, reply: int, position: int) -> Callable[[], None]:
        def report() -> None:
            if reply in self.player.flushed:
                return
            self.player.played[reply] = position
            kind: ev.PlayoutKind = "playing" if position else "started"
            if position == self.player.total[reply]:
                kind = "underrun"  # unless more comes at this very instant
            if self.reports:
                event = ev.Played(self.now, reply, position, kind, self.now, measured=True)
                self.feed(event)

        return report

    def _flush(self, reply: int) -> None:
        self.player.flushed.add(reply)
        self.player.free_at = self.now
        heard = self.player.played.get(reply, 0)
        now, until = self.now, self.now + 20 * MS
        self.at(until, ev.Played(until, reply, heard, "flushed", now, measured=self.reports))

    # --- what the listener knows ---------------------------------------------------------------

    def of(self, kind: type[act.Action]) -> list[act.Action]:
        """All actions of one kind, in order."""
        return [action for _, action in self.told if isinstance(action, kind)]

    def heard(self, reply: int) -> str:
        """Independently of the ledger: the words whose sound ended before the player stopped."""
        left, text = self.player.played.get(reply, 0), ""
        for clause in self.spoken.get(reply, []):
            words, samples, spans = self._clauses[reply, clause]
            if left >= samples:
                text += words
            else:
                text += words[: max((span.end for span in spans if span.last <= left), default=0)]
                break
            left -= samples
        return text.rstrip()

    def messages(self) -> list[tuple[str, str]]:
        """The history as (role, text), without what is empty."""
        items = self.conversation.history.items
        return [(item.role, item.content()) for item in items if item.content()]

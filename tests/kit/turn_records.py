"""SIMULATED records of a session, for the store, the report and the metrics: nothing was measured.

Plausible rather than random: the times of a turn lie in the order in which they would come, and
what a reader has to handle is all there, at fixed places (see `_SCRIPT`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any

from routing.choosing import Considered
from routing.decision import Decision
from routing.race import Attempt, Purpose
from routing.spending import Spent
from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.turn_record import (
    Anchor,
    ArrivalRecord,
    CostRecord,
    PauseRecord,
    SessionRecord,
    TurnRecord,
)

MS = 1_000
STARTED_AT = datetime(2026, 1, 15, 9, 30, tzinfo=UTC)
SENTENCES = (
    "Your next visit is on Tuesday at nine.",
    "The technician will check the filter, the pump and the valve.",
    "Last time the pressure was a little low, so we will look at that first.",
    "You do not need to prepare anything.",
)
QUESTION = "When is my next visit?"

GAPS_MS = (-180, 60, 240, 520, 860, 1_350, 2_600, 4_300)
"""One of each class, best to worst."""
PAUSES_MS = {
    Place.WORD: (40, 90, 200, 450),
    Place.PHRASE: (80, 180, 400, 800),
    Place.CLAUSE: (400, 400, 1_100, 1_700),
    Place.SENTENCE: (700, 700, 1_800, 3_200),
}
"""Of each place fine, micro (where there is such a class), awkward and severe."""
_PAUSES = [(place, cause, index) for index in range(4) for place in Place for cause in Cause]


@dataclass(frozen=True, slots=True)
class _Backend:
    name: str
    first_ms: int
    usd_per_million: float | None


_Asked = list[tuple[_Backend, Purpose, str]]
"""The attempts at one answer: of whom, what for, and what came of it."""

_FAST = _Backend("simulated-fast", 180, 0.6)
_GPU = _Backend("simulated-gpu", 420, None)
_LOCAL = _Backend("simulated-local", 300, 0.0)


def a_session(
    turns: int = 30, seed: int = 0, *, text: bool = False
) -> tuple[SessionRecord, list[TurnRecord]]:
    """A session of ``turns`` turns (1 or more), the same for the same ``seed``.

    The greeting comes first; from nine turns on every special turn of `_SCRIPT` is there, and from
    30 every pause of a place, cause and class. Texts only where ``text`` is set.
    """
    if turns < 1:
        raise ValueError("a session has at least its greeting")
    making = _Making(Random(seed), text)
    records = [making.turn(number) for number in range(1, turns + 1)]
    session = SessionRecord(
        id=f"sess_{seed:016x}",
        started_at=STARTED_AT,
        ended_at=STARTED_AT + timedelta(microseconds=making.now + 2_000 * MS),
        reports_playout=True,
        version="0.0.0",
        characters_per_second=15.0,
        details={
            "simulated": True,
            "models": {"recogniser": "simulated", "voice": "simulated"},
            "lanes": {"interactive": [_FAST.name, _GPU.name, _LOCAL.name]},
        },
    )
    return session, records


class _Making:
    """Makes one turn after the other; ``now`` is where the session has come to."""

    def __init__(self, random: Random, text: bool) -> None:
        self.random, self.text = random, text
        self.now = 400 * MS
        self.replies = self.items = self.gaps = self.pauses = 0

    def turn(self, number: int) -> TurnRecord:
        if number == 1:
            return self._greeting(number)
        special = _SCRIPT.get((number - 2) % _ROUND, _Making._plain)
        return special(self, number)

    # --- the kinds of turns --------------------------------------------------------------------

    def _greeting(self, number: int) -> TurnRecord:
        sounded = self.now + 30 * MS
        record = TurnRecord(number, "unasked", committed_us=None, **self._reply_names())
        return self._spoken(replace(record, requested_us=self.now), sounded, 0, [])

    def _plain(self, number: int) -> TurnRecord:
        return self._answered(number, _decision(self.random, [(_FAST, "answer", "answered")]))

    def _hedged(self, number: int) -> TurnRecord:
        attempts: _Asked = [(_FAST, "answer", "cancelled"), (_LOCAL, "hedge", "answered")]
        return self._answered(number, _decision(self.random, attempts))

    def _failed_over(self, number: int) -> TurnRecord:
        attempts: _Asked = [(_FAST, "answer", "unavailable"), (_GPU, "failover", "answered")]
        return self._answered(number, _decision(self.random, attempts))

    def _handed_over(self, number: int) -> TurnRecord:
        attempts: _Asked = [(_FAST, "answer", "timeout"), (_LOCAL, "handover", "answered")]
        return self._answered(number, _decision(self.random, attempts))

    def _barge_in(self, number: int, *, false: bool = False) -> TurnRecord:
        record = self._plain(number)
        assert record.sounded_us is not None
        assert record.ended_us is not None
        last = record.pauses[-1]
        spoken_on = (record.ended_us - last.at_us - last.duration_us) // 2
        heard = round(record.characters * (1 - spoken_on / record.speech_us))
        return replace(
            record,
            ended_us=record.ended_us - spoken_on,
            speech_us=record.speech_us - spoken_on,
            status="interrupted",
            stop_us=self.random.choice([180, 240, 310, 700]) * MS,
            false_stop=false,
            heard_characters=heard,
            heard_text=None if record.reply_text is None else record.reply_text[:heard],
        )

    def _false_stop(self, number: int) -> TurnRecord:
        return self._barge_in(number, false=True)

    def _dropped(self, number: int) -> TurnRecord:
        onset, end = self._user(300)
        self.now = end + 500 * MS
        return TurnRecord(
            number,
            "dropped",
            user_item=self._item(),
            user_onset_us=onset,
            user_end_us=end,
            dropped=self.random.choice(["empty", "backchannel", "unrecognised"]),
        )

    def _failed(self, number: int) -> TurnRecord:
        onset, end = self._user(1_600)
        committed = end + 300 * MS
        self.now = committed + 2_000 * MS
        attempts: _Asked = [(_FAST, "answer", "unavailable"), (_GPU, "failover", "unavailable")]
        decision = _decision(self.random, attempts, served=False)
        return TurnRecord(
            number,
            "spoken",
            user_item=self._item(),
            user_onset_us=onset,
            user_end_us=end,
            committed_us=committed,
            **self._reply_names(),
            requested_us=committed,
            status="failed",
            trouble="unavailable",
            decision=decision,
            costs=_costs(decision),
            user_text=QUESTION if self.text else None,
        )

    def _typed(self, number: int) -> TurnRecord:
        record = self._plain(number)
        return replace(
            record, kind="typed", user_onset_us=None, user_end_us=None, gap_us=None, parts=()
        )

    # --- what they are made of -----------------------------------------------------------------

    def _answered(self, number: int, decision: dict[str, Any]) -> TurnRecord:
        onset, end = self._user(self.random.randint(900, 3_500))
        gap = GAPS_MS[self.gaps % len(GAPS_MS)] * MS
        self.gaps += 1
        audible = end + gap
        requested = min(end + 100 * MS, audible - 300 * MS)
        text = " ".join(self.random.choices(SENTENCES, k=self.random.randint(1, 3)))
        written = requested + 2 * MS
        arrivals = self._arrivals(text, written + 120 * MS)
        record = TurnRecord(
            number,
            "spoken",
            user_item=self._item(),
            user_onset_us=onset,
            user_end_us=end,
            committed_us=end + max(0, gap) // 3,
            **self._reply_names(),
            requested_us=requested,
            gap_us=gap,
            parts=_parts(gap),
            written_us=written,
            arrivals=arrivals,
            final_usage=sum(chunk.tokens or 0 for chunk in arrivals),
            decision=decision,
            costs=_costs(decision),
            user_text=QUESTION if self.text else None,
        )
        return self._spoken(record, audible - 20 * MS, len(text), self._pauses(), text)

    def _spoken(
        self,
        record: TurnRecord,
        sounded: int,
        characters: int,
        pauses: Sequence[PauseRecord],
        text: str = "Hello.",
    ) -> TurnRecord:
        """With the reply's sound: it begins at ``sounded``, is heard to its end, and has these
        pauses (their place in time is filled in here)."""
        characters = characters or len(text)
        starved = sum(pause.underrun_us + pause.stretched_us for pause in pauses)
        authored = sum(pause.duration_us for pause in pauses) - starved
        speech = characters * 1_000 * MS // 15 + authored
        placed, anchors = _placed(pauses, sounded, speech)
        self.now = sounded + speech + starved + self.random.randint(400, 1_200) * MS
        return replace(
            record,
            sounded_us=sounded,
            audible_us=sounded + 20 * MS,
            ended_us=sounded + speech + starved,
            status="completed",
            measured=True,
            speech_us=speech,
            pauses=placed,
            underruns=sum(pause.underrun_us > 0 for pause in pauses),
            cushion_ms=60.0 + 20.0 * (starved > 0),
            characters=characters,
            heard_characters=characters,
            first_sentence_heard=True,
            anchors=anchors,
            reply_text=text if self.text else None,
            heard_text=text if self.text else None,
        )

    def _pauses(self) -> list[PauseRecord]:
        """The next four of all places, causes and classes."""
        found = []
        for _ in range(4):
            place, cause, index = _PAUSES[self.pauses % len(_PAUSES)]
            self.pauses += 1
            duration = PAUSES_MS[place][index] * MS
            starved = duration * 3 // 4 if cause is Cause.UNDERRUN else 0
            stretched = duration // 8 if cause is Cause.UNDERRUN else 0
            found.append(PauseRecord(0, duration, place, cause, starved, stretched))
        return found

    def _arrivals(self, text: str, first_us: int) -> tuple[ArrivalRecord, ...]:
        """One token of four characters every 33 ms or so; one in twelve comes late."""
        pieces = [len(text[at : at + 4]) for at in range(0, len(text), 4)]
        steps = [self.random.randint(28, 38) * MS for _ in pieces[1:]]
        late = [300 * MS if self.random.random() < 1 / 12 else 0 for _ in steps]
        times = accumulate(
            (step + more for step, more in zip(steps, late, strict=True)), initial=first_us
        )
        counted = self.random.random() < 0.8  # some servers do not say
        return tuple(
            ArrivalRecord(at, size, 1 if counted else None)
            for at, size in zip(times, pieces, strict=True)
        )

    def _user(self, ms: int) -> tuple[int, int]:
        onset = self.now + self.random.randint(300, 900) * MS
        return onset, onset + ms * MS

    def _reply_names(self) -> dict[str, Any]:
        self.replies += 1
        return {"reply": self.replies, "item": self._item()}

    def _item(self) -> str:
        self.items += 1
        return f"item_{self.items}"


_ROUND = 14
_SCRIPT = {
    1: _Making._hedged,
    2: _Making._failed_over,
    3: _Making._barge_in,
    4: _Making._dropped,
    5: _Making._failed,
    6: _Making._false_stop,
    7: _Making._typed,
    9: _Making._handed_over,
}
"""Which turns of each round after the greeting are special."""


def _parts(gap_us: int) -> tuple[tuple[str, int], ...]:
    """A positive gap in its parts, which add up to it."""
    if gap_us <= 0:
        return ()
    shares = {"endpointing": 16, "transcription": 24, "first token": 30, "clause": 22, "voice": 4}
    parts = [(name, gap_us * share // 100) for name, share in shares.items()]
    return (*parts, ("playout", gap_us - sum(us for _, us in parts)))


def _placed(
    pauses: Sequence[PauseRecord], sounded: int, speech_us: int
) -> tuple[tuple[PauseRecord, ...], tuple[Anchor, ...]]:
    """The pauses evenly over the reply, and where its samples lie in time around them."""
    anchors, placed, late = [Anchor(0, sounded)], [], 0
    authored = 0
    between = (speech_us - sum(_in_audio(pause) for pause in pauses)) // (len(pauses) + 1)
    for index, pause in enumerate(pauses, 1):
        offset = between * index + authored
        sample = offset * 24 // MS
        placed.append(replace(pause, at_us=sounded + offset + late, sample=sample))
        authored += _in_audio(pause)
        starved = pause.duration_us - _in_audio(pause)
        if starved:
            late += starved
            end = offset + _in_audio(pause)
            anchors.append(Anchor(end * 24 // MS, sounded + end + late))
    return tuple(placed), tuple(anchors)


def _in_audio(pause: PauseRecord) -> int:
    return pause.duration_us - pause.underrun_us - pause.stretched_us


def _decision(random: Random, attempts: _Asked, *, served: bool = True) -> dict[str, Any]:
    """As the router tells it: made by its own ``Decision``."""
    asked = 1_000 * MS
    considered = {one.name: _considered(one) for one in (_FAST, _GPU, _LOCAL)}
    decision = Decision(
        "interactive",
        asked,
        tuple(considered.values()),
        f"{considered[attempts[0][0].name].in_words()} has the least.",
    )
    for number, (backend, purpose, outcome) in enumerate(attempts, 1):
        began = asked + (number - 1) * 200 * MS
        first = began + (backend.first_ms + random.randint(-20, 20)) * MS
        content = first if served and outcome in ("answered", "timeout") else None
        attempt = Attempt(number, considered[backend.name], purpose, began, content)
        attempt.outcome = outcome
        decision.attempts.append(attempt)
        decision.spent.append(_spent(random, backend, purpose, outcome))
    decision.leader = decision.attempts[-1] if served else None
    decision.outcome = "answered" if served else attempts[-1][2]
    return decision.to_dict()


def _considered(backend: _Backend) -> Considered:
    usd = None if backend.usd_per_million is None else backend.usd_per_million * 600 / 1e6
    first = backend.first_ms * MS
    dead_air = max(0, first - 150 * MS)
    return Considered(backend.name, "closed", dead_air, first, 2 * first, 40 * MS, 12, usd)


def _spent(random: Random, backend: _Backend, purpose: str, outcome: str) -> Spent:
    prompt, cached = random.randint(380, 620), random.choice([0, 256])
    completion = random.randint(15, 60) if outcome == "answered" else random.choice([0, 9])
    price = backend.usd_per_million
    usd = None if price is None else (prompt + completion) * price / 1e6
    estimated = outcome != "answered"
    return Spent("sess", backend.name, purpose, outcome, prompt, completion, cached, estimated, usd)


def _costs(decision: dict[str, Any]) -> tuple[CostRecord, ...]:
    rows = ({key: row[key] for key in row if key != "call"} for row in decision["spent"])
    return tuple(CostRecord(**row) for row in rows)

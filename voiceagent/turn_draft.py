"""A turn while it happens: what the watch knows of it so far, and the record that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from audio.phrases import first_sentence
from routing.decision import Decision
from voiceagent.conversation import actions as act
from voiceagent.conversation.rules import to_us
from voiceagent.turn_record import (
    Anchor,
    ArrivalRecord,
    CostRecord,
    PauseRecord,
    TurnKind,
    TurnRecord,
)

MOST_ARRIVALS = 4_096
"""Chunks of one answer that are kept; 256 tokens are the usual bound."""
MOST_PAUSES = 512


@dataclass(slots=True)
class Answer:
    """One request for a reply's text, from asking to its end; a guess may never be heard."""

    asked: bool = False
    """A model was asked: there will be a decision."""
    requested_us: int | None = None
    arrivals: list[ArrivalRecord] = field(default_factory=list)
    final_usage: int | None = None
    written_us: int | None = None
    decision: dict[str, Any] | None = None
    costs: list[CostRecord] = field(default_factory=list)

    def decided(self, decision: Decision, began: int) -> None:
        """The router is done with it. Asked twice, both count as costs, and the later decided."""
        self.costs += costs_of(decision)
        self.decision = decision.to_dict()
        if decision.leader is not None:
            self.written_us = decision.leader.at - began


@dataclass(slots=True)
class Draft:
    """``record`` holds what needs no reckoning; times in it count from the session's beginning."""

    record: TurnRecord
    began: int
    """When the session began, on its clock."""
    answer: Answer = field(default_factory=Answer)
    guesses: dict[int, Answer] = field(default_factory=dict)
    """Answers that were begun for this turn and thrown away unheard, by reply."""
    pauses: list[PauseRecord] = field(default_factory=list)
    text: str = ""
    heard: str = ""
    awaited: bool = False
    """An answer to it is to come."""
    cut_by: str | None = None
    over_at: int | None = None
    """When nothing more was to come but late news (session's clock)."""

    @property
    def accounted(self) -> bool:
        """The router has told of every answer that it was asked for."""
        answers = (self.answer, *self.guesses.values())
        return all(answer.decision is not None or not answer.asked for answer in answers)

    def set(self, **fields: Any) -> None:
        """Note plain facts."""
        self.record = replace(self.record, **fields)

    def sounded(self, action: act.ReplySounded) -> None:
        """The first sound."""
        self.set(
            sounded_us=action.sounded_at - self.began,
            audible_us=action.audible_at - self.began,
            gap_us=action.gap,
            parts=action.parts,
            measured=action.measured,
        )

    def paused(self, action: act.PauseHeard) -> None:
        """A pause is over."""
        if len(self.pauses) < MOST_PAUSES:
            self.pauses.append(
                PauseRecord(
                    action.at - self.began,
                    action.duration,
                    action.place,
                    action.cause,
                    action.underrun,
                    action.stretched,
                    action.sample,
                )
            )

    def stopped(self, action: act.ReplyStopped) -> None:
        """The last sound."""
        self.set(
            ended_us=action.at - self.began,
            anchors=tuple(Anchor(sample, at - self.began) for sample, at in action.anchors),
            speech_us=to_us(action.samples),
            underruns=action.underruns,
            cushion_ms=None if action.cushion is None else action.cushion / 1_000,
            stop_us=action.stop,
        )

    def finished(self, *, keep_text: bool) -> TurnRecord:
        """The record as far as it is known."""
        answer, heard = self.answer, self.heard.rstrip()
        whole = replace(
            self.record,
            pauses=tuple(self.pauses),
            characters=len(self.text.rstrip()),
            heard_characters=len(heard),
            first_sentence_heard=bool(heard) and len(heard) >= first_sentence(self.text),
            arrivals=tuple(answer.arrivals),
            final_usage=answer.final_usage,
            requested_us=answer.requested_us,
            written_us=answer.written_us,
            decision=answer.decision,
            costs=tuple(cost for one in (*self.guesses.values(), answer) for cost in one.costs),
        )
        if not keep_text:
            return replace(whole, user_text=None)
        return replace(whole, reply_text=self.text, heard_text=heard)


def draft(number: int, kind: TurnKind, began: int, **fields: Any) -> Draft:
    """A new turn."""
    return Draft(TurnRecord(number, kind, **fields), began)


def costs_of(decision: Decision) -> list[CostRecord]:
    """What each attempt of a decision used."""
    return [
        CostRecord(
            spent.backend,
            spent.purpose,
            spent.outcome,
            spent.prompt_tokens,
            spent.cached_tokens,
            spent.completion_tokens,
            spent.estimated,
            spent.usd,
        )
        for spent in decision.spent
    ]

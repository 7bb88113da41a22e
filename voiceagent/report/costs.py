"""What the session's answers used: every attempt, heard or not, by backend and purpose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from voiceagent.report.turn_figures import TurnFigures
from voiceagent.rhythm.rollup import heard_fraction, per_useful_answer
from voiceagent.rhythm.values import Unknown, Value
from voiceagent.turn_record import CostRecord, TurnRecord

NO_PRICE = "the price of an attempt is not known"


@dataclass(frozen=True, slots=True)
class CostLine:
    """The attempts at one backend for one purpose, or all together."""

    backend: str
    purpose: str
    attempts: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    estimated: int
    """Attempts whose tokens the server did not count."""
    unpriced: int
    usd: Value


@dataclass(frozen=True, slots=True)
class Costs:
    """All that was used, and what came of it."""

    total: CostLine
    lines: tuple[CostLine, ...]
    useful_answers: int
    cost_per_useful_answer: Value
    heard_fraction: Value
    """Of the completion tokens, by the characters that were heard of each answer."""


def costs(turns: Sequence[TurnRecord], figures: Sequence[TurnFigures]) -> Costs:
    """Sums over ``turns``, whose ``figures`` say which answers were of use."""
    everything = [cost for turn in turns for cost in turn.costs]
    names = sorted({(cost.backend, cost.purpose) for cost in everything})
    total = _line("", "", everything)
    useful = sum(one.useful for one in figures)
    return Costs(
        total=total,
        lines=tuple(
            _line(*name, [cost for cost in everything if (cost.backend, cost.purpose) == name])
            for name in names
        ),
        useful_answers=useful,
        cost_per_useful_answer=per_useful_answer(total.usd, useful),
        heard_fraction=heard_fraction(_heard(turns, figures), total.completion_tokens),
    )


def _line(backend: str, purpose: str, found: Iterable[CostRecord]) -> CostLine:
    found = list(found)
    unpriced = sum(cost.usd is None for cost in found)
    return CostLine(
        backend=backend,
        purpose=purpose,
        attempts=len(found),
        prompt_tokens=sum(cost.prompt_tokens for cost in found),
        cached_tokens=sum(cost.cached_tokens for cost in found),
        completion_tokens=sum(cost.completion_tokens for cost in found),
        estimated=sum(cost.estimated for cost in found),
        unpriced=unpriced,
        usd=Unknown(NO_PRICE) if unpriced else sum(cost.usd or 0.0 for cost in found),
    )


def _heard(turns: Sequence[TurnRecord], figures: Sequence[TurnFigures]) -> float:
    """Tokens heard: of each answer's tokens the share of its characters that was heard.

    An answer has the tokens that its attempts that were used were billed, so that tokens counted
    in two ways are not set against each other; at most all of the turn's.
    """
    heard = 0.0
    for turn, one in zip(turns, figures, strict=True):
        billed = sum(cost.completion_tokens for cost in turn.costs)
        if turn.characters <= 0 or not billed:
            continue
        tokens: float = billed
        if turn.final_usage is not None:
            tokens = min(billed, turn.final_usage)
        elif len(turn.costs) > 1 and not isinstance(one.stream, Unknown):
            tokens = min(billed, one.stream.tokens)
        heard += tokens * min(1.0, turn.heard_characters / turn.characters)
    return heard

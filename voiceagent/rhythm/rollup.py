"""Rolled up over a session: turns that were good, what a useful answer costs, what was heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from voiceagent.rhythm.gaps import SLOW_MS
from voiceagent.rhythm.pauses import DEFAULT_CUTS, Cause, Cuts, Pause, Place, is_disturbing
from voiceagent.rhythm.values import CANCELLED, Unknown, Value


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """One started turn."""

    gap_ms: Value
    """Response gap; `gaps.NO_ANSWER` where none came; Unknown(CANCELLED) where the user took the
    turn back."""
    pauses: tuple[Pause, ...] = ()
    error: bool = False
    false_takeover: bool = False
    """The agent took the turn while the user had not finished."""


@dataclass(frozen=True, slots=True)
class TurnSlo:
    """Share of good turns among all that were started."""

    turn_slo: Value
    turns: int
    bad: int
    faults: dict[str, int]
    """Turns by fault; a turn with two faults is in both and bad once."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, and per hour of a GPU."""

    input_per_million: float
    cached_per_million: float
    output_per_million: float
    gpu_per_hour: float = 0.0


@dataclass(frozen=True, slots=True)
class Spend:
    """What one request used, whether or not it was heard: retried, hedged and cancelled ones too.

    Tokens are None where the backend did not tell.
    """

    price: Price
    input_tokens: int | None
    """Without the cached ones."""
    cached_tokens: int | None
    output_tokens: int | None
    gpu_us: int = 0


def turn_faults(turn: TurnOutcome, cuts: Mapping[Place, Cuts] = DEFAULT_CUTS) -> frozenset[str]:
    """Why a turn misses its objective; empty for a good one.

    A gap that is unknown was not shown to be short enough and is a fault, but for a turn that the
    user took back.
    """
    faults = {
        "error": turn.error,
        "false_takeover": turn.false_takeover,
        "awkward_underrun": any(
            pause.cause is Cause.UNDERRUN and is_disturbing(pause, cuts) for pause in turn.pauses
        ),
    }
    if isinstance(turn.gap_ms, Unknown):
        faults["gap_unknown"] = turn.gap_ms.reason != CANCELLED
    else:
        # Not "at least": a NaN is not below it either.
        faults["slow"] = not turn.gap_ms < SLOW_MS
    return frozenset(name for name, found in faults.items() if found)


def turn_slo(turns: Collection[TurnOutcome], cuts: Mapping[Place, Cuts] = DEFAULT_CUTS) -> TurnSlo:
    """The share of all ``turns`` started that have no fault."""
    found = [turn_faults(turn, cuts) for turn in turns]
    bad = sum(1 for faults in found if faults)
    return TurnSlo(
        turn_slo=1 - bad / len(found) if found else Unknown("no turns"),
        turns=len(found),
        bad=bad,
        faults=dict(sorted(Counter(name for faults in found for name in faults).items())),
    )


def cost(spends: Iterable[Spend]) -> Value:
    """Dollars for all requests; unknown where the tokens of any are."""
    total = 0.0
    for spend in spends:
        price, counts = spend.price, (spend.input_tokens, spend.cached_tokens, spend.output_tokens)
        if None in counts:
            return Unknown("the tokens of a request are unknown")
        rates = (price.input_per_million, price.cached_per_million, price.output_per_million)
        total += sum((n or 0) * rate for n, rate in zip(counts, rates, strict=True)) / 1_000_000
        total += spend.gpu_us / 3_600_000_000 * price.gpu_per_hour
    return total


def cost_per_useful_answer(spends: Iterable[Spend], useful: int) -> Value:
    """Dollars for everything that was used, over the answers that were of use."""
    return per_useful_answer(cost(spends), useful)


def per_useful_answer(total: Value, useful: int) -> Value:
    """The same where the dollars are added up already."""
    if isinstance(total, Unknown):
        return total
    return total / useful if useful > 0 else Unknown("no useful answer")


def is_useful_turn(*, first_sentence_heard: bool, faults: Collection[str]) -> bool:
    """An interactive answer: heard to the end of its first sentence, in a turn without fault."""
    return first_sentence_heard and not faults


def is_useful_analysis(*, delivered: bool, cancelled: bool) -> bool:
    """An analysis: delivered, and not cancelled."""
    return delivered and not cancelled


def heard_fraction(heard: float, billed: float) -> Value:
    """Tokens heard over tokens billed, 0 to 1."""
    if not 0 <= heard <= billed:
        return Unknown("counts that cannot be")
    return heard / billed if billed else Unknown("no tokens billed")

"""The response gap in words: how a pause before an answer feels to the person waiting.

The response gap runs from the user's last voiced sample to the first audible sample of the agent,
both at the listener's ear. The limits come from studies of conversation:

- overlap and seamless, -120 to 120 ms: below about 120 ms neither gap nor overlap is noticed
  (Heldner 2011).
- human, up to 300 ms: the mean over ten languages is about 208 ms (Stivers et al. 2009), and later
  answers begin to carry meaning (Bögels et al. 2015).
- comfortable, up to 700 ms: under the length at which listeners expect trouble.
- noticeable, from 700 ms: willingness is judged lower (Roberts et al. 2006; Roberts & Francis 2013;
  Kendrick & Torreira 2015).
- awkward, from 1 s: the standard maximum silence (Jefferson 1989; Bögels et al. 2015); preference
  for a robot's delay peaks at 1 s (Shiwa et al. 2009).
- bad, from 2 s: the two-second rule (Shiwa et al. 2009).
- broken, from 4 s: one silence of four seconds hurts the feeling of belonging (Koudenburg et al.
  2011), and voice agents lose their users (Maslych et al. 2025).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from voiceagent.rhythm.percentiles import Summary, summarize
from voiceagent.rhythm.values import (
    ABSURD,
    LONGEST_US,
    MISSING,
    NEGATIVE,
    NO_SAMPLES,
    Unknown,
    Value,
)

NO_ANSWER = math.inf
"""The gap of a turn that no answer ever followed."""

SLOW_MS = 1000
"""Response gap, in milliseconds, from which a turn misses its objective: "awkward" begins."""

LONGEST_OVERLAP_US = 60_000_000
"""An agent that was heard more than a minute before the user ended did not answer that user."""

# (below this many milliseconds, class)
_CLASSES: tuple[tuple[float, str], ...] = (
    (-120, "overlap"),
    (120, "seamless"),
    (300, "human"),
    (700, "comfortable"),
    (1000, "noticeable"),
    (2000, "awkward"),
    (4000, "bad"),
    (math.inf, "broken"),
)


def classify_gap(ms: float | None) -> str | None:
    """The class of a response gap of ``ms`` milliseconds; None where the gap is not known.

    An answer that never came has no length: the caller calls it "broken" by passing ``math.inf``.
    """
    if ms is None or math.isnan(ms):
        return None
    return next((name for limit, name in _CLASSES if ms < limit), "broken")


@dataclass(frozen=True, slots=True)
class GapSummary:
    """The response gaps of many turns."""

    gap_ms: Summary
    """Of the turns that were answered."""
    unanswered: int
    classes: dict[str, int]
    """How many gaps are of each class, best to worst; an unanswered turn is broken."""
    share_slow: Value
    """Share of `SLOW_MS` and longer, unanswered turns among them."""


def response_gap_ms(user_end_us: int | None, first_audible_us: int | None) -> Value:
    """Milliseconds from the user's last voiced sample to the first audible agent sample.

    Both on the listener's clock. Negative where the agent spoke over the user: an overlap, and no
    fault, up to `LONGEST_OVERLAP_US`. For an answer that never came, use `NO_ANSWER` instead.
    """
    if user_end_us is None or first_audible_us is None:
        return Unknown(MISSING)
    gap = first_audible_us - user_end_us
    if gap < -LONGEST_OVERLAP_US:
        return Unknown(NEGATIVE)
    return Unknown(ABSURD) if gap > LONGEST_US else gap / 1_000


def summarize_gaps(gaps: Iterable[Value]) -> GapSummary:
    """Classes, percentiles and the share of slow ones of ``gaps`` in milliseconds.

    `NO_ANSWER` among them is an unanswered turn: it has a class and counts as slow, but has no
    place in the percentiles.
    """
    everything = list(gaps)
    answered = [gap for gap in everything if gap != NO_ANSWER]
    names = [
        name
        for gap in everything
        if not isinstance(gap, Unknown) and (name := classify_gap(gap)) is not None
    ]
    slow = sum(1 for gap in everything if not isinstance(gap, Unknown) and gap >= SLOW_MS)
    return GapSummary(
        gap_ms=summarize(answered),
        unanswered=len(everything) - len(answered),
        classes={name: names.count(name) for _, name in _CLASSES},
        share_slow=slow / len(names) if names else Unknown(NO_SAMPLES),
    )

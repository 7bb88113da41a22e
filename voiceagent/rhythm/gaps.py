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

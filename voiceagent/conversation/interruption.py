"""Is speech over the agent's voice an interruption, or a sign of listening?"""

from __future__ import annotations

import re

# Verbal backchannels of American English (Ward 2006; Jurafsky et al. 1998 list the commonest).
_BACKCHANNELS = frozenset(
    """mm mhm mmhm mmhmm mmm hm hmm hmmm uh um uhhuh huh ah oh ok okay yeah yep yes right sure
    alright cool great good nice exactly i see got it go on really true wow haan""".split()  # noqa: SIM905
)
_LONGEST = 3


def is_backchannel(text: str) -> bool:
    """True when ``text`` is nothing but listening noises ("mm-hm", "yeah right", "I see")."""
    words = re.findall(r"\w+", re.sub(r"['\-]", "", text.lower()))
    return 0 < len(words) <= _LONGEST and all(word in _BACKCHANNELS for word in words)

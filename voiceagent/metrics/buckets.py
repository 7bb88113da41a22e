"""Upper bounds of the histograms, in seconds where nothing else is said.

Where a duration has classes, every limit between two classes is a bound, so that the share of a
class can be read off exactly.
"""

from __future__ import annotations

GAP = (0.12, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
"""Response gap: on the limits of ``rhythm.gaps``."""

GAP_PART = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0)

PAUSE = (0.06, 0.1, 0.15, 0.25, 0.4, 0.6, 0.9, 1.5, 3.0, 6.0)
"""Pauses: on the cuts of ``rhythm.pauses``."""

STOP = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0)
"""Barge-in: on the limits of ``rhythm.barge_in``."""

FIRST_TOKEN = (0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5, 2.0, 4.0, 8.0)
CHUNK_GAP = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""0.2 is where a gap is a stall."""
PER_TOKEN = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5)

EVENNESS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""A ratio; 0.5 and 0.8 part bursty, uneven and even."""

HEADROOM = (0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""0.3 is the reserve that a good stream has."""

TURN_USD = (0.0, 0.00001, 0.0000316, 0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.1)
"""US dollars."""

SESSION = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0)
LOOP_LAG = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0)
"""0.02 is one frame of audio."""

OPERATION = tuple(0.01 * 2**power for power in range(14))
"""0.01 to 81.92: what the GenAI conventions of OpenTelemetry advise for times."""
TOKENS = tuple(4**power for power in range(14))
"""1 to 67108864: what they advise for tokens."""

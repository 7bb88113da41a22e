"""What was measured of the backends today, kept in a file for ``record explain`` and ``check``."""

from __future__ import annotations

import json
import logging
from collections import defaultdict, deque
from collections.abc import Callable
from datetime import date
from pathlib import Path

from routing.decision import Decision
from voiceagent.rhythm.percentiles import percentile
from voiceagent.rhythm.values import known

log = logging.getLogger(__name__)

_KEPT = 1_000
_EVERY = 10
"""Answers between two writes; the file is written at the end, too."""


class Measurements:
    """Times from the request to the first text that could be spoken, by backend."""

    def __init__(self, path: Path, today: Callable[[], date] = date.today) -> None:
        self.path, self._today = path, today
        self._day = today()
        self._firsts: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_KEPT))
        self._unwritten = 0

    def add(self, decision: Decision) -> None:
        """Count an answer that one backend gave alone, to its end: others would mix their times."""
        first, backend = decision.first_speakable_us, decision.backend
        alone = len(decision.attempts) == 1 and decision.outcome == "answered"
        if not alone or first is None or backend is None:
            return
        if self._today() != self._day:
            self._day = self._today()
            self._firsts.clear()
        self._firsts[backend].append(first / 1_000)
        self._unwritten += 1
        if self._unwritten >= _EVERY:
            self.write()

    def write(self) -> None:
        """Write what there is of today, beside what other backends showed on their last day."""
        if not self._unwritten:
            return
        self._unwritten = 0
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {}
        body = (kept if isinstance(kept, dict) else {}) | self._today_of_each()
        try:
            self.path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            log.warning("measurements not written: %s", error.strerror)

    def _today_of_each(self) -> dict[str, dict[str, object]]:
        return {
            name: {
                "first_speakable_p50_ms": known(percentile(list(firsts), 50)),
                "first_speakable_p95_ms": known(percentile(list(firsts), 95)),
                "n": len(firsts),
                "measured_on": self._day.isoformat(),
            }
            for name, firsts in self._firsts.items()
        }

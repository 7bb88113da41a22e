"""Prometheus metrics of one application, fed with turn records."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.metadata import version
from typing import get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.openmetrics import exposition as openmetrics

from voiceagent.metrics.instruments import NAMESPACE, Instruments
from voiceagent.metrics.labels import Capped, one_of, reason_class, truth
from voiceagent.metrics.readings import (
    backend_of,
    chunk_gaps_of,
    pause_of,
    speech_clock_of,
    stop_of,
    stream_of,
    usd_of,
)
from voiceagent.rhythm.barge_in import classify_stop
from voiceagent.rhythm.evenness import evenness, tpot_ms
from voiceagent.rhythm.gaps import NO_ANSWER, classify_gap
from voiceagent.rhythm.latency import ttfat_ms
from voiceagent.rhythm.pauses import Cause, Place, classify_pause
from voiceagent.rhythm.stream import TokenSource, count_tokens
from voiceagent.rhythm.values import NEGATIVE, Unknown, Value, duration_ms
from voiceagent.rhythm.voice_to_voice import voice_to_voice
from voiceagent.turn_gap import gap_ms
from voiceagent.turn_record import CostRecord, PauseRecord, TurnKind, TurnRecord

OPENMETRICS = "application/openmetrics-text"

KINDS = get_args(TurnKind)
STATUSES = ("completed", "interrupted", "cancelled", "failed", "unanswered", "not_asked")
DROPPED = ("empty", "backchannel", "unrecognised", "closed")
PURPOSES = ("answer", "failover", "hedge", "handover")
PLACES, CAUSES = frozenset(Place), frozenset(Cause)
_MOST_OUTCOMES = 16
_MOST_COUNTED = 2**53
"""More is no count, and a float would not hold it."""


class Metrics:
    """Counts what happens in one application; several in one process do not meet.

    ``characters_per_second`` is the speaking rate of the voice in use. To be called from one
    thread; `render` may be called from another.
    """

    def __init__(self, *, characters_per_second: Callable[[], float] = lambda: 15.0) -> None:
        self.registry = CollectorRegistry()
        self._rate = characters_per_second
        self._of = Instruments(self.registry)
        self._backend, self._code, self._part = Capped(), Capped(), Capped(16)
        self._outcome = Capped(_MOST_OUTCOMES)
        self._sessions = self._records_dropped = 0
        Info("build", "The version that runs.", namespace=NAMESPACE, registry=self.registry).info(
            {"version": version("voiceagent")}
        )
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def session_began(self) -> None:
        """A session began."""
        self._sessions += 1
        self._of.sessions.inc()
        self._of.sessions_active.set(self._sessions)

    def session_ended(self, seconds: float) -> None:
        """A session ended that lasted ``seconds``."""
        self._sessions = max(0, self._sessions - 1)
        self._of.sessions_active.set(self._sessions)
        self._see(self._of.session, "session", _checked(seconds * 1_000))

    def loop_lag(self, seconds: float) -> None:
        """The event loop ran a timer ``seconds`` late."""
        self._see(self._of.loop_lag, "loop_lag", _checked(seconds * 1_000))

    def set_ready(self, ready: bool) -> None:
        """Conversations are taken, or not."""
        self._of.ready.set(ready)

    def records_dropped(self, total: int) -> None:
        """How many records the store has lost so far, altogether."""
        self._add(self._of.records_dropped, "records_dropped", total - self._records_dropped)
        self._records_dropped = max(self._records_dropped, total)

    def turn(self, record: TurnRecord) -> None:
        """A turn is complete; to be told once for each."""
        status = one_of(record.status, STATUSES)
        self._of.turns.labels(one_of(record.kind, KINDS), status).inc()
        if record.kind == "dropped":
            self._of.turns_dropped.labels(one_of(record.dropped, DROPPED)).inc()
        if record.trouble is not None:
            self._of.troubles.labels(self._code(record.trouble)).inc()
        self._gap(record)
        self._speech(record)
        self._stop(record)
        self._stream(record)
        for cost in record.costs:
            self._cost(cost)
        if (usd := usd_of(record)) is not None:
            self._see(self._of.turn_cost, "turn_cost", usd, scale=1)

    def render(self, accept: str | None = None) -> tuple[bytes, str]:
        """The exposition and its content type: OpenMetrics where the Accept header ``accept`` names
        it, else Prometheus' text format."""
        offered = (kind.partition(";")[0].strip().lower() for kind in (accept or "").split(","))
        if OPENMETRICS in offered:
            body: bytes = openmetrics.generate_latest(self.registry)  # type: ignore[no-untyped-call]
            return body, openmetrics.CONTENT_TYPE_LATEST
        return generate_latest(self.registry), CONTENT_TYPE_PLAIN_0_0_4

    def _gap(self, record: TurnRecord) -> None:
        gap = gap_ms(record)
        if gap is None:
            return
        measured = truth(record.measured)
        if isinstance(gap, Unknown):
            self._not_known("response_gap", gap)
            return
        self._of.gap_classes.labels(classify_gap(gap), measured).inc()
        if gap == NO_ANSWER:
            return
        # A negative sample would make the histogram's sum fall; every bucket is right with 0.
        self._see(self._of.gap, "response_gap", max(0.0, gap), measured)
        if not record.parts:
            return
        explained = voice_to_voice(record.parts, record.gap_us)
        for part in explained.parts:
            self._see(self._of.gap_part, "response_gap_part", part.ms, self._part(part.name))
        if not explained.adds_up:
            self._of.gaps_unexplained.inc()

    def _speech(self, record: TurnRecord) -> None:
        for pause in record.pauses:
            self._pause(pause, truth(record.measured))
        spoken = duration_ms(0, record.speech_us)
        if isinstance(spoken, Unknown):
            self._not_known("agent_speech", spoken)
        else:
            self._of.speech.inc(spoken / 1_000)
        underruns = self._of.underruns.labels(truth(record.measured))
        self._add(underruns, "underruns", record.underruns)

    def _pause(self, pause: PauseRecord, measured: str) -> None:
        place, cause = one_of(pause.place, PLACES), one_of(pause.cause, CAUSES)
        lasted = pause_of(pause)
        self._see(self._of.pause, "pause", lasted, place, cause, measured)
        if not isinstance(lasted, Unknown) and place in PLACES:
            name = classify_pause(lasted, Place(place))
            self._of.pause_classes.labels(place, cause, str(name), measured).inc()

    def _stop(self, record: TurnRecord) -> None:
        if record.false_stop:
            self._of.false_stops.inc()
        stop = stop_of(record)
        if stop is None:
            return
        measured = truth(record.measured)
        self._see(self._of.stop, "barge_in_stop", stop, measured)
        if not isinstance(stop, Unknown):
            self._of.stop_classes.labels(classify_stop(stop), measured).inc()

    def _stream(self, record: TurnRecord) -> None:
        stream = stream_of(record)
        if stream is None:
            return
        backend, counted = self._backend(backend_of(record)), count_tokens(stream)
        measured = truth(counted.source is not TokenSource.CHARACTERS)
        self._see(self._of.first_token, "first_token", ttfat_ms(stream), backend)
        for gap in chunk_gaps_of(counted):
            self._see(self._of.chunk_gap, "chunk_gap", gap, backend)
        per_token, even = tpot_ms(counted), evenness(counted)
        self._see(self._of.per_token, "time_per_output_token", per_token, backend, measured)
        self._see(self._of.evenness, "stream_evenness", even, backend, measured, scale=1)
        clock = speech_clock_of(stream, self._rate())
        if isinstance(clock, Unknown):
            self._not_known("headroom", clock)
            return
        headroom = clock.headroom_p05_ms
        if not isinstance(headroom, Unknown):
            headroom = max(0.0, headroom)
        self._see(self._of.headroom, "headroom", headroom, backend)
        self._of.predicted_underruns.labels(backend).inc(len(clock.underruns))

    def _cost(self, cost: CostRecord) -> None:
        backend, measured = self._backend(cost.backend), truth(not cost.estimated)
        purpose = one_of(cost.purpose, PURPOSES)
        self._of.requests.labels(backend, purpose, self._outcome(cost.outcome)).inc()
        cached = min(max(0, cost.cached_tokens), max(0, cost.prompt_tokens))
        tokens = {
            "input": cost.prompt_tokens - cached,
            "cached_input": cached,
            "output": cost.completion_tokens,
        }
        for direction, count in tokens.items():
            self._add(self._of.tokens.labels(backend, direction, measured), "tokens", count)
        if cost.usd is None:
            self._of.unknown.labels("cost", "missing").inc()
        else:
            self._add(self._of.cost.labels(backend, measured), "cost", cost.usd)

    def _see(
        self, histogram: Histogram, name: str, value: Value, *labels: str, scale: float = 1_000
    ) -> None:
        """A sample, from milliseconds; what is unknown is only counted."""
        if not isinstance(value, Unknown):
            value = _checked(value)
        if isinstance(value, Unknown):
            self._not_known(name, value)
        else:
            (histogram.labels(*labels) if labels else histogram).observe(value / scale)

    def _add(self, counter: Counter, name: str, amount: float) -> None:
        checked = _checked(amount)
        if isinstance(checked, Unknown):
            self._not_known(name, checked)
        else:
            counter.inc(checked)

    def _not_known(self, name: str, value: Unknown) -> None:
        self._of.unknown.labels(name, reason_class(value.reason)).inc()


def _checked(value: float) -> Value:
    """What may be added to a sum that never falls."""
    if not math.isfinite(value):
        return Unknown("not a finite number")
    if value < 0:
        return Unknown(NEGATIVE)
    return value if value <= _MOST_COUNTED else Unknown("larger than can be real")

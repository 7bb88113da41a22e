"""Optional OpenTelemetry: the same turns as OTLP metrics and spans. Import it only when wanted.

Names and buckets for the language model are those of the semantic conventions for generative AI,
as of `SCHEMA`; the voice has no conventions yet and gets names of our own. Nothing that is sent
holds a text, a key, an address or a session's name. What is unknown gives no sample.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from importlib import import_module
from importlib.metadata import version
from typing import Any

from voiceagent.metrics import buckets
from voiceagent.metrics.labels import Capped
from voiceagent.metrics.readings import (
    backend_of,
    chunk_gaps_of,
    pause_of,
    stream_of,
)
from voiceagent.rhythm.gaps import NO_ANSWER, classify_gap
from voiceagent.rhythm.latency import ttfat_ms
from voiceagent.rhythm.pauses import classify_pause
from voiceagent.rhythm.stream import Stream, count_tokens
from voiceagent.rhythm.values import CANCELLED, MISSING, Unknown, Value, duration_ms
from voiceagent.turn_gap import gap_ms
from voiceagent.turn_record import TurnRecord

MISSING_PACKAGE = "OpenTelemetry is not installed: install voiceagent[otel]"

try:
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import (
        Span,
        Status,
        StatusCode,
        Tracer,
        TracerProvider,
        set_span_in_context,
    )
except ImportError as error:
    raise ImportError(MISSING_PACKAGE) from error

SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
"""The last conventions of generative AI that were published with all others."""

DURATION = "gen_ai.client.operation.duration"
FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk"
PER_CHUNK = "gen_ai.client.operation.time_per_output_chunk"
TOKEN_USAGE = "gen_ai.client.token.usage"  # noqa: S105  (a metric's name)
RESPONSE_GAP = "voiceagent.response_gap"
PAUSE = "voiceagent.pause"
TURN = "voiceagent.turn"

_CLOSE_MS = 2_000


class Telemetry:
    """Tells OpenTelemetry of turns.

    ``models`` says which model each backend is asked for, where that is known.
    """

    def __init__(
        self,
        meters: MeterProvider,
        tracers: TracerProvider | None = None,
        *,
        models: Mapping[str, str] | None = None,
    ) -> None:
        self._meters, self._tracers = meters, tracers
        self._models = dict(models or {})
        self._backend, self._code, self._part = Capped(), Capped(), Capped(16)
        meter = meters.get_meter("voiceagent", version("voiceagent"), SCHEMA)

        def histogram(name: str, unit: str, words: str, bounds: tuple[float, ...]) -> Histogram:
            return meter.create_histogram(
                name, unit, words, explicit_bucket_boundaries_advisory=bounds
            )

        times = buckets.OPERATION
        self._duration = histogram(DURATION, "s", "GenAI operation duration.", times)
        self._first = histogram(FIRST_CHUNK, "s", "Time to receive the first chunk.", times)
        self._per_chunk = histogram(PER_CHUNK, "s", "Time per output chunk.", times)
        self._tokens = histogram(
            TOKEN_USAGE, "{token}", "Number of input and output tokens used.", buckets.TOKENS
        )
        self._gap = histogram(
            RESPONSE_GAP,
            "s",
            "The user's last voiced sample to the first audible one.",
            buckets.GAP,
        )
        self._pause = histogram(
            PAUSE, "s", "Silences heard inside the agent's turn.", buckets.PAUSE
        )
        self._tracer: Tracer | None = None
        if tracers is not None:
            self._tracer = tracers.get_tracer("voiceagent", version("voiceagent"), SCHEMA)

    def turn(self, record: TurnRecord, began: datetime | None = None) -> None:
        """A turn is complete; to be told once for each. ``began`` is when its session began, with
        its zone; without it there is no span."""
        gap = gap_ms(record)
        if gap is not None and gap != NO_ANSWER:
            attributes = {"voiceagent.measured": record.measured}
            # An overlap is a gap of none here: a histogram's sum must not fall.
            _see(self._gap, gap if isinstance(gap, Unknown) else max(0.0, gap), attributes)
        self._pauses(record)
        stream = stream_of(record)
        if stream is not None:
            self._operation(record, stream)
        self._usage(record)
        if self._tracer is not None and began is not None:
            self._spans(self._tracer, record, round(began.timestamp() * 1_000_000))

    def close(self) -> None:
        """Send what is left and stop. Blocks for some seconds where nobody takes it."""
        for provider in (self._tracers, self._meters):
            flush, shutdown = (getattr(provider, n, None) for n in ("force_flush", "shutdown"))
            if flush and shutdown:
                flush(timeout_millis=_CLOSE_MS)
                shutdown()

    def _pauses(self, record: TurnRecord) -> None:
        for pause in record.pauses:
            lasted = pause_of(pause)
            if isinstance(lasted, Unknown):
                continue
            attributes: dict[str, str | bool] = {
                "voiceagent.measured": record.measured,
                "voiceagent.pause.place": str(pause.place),
                "voiceagent.pause.cause": str(pause.cause),
                "voiceagent.pause.class": str(classify_pause(lasted, pause.place)),
            }
            _see(self._pause, lasted, attributes)

    def _operation(self, record: TurnRecord, stream: Stream) -> None:
        attributes = self._chat(backend_of(record))
        _see(self._first, ttfat_ms(stream), attributes)
        for gap in chunk_gaps_of(count_tokens(stream)):
            _see(self._per_chunk, gap, attributes)
        if record.status == "failed":
            attributes = attributes | {"error.type": self._code(record.trouble or "_OTHER")}
        _see(self._duration, _duration_of(stream), attributes)

    def _usage(self, record: TurnRecord) -> None:
        """Only what a server counted: the conventions want no estimates."""
        for cost in record.costs:
            if cost.estimated:
                continue
            tokens = {"input": cost.prompt_tokens, "output": cost.completion_tokens}
            for kind, count in tokens.items():
                if count >= 0:
                    attributes = self._chat(cost.backend) | {"gen_ai.token.type": kind}
                    self._tokens.record(count, attributes)

    def _chat(self, backend: str | None) -> dict[str, str]:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._backend(backend),
        }
        model = self._models.get(backend or "")
        return attributes | ({"gen_ai.request.model": model} if model else {})

    def _spans(self, tracer: Tracer, record: TurnRecord, began_us: int) -> None:
        """The turn, and in it the parts of its response gap one after another."""
        start, end = _bounds(record)
        if isinstance(duration_ms(start, end), Unknown) or start is None or end is None:
            return
        gap = gap_ms(record)
        known = None if isinstance(gap, Unknown) else classify_gap(gap)
        turn = tracer.start_span(TURN, start_time=(began_us + start) * 1_000)
        turn.set_attribute("voiceagent.turn.kind", record.kind)
        turn.set_attribute("voiceagent.measured", record.measured)
        if record.status is not None:
            turn.set_attribute("voiceagent.turn.status", record.status)
        if known is not None:
            turn.set_attribute("voiceagent.response_gap.class", known)
        if record.trouble is not None:
            turn.set_attribute("error.type", self._code(record.trouble))
            turn.set_status(Status(StatusCode.ERROR))
        self._parts(tracer, turn, record, began_us)
        turn.end((began_us + end) * 1_000)

    def _parts(self, tracer: Tracer, turn: Span, record: TurnRecord, began_us: int) -> None:
        if record.user_end_us is None:
            return
        within, at = set_span_in_context(turn), began_us + record.user_end_us
        for name, lasted in record.parts:
            if lasted <= 0:
                continue
            name = f"{RESPONSE_GAP} {self._part(name)}"
            part = tracer.start_span(name, within, start_time=at * 1_000)
            at += lasted
            part.end(at * 1_000)


def exporting(models: Mapping[str, str] | None = None) -> Telemetry:
    """Telemetry that is sent by OTLP over HTTP, as the standard OTEL_* variables say.

    Raises ImportError, saying what to install, where a package is missing.
    """
    resource = _sdk("opentelemetry.sdk.resources").Resource.create(_service())
    metrics, export = _sdk("opentelemetry.sdk.metrics"), "opentelemetry.exporter.otlp.proto.http"
    reader = _sdk("opentelemetry.sdk.metrics.export").PeriodicExportingMetricReader(
        _sdk(f"{export}.metric_exporter").OTLPMetricExporter()
    )
    tracers = _sdk("opentelemetry.sdk.trace").TracerProvider(resource=resource)
    tracers.add_span_processor(
        _sdk("opentelemetry.sdk.trace.export").BatchSpanProcessor(
            _sdk(f"{export}.trace_exporter").OTLPSpanExporter()
        )
    )
    meters = metrics.MeterProvider(metric_readers=[reader], resource=resource)
    return Telemetry(meters, tracers, models=models)


def _sdk(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(MISSING_PACKAGE) from error


def _service() -> dict[str, str]:
    """Our name, unless the variables give another."""
    named = "OTEL_SERVICE_NAME" in os.environ
    named = named or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return {} if named else {"service.name": "voiceagent"}


def _see(histogram: Histogram, value: Value, attributes: Mapping[str, str | bool]) -> None:
    if not isinstance(value, Unknown):
        histogram.record(value / 1_000, attributes)


def _duration_of(stream: Stream) -> Value:
    """The request to the last chunk of its answer, in milliseconds."""
    if stream.cancelled:
        return Unknown(CANCELLED)
    if not stream.arrivals:
        return Unknown(MISSING)
    return duration_ms(stream.written_us, stream.arrivals[-1].t_us)


def _bounds(record: TurnRecord) -> tuple[int | None, int | None]:
    """When the turn began and ended, in microseconds of its session."""
    begins = (record.user_onset_us, record.committed_us, record.requested_us, record.sounded_us)
    ends = (record.ended_us, record.audible_us, record.committed_us, record.user_end_us)
    return (
        next((at for at in begins if at is not None), None),
        next((at for at in ends if at is not None), None),
    )

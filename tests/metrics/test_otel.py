"""Turns as OpenTelemetry metrics and spans, read from the real SDK in memory."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics as conventions
from opentelemetry.semconv.schemas import Schemas

from tests.kit.turn_records import QUESTION, SENTENCES, STARTED_AT, a_session
from voiceagent.metrics import otel
from voiceagent.metrics.otel import Telemetry
from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.turn_record import ArrivalRecord, CostRecord, PauseRecord, TurnRecord

MS = 1_000
TURN = TurnRecord(
    number=1,
    kind="spoken",
    status="completed",
    measured=True,
    user_onset_us=500 * MS,
    user_end_us=2_000 * MS,
    audible_us=2_650 * MS,
    ended_us=4_000 * MS,
    gap_us=650 * MS,
    parts=(("hold", 500 * MS), ("first token", 0), ("voice", 150 * MS)),
    pauses=(PauseRecord(3_000 * MS, 250 * MS, Place.PHRASE, Cause.UNDERRUN),),
    requested_us=2_100 * MS,
    written_us=2_100 * MS,
    arrivals=(ArrivalRecord(2_300 * MS, 9, 2), ArrivalRecord(2_350 * MS, 9, 2)),
    decision={"backend": "groq"},
    costs=(
        CostRecord("groq", "answer", "answered", 400, 0, 80, False, 0.001),
        CostRecord("cerebras", "hedge", "cancelled", 400, 0, 3, True, 0.001),
    ),
)


class World:
    def __init__(self) -> None:
        self.reader, self.exporter = InMemoryMetricReader(), InMemorySpanExporter()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        meters = MeterProvider(metric_readers=[self.reader])
        self.telemetry = Telemetry(meters, tracers, models={"groq": "llama"})

    def metrics(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        scopes = [s for r in (data.resource_metrics if data else []) for s in r.scope_metrics]
        assert {scope.scope.schema_url for scope in scopes} <= {otel.SCHEMA}
        return {metric.name: metric for scope in scopes for metric in scope.metrics}

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}


@pytest.fixture
def world() -> Any:
    world = World()
    yield world
    world.telemetry.close()


def test_names_are_those_of_the_conventions() -> None:
    assert otel.DURATION == conventions.GEN_AI_CLIENT_OPERATION_DURATION
    assert otel.FIRST_CHUNK == conventions.GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK
    assert otel.PER_CHUNK == conventions.GEN_AI_CLIENT_OPERATION_TIME_PER_OUTPUT_CHUNK
    assert otel.TOKEN_USAGE == conventions.GEN_AI_CLIENT_TOKEN_USAGE
    assert otel.SCHEMA in {schema.value for schema in Schemas}


def test_times_of_the_language_model(world: World) -> None:
    world.telemetry.turn(TURN)
    found = world.metrics()
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "groq",
        "gen_ai.request.model": "llama",
    }
    for name, seconds in ((otel.DURATION, 0.25), (otel.FIRST_CHUNK, 0.2), (otel.PER_CHUNK, 0.05)):
        (point,) = found[name].data.data_points
        assert (found[name].unit, point.sum, dict(point.attributes)) == ("s", seconds, chat)
        assert point.explicit_bounds[:3] == (0.01, 0.02, 0.04)
        assert point.explicit_bounds[-1] == 81.92
    usage = found[otel.TOKEN_USAGE]
    assert usage.unit == "{token}"
    counted = {p.attributes["gen_ai.token.type"]: p.sum for p in usage.data.data_points}
    assert counted == {"input": 400, "output": 80}  # the hedge's were a guess
    assert usage.data.data_points[0].explicit_bounds[-1] == 67_108_864


def test_the_voice(world: World) -> None:
    world.telemetry.turn(TURN)
    (gap,) = world.metrics()[otel.RESPONSE_GAP].data.data_points
    (pause,) = world.metrics()[otel.PAUSE].data.data_points
    assert (gap.sum, dict(gap.attributes)) == (0.65, {"voiceagent.measured": True})
    assert pause.sum == 0.25
    assert pause.attributes["voiceagent.pause.class"] == "awkward"


def test_a_turn_is_a_span_with_the_parts_of_its_gap(world: World) -> None:
    world.telemetry.turn(TURN, STARTED_AT)
    spans = world.spans()
    assert set(spans) == {
        *("voiceagent.turn", "voiceagent.response_gap hold", "voiceagent.response_gap voice")
    }
    turn, hold = spans["voiceagent.turn"], spans["voiceagent.response_gap hold"]
    voice = spans["voiceagent.response_gap voice"]
    began = round(STARTED_AT.timestamp() * 1e9)
    assert (turn.start_time, turn.end_time) == (began + 500_000_000, began + 4_000_000_000)
    assert (hold.start_time, hold.end_time) == (began + 2_000_000_000, began + 2_500_000_000)
    assert (voice.start_time, voice.end_time) == (hold.end_time, began + 2_650_000_000)
    assert hold.parent is not None
    assert turn.context is not None
    assert hold.parent.span_id == turn.context.span_id
    assert dict(turn.attributes or {})["voiceagent.response_gap.class"] == "comfortable"


def test_a_session_holds_no_text_no_item_and_only_known_keys(world: World) -> None:
    session, records = a_session(30, text=True)
    for record in records:
        world.telemetry.turn(record, session.started_at)
    points = [p for m in world.metrics().values() for p in m.data.data_points]
    attributes = [dict(p.attributes) for p in points]
    attributes += [dict(span.attributes or {}) for span in world.exporter.get_finished_spans()]
    said = str(attributes)
    assert len(attributes) > 30
    items = {name for r in records for name in (r.item, r.user_item) if name}
    for secret in (*SENTENCES, QUESTION, session.id, *items):
        assert f"'{secret}'" not in said
        assert len(secret) < 12 or secret not in said


def test_m01_neither_cancelled_nor_unknown_is_a_sample(world: World) -> None:
    begun = (ArrivalRecord(103 * MS, 4, 1),)
    cancelled = TurnRecord(1, "spoken", status="cancelled", written_us=0, arrivals=begun)
    backwards = TurnRecord(
        *(2, "spoken"),
        gap_us=-61_000 * MS,
        written_us=9,
        arrivals=(ArrivalRecord(3, 4, 1), ArrivalRecord(2, 4, 1)),
        pauses=(PauseRecord(0, -1, Place.WORD, Cause.AUTHORED),),
    )
    for record in (cancelled, backwards):
        world.telemetry.turn(record, STARTED_AT)
    assert world.metrics() == {}


def test_a_failure_is_told_by_its_kind(world: World) -> None:
    failed = TurnRecord(
        *(1, "spoken"),
        status="failed",
        trouble="broken_stream",
        written_us=0,
        arrivals=(ArrivalRecord(200 * MS, 4, 1),),
        user_end_us=0,
        committed_us=0,
        ended_us=300 * MS,
    )
    world.telemetry.turn(failed, STARTED_AT)
    (point,) = world.metrics()[otel.DURATION].data.data_points
    assert point.attributes["error.type"] == "broken_stream"
    assert not world.spans()["voiceagent.turn"].status.is_ok


def test_a_missing_package_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("metric_exporter", "trace_exporter"):
        monkeypatch.setitem(sys.modules, f"opentelemetry.exporter.otlp.proto.http.{module}", None)
    with pytest.raises(ImportError, match=r"install voiceagent\[otel\]"):
        otel.exporting()
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)
    monkeypatch.delitem(sys.modules, "voiceagent.metrics.otel")
    with pytest.raises(ImportError, match=r"install voiceagent\[otel\]"):
        importlib.import_module("voiceagent.metrics.otel")

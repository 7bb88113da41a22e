"""What an exposition holds, read by Prometheus' own parsers."""

from __future__ import annotations

import math

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain

from voiceagent.metrics.prometheus import OPENMETRICS, Metrics
from voiceagent.turn_record import TurnRecord


def told(*records: TurnRecord) -> Metrics:
    """Metrics that were told of these turns."""
    metrics = Metrics()
    for record in records:
        metrics.turn(record)
    return metrics


def families(metrics: Metrics) -> dict[str, Metric]:
    """Every metric by its name; both formats must parse and hold the same series."""
    text, _ = metrics.render()
    strict, _ = metrics.render(OPENMETRICS)
    found = {family.name: family for family in plain(text.decode()) if _ours(family.name)}
    again = {f"{s.name}{s.labels}" for f in openmetrics(strict.decode()) for s in f.samples}
    assert {f"{s.name}{s.labels}" for f in found.values() for s in f.samples} <= again
    return found


def series(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every series of ours with its value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families(metrics).values()
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    """The value of all series of that name with these labels (``class_`` for class), added up."""
    wanted = {(key.rstrip("_"), text) for key, text in labels.items()}
    return math.fsum(
        number
        for (found, having), number in series(metrics).items()
        if found == f"voiceagent_{name}" and wanted <= set(having)
    )


def _ours(name: str) -> bool:
    return name.startswith("voiceagent_")

"""The decision record: which turns go to which class of backend, and why, in one small JSON file.

``load_record`` reads one; ``record.lane_of`` and ``record.plan`` tell a router where turns go;
``check`` finds what is wrong with it here; ``explain`` puts it into words.
"""

from routing.record.backends import (
    CLASS_TITLES,
    LANE_NAMES,
    P95_SAMPLES,
    TURN_KINDS,
    BackendFacts,
    LaneClass,
    LaneName,
    Measured,
    TurnKind,
)
from routing.record.errors import RecordError
from routing.record.explain import ExplainedBackend, ExplainedKind, explain
from routing.record.findings import Code, Finding, Severity
from routing.record.lanes import Lane, Lanes
from routing.record.lint import check
from routing.record.lint_workload import estimate_usd
from routing.record.load import DEFAULT_RECORD, load_record, parse_record
from routing.record.measurements import load_measurements, with_measurements
from routing.record.model import DecisionRecord
from routing.record.plan import Candidate, KindPlan, Plan, Role
from routing.record.workload import Workload

__all__ = [
    "CLASS_TITLES",
    "DEFAULT_RECORD",
    "LANE_NAMES",
    "P95_SAMPLES",
    "TURN_KINDS",
    "BackendFacts",
    "Candidate",
    "Code",
    "DecisionRecord",
    "ExplainedBackend",
    "ExplainedKind",
    "Finding",
    "KindPlan",
    "Lane",
    "LaneClass",
    "LaneName",
    "Lanes",
    "Measured",
    "Plan",
    "RecordError",
    "Role",
    "Severity",
    "TurnKind",
    "Workload",
    "check",
    "estimate_usd",
    "explain",
    "load_measurements",
    "load_record",
    "parse_record",
    "with_measurements",
]

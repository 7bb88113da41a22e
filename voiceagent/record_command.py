"""`voiceagent record`: check a decision record, and explain it.

Exit codes of both: 0 well (warnings and notes are no failure), 1 errors were found or the record
cannot be read.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.text import Text

from routing.record import (
    DEFAULT_RECORD,
    BackendFacts,
    DecisionRecord,
    ExplainedKind,
    Finding,
    LaneClass,
    RecordError,
    check,
    explain,
    load_measurements,
    load_record,
    with_measurements,
)

app = typer.Typer(
    help="Check a decision record, and explain where it sends turns.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

HOSTED: Mapping[str, tuple[str, str]] = {
    "groq": ("api.groq.com", "GROQ_API_KEY"),
    "cerebras": ("api.cerebras.ai", "CEREBRAS_API_KEY"),
    "sambanova": ("api.sambanova.ai", "SAMBANOVA_API_KEY"),
}
"""The providers of low-latency inference: host, and the variable that holds the key."""

OWN: Mapping[str, tuple[LaneClass, str]] = {
    "interactive": ("low_latency", "VOICEAGENT_INTERACTIVE_URL"),
    "analysis": ("gpu", "VOICEAGENT_ANALYSIS_URL"),
}
"""OpenAI-compatible servers that the operator names: what they are taken for, and the variable."""

COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}

RecordFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="The record. Without it: the built-in one.")
]
Measurements = Annotated[
    Path | None, typer.Option(metavar="FILE", help="JSON file of what was measured.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def available_backends(environ: Mapping[str, str] | None = None) -> tuple[BackendFacts, ...]:
    """The backends that this environment makes available, and those it does not, with the reason.

    Only whether a key is set is looked at; its value goes nowhere.
    """
    env = os.environ if environ is None else environ
    hosted = [
        BackendFacts(
            name=name,
            provider=name,
            host=host,
            lane_class="low_latency",
            unusable=None if env.get(variable, "").strip() else f"{variable} is not set",
        )
        for name, (host, variable) in HOSTED.items()
    ]
    own = [
        _own(name, lane_class, variable, env.get(variable, "").strip())
        for name, (lane_class, variable) in OWN.items()
    ]
    embedded = BackendFacts(
        name="llama.cpp", provider="llama.cpp", host="this machine", lane_class="local"
    )
    return (*own, *hosted, embedded)


def _own(name: str, lane_class: LaneClass, variable: str, url: str) -> BackendFacts:
    host, unusable = "", None if url else f"{variable} is not set"
    try:
        host = _host(url) if url else ""
    except ValueError as error:
        unusable = f"{variable} {error}"
    return BackendFacts(
        name=name,
        provider="openai_compatible",
        host=host,
        lane_class=lane_class,
        unusable=unusable,
    )


def _host(url: str) -> str:
    """Host and port of an address. Raises ValueError, which does not repeat the address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not host.isprintable() or parts.scheme not in ("http", "https"):
        raise ValueError("is not an http or https address")
    if parts.username or parts.password:
        raise ValueError("holds a user name or password")
    standard = 443 if parts.scheme == "https" else 80
    return f"[{host}]:{port or standard}" if ":" in host else f"{host}:{port or standard}"


@app.command("check")
def check_command(
    file: RecordFile = None, measurements: Measurements = None, as_json: AsJson = False
) -> None:
    """Find what is wrong with a record here. Only errors make it fail."""
    name = str(file) if file else DEFAULT_RECORD
    try:
        record, backends = _load(file, measurements)
        findings = check(record, backends)
    except RecordError as error:
        if not as_json:
            _fail(error)
        remedy = "Mend the file; docs/decision-record.md describes it."
        findings = (Finding("unreadable", "error", "", str(error), remedy),)
    if as_json:
        found = [asdict(finding) for finding in findings]
        typer.echo(json.dumps({"record": name, "findings": found}, indent=2))
    else:
        _show_findings(name, findings)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


@app.command("explain")
def explain_command(
    file: RecordFile = None, measurements: Measurements = None, as_json: AsJson = False
) -> None:
    """Print, for each kind of turn, where it goes and why."""
    name = str(file) if file else DEFAULT_RECORD
    try:
        record, backends = _load(file, measurements)
    except RecordError as error:
        if as_json:
            typer.echo(json.dumps({"record": name, "error": str(error)}, indent=2))
            raise typer.Exit(1) from None
        _fail(error)
    kinds = explain(record, backends, today=datetime.now(UTC).date())
    if as_json:
        explained = {"record": name, "kinds": [asdict(kind) for kind in kinds]}
        typer.echo(json.dumps(explained, indent=2))
    else:
        _show_kinds(record, kinds)


def _load(
    file: Path | None, measurements: Path | None
) -> tuple[DecisionRecord, tuple[BackendFacts, ...]]:
    record, backends = load_record(file), available_backends()
    if measurements is None:
        return record, backends
    return record, with_measurements(backends, load_measurements(measurements))


def _fail(error: RecordError) -> NoReturn:
    typer.echo(f"error: {error}", err=True)
    raise typer.Exit(1)


def _show_findings(name: str, findings: Sequence[Finding]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        line = Text(f"{finding.severity:8}", style=COLOURS[finding.severity])
        line.append(f"{finding.code}  {finding.field}\n", style="bold default")
        line.append(f"         {finding.message}\n         {finding.remedy}", style="default")
        console.print(line)
    counts = [
        f"{count} {severity}{'' if count == 1 else 's'}"
        for severity in COLOURS
        if (count := sum(finding.severity == severity for finding in findings))
    ]
    console.print(Text(f"{name}: {', '.join(counts) or 'nothing to mend'}"))


def _show_kinds(record: DecisionRecord, kinds: Sequence[ExplainedKind]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(record.application, style="bold"))
    console.print(Text(f"  risk to avoid: {record.main_risk}"))
    for kind in kinds:
        console.print(Text(f"\n{kind.goes_to}", style="bold"))
        console.print(Text(f"  why: {kind.why}"))
        for position, backend in enumerate(kind.backends, 1):
            console.print(Text(f"  {position}. {backend.name} on {backend.host}. {backend.why}"))
            console.print(Text(f"     {backend.measured}; {backend.price}"))
        for reason in kind.not_usable:
            console.print(Text(f"  not usable: {reason}"))

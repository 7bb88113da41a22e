"""`voiceagent record`: check a decision record, and explain it.

Exit codes of both: 0 well (warnings and notes are no failure), 1 errors were found or the record
cannot be read, 2 wrong settings.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from routing.record import (
    DEFAULT_RECORD,
    BackendFacts,
    DecisionRecord,
    ExplainedKind,
    Finding,
    RecordError,
    check,
    explain,
    load_measurements,
    load_record,
    with_measurements,
)
from voiceagent.backends import MEASUREMENTS, all_facts
from voiceagent.settings import SettingsError, load_settings

app = typer.Typer(
    help="Check a decision record, and explain where it sends turns.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}

RecordFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="The record. Without it: the built-in one.")
]
Measurements = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="JSON of what was measured; without it, what was here."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("check")
def check_command(
    file: RecordFile = None, measurements: Measurements = None, as_json: AsJson = False
) -> None:
    """Find what is wrong with a record here. Only errors make it fail."""
    name = str(file) if file else DEFAULT_RECORD
    try:
        record, backends = _load(file, measurements)
        findings = check(record, backends)
    except SettingsError as error:
        _fail(error, 2)
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
    except SettingsError as error:
        _fail(error, 2)
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
    settings = load_settings()
    record, backends = load_record(file or settings.decision_record), all_facts(settings)
    if measurements is not None:
        return record, with_measurements(backends, load_measurements(measurements))
    own = settings.home / MEASUREMENTS
    if not own.exists():
        return record, backends
    names = [backend.name for backend in backends]
    known = {name: one for name, one in load_measurements(own).items() if name in names}
    return record, with_measurements(backends, known)


def _fail(error: RecordError | SettingsError, code: int = 1) -> NoReturn:
    for line in str(error).splitlines():
        typer.echo(f"error: {line}", err=True)
    raise typer.Exit(code)


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

"""`voiceagent replay FILE`: a recorded session once more through the core, without any I/O."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from voiceagent.conversation.turn import Conversation
from voiceagent.field_service.role import load_role
from voiceagent.recording import RecordingError, plain, read_recording
from voiceagent.roles import fixed_answer_of


def replay_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .jsonl that --record wrote.")],
    show: Annotated[int, typer.Option(min=1, help="Differences to show at most.")] = 5,
) -> None:
    """Run a recorded session through the core: are the actions the same?"""
    try:
        events, actions, differences = compare(file)
    except (OSError, UnicodeDecodeError) as error:
        typer.echo(f"error: cannot read {file}: {error}", err=True)
        raise typer.Exit(1) from None
    except RecordingError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    for difference in differences[:show]:
        typer.echo(difference)
    if differences:
        typer.echo(f"{len(differences)} of {events} events gave other actions.")
        raise typer.Exit(1)
    typer.echo(f"Same: {events} events gave the same {actions} actions.")


def compare(file: Path) -> tuple[int, int, list[str]]:
    """Events and actions counted, and where the core now acts otherwise, in words.

    Raises RecordingError for a file that is no recording, OSError for one that cannot be read.
    """
    script, rules, steps = read_recording(file)
    conversation = Conversation(replace(script, fixed_answer=fixed_answer_of(load_role())), rules)
    events = actions = 0
    differences: list[str] = []
    for step in steps:
        now = [plain(action) for action in conversation.handle(step.event)]
        events, actions = events + 1, actions + len(now)
        if now != step.actions:
            name = type(step.event).__name__
            differences.append(
                f"line {step.line}, {name} at {step.event.at}:\n"
                f"  recorded {_brief(step.actions)}\n  now      {_brief(now)}"
            )
    return events, actions, differences


def _brief(actions: list[dict[str, Any]]) -> str:
    return json.dumps(actions, ensure_ascii=False)[:500]

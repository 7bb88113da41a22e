"""`voiceagent replay`: the same, different, or not a recording at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from tests.kit.world import Speech, World
from voiceagent.conversation.rules import SECOND, Rules, Script
from voiceagent.conversation.turn import Conversation
from voiceagent.recording import Recorder
from voiceagent.replay import compare, replay_command


def a_recording(folder: Path) -> Path:
    """A simulated call, recorded."""
    world = World(speech=[Speech(SECOND, SECOND)], greet=True, rules=Rules()).run(60 * SECOND)
    conversation = Conversation(Script(), Rules())
    recorder = Recorder(folder, "call", Script(), Rules())
    for event in world.handled:
        recorder.write(event, conversation.handle(event))
    recorder.close()
    return folder / "call.jsonl"


def test_a_recording_gives_the_same_actions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay_command(a_recording(tmp_path), show=5)
    assert capsys.readouterr().out.startswith("Same: ")


def test_an_action_that_differs_is_shown_with_its_line(tmp_path: Path) -> None:
    path = a_recording(tmp_path)
    lines = path.read_text().splitlines()
    step = json.loads(lines[1])
    step["actions"] = step["actions"][:-1]
    path.write_text("\n".join([lines[0], json.dumps(step), *lines[2:]]))
    _, _, differences = compare(path)
    assert len(differences) == 1
    assert differences[0].startswith("line 2, SessionOpened")
    with pytest.raises(typer.Exit):
        replay_command(path, show=5)


@pytest.mark.parametrize(
    "content",
    ["", "hello", "{}", '{"format": 9}', '{"format": 1, "script": {}, "rules": {}}', "[]"],
)
def test_what_is_no_recording_is_one_sentence(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(typer.Exit):
        replay_command(path, show=5)
    assert capsys.readouterr().err.count("\n") == 1


def test_a_damaged_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = a_recording(tmp_path)
    path.write_text(path.read_text()[:-20] + "\n")
    with pytest.raises(typer.Exit):
        replay_command(path, show=5)
    assert "is not a recorded event" in capsys.readouterr().err

"""``docs/protocol.md`` names exactly the events that there are."""

from __future__ import annotations

import re
from pathlib import Path

from voiceagent.realtime import client_events as ce
from voiceagent.realtime import server_events as out

DOCUMENT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
REALTIME = Path(out.__file__).parent


def test_every_client_event_is_in_the_document() -> None:
    table = DOCUMENT.split("## What a client may send")[1].split("## Extensions")[0]
    named: set[str] = set()
    for row in re.findall(r"^\| (`[^|]+) \|", table, re.M):
        first, *more = re.findall(r"`([^`]+)`", row)
        named.add(first)
        family = first.rsplit(".", 1)[0]
        named |= {family + name if name.startswith(".") else name for name in more}
    assert named == {*ce._EVENTS, *ce._EXTENSIONS}


def test_every_event_of_ours_is_in_the_document() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in REALTIME.glob("*.py"))
    made = set(re.findall(r'"(voiceagent\.[a-z.]+)"', source)) - set(ce._EXTENSIONS)
    made |= {f"voiceagent.{name}" for name in re.findall(r'ours\(\s*"([a-z.]+)"', source)}
    made |= {f"voiceagent.{name}" for name in re.findall(r'_playout\("([a-z.]+)"', source)}
    made -= {"voiceagent."}
    named = set(re.findall(r"^\| `(voiceagent\.[a-z.]+)`", DOCUMENT, re.M)) - set(ce._EXTENSIONS)
    assert named == made

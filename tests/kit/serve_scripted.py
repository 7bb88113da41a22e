"""The real server process with a scripted engine, for tests of how a process begins and ends.

python -m tests.kit.serve_scripted PORT
"""

from __future__ import annotations

import sys

from tests.kit.live_server import ScriptedEngine
from tests.kit.scripted import (
    ScriptedModel,
    ScriptedRecogniser,
    ScriptedVoice,
    routed,
    speech_detector,
)
from voiceagent.parts import Parts
from voiceagent.server import serve
from voiceagent.settings import load_settings


def scripted_engine() -> ScriptedEngine:
    """An engine that answers at length."""
    model = ScriptedModel([[(0.02, "An answer that goes on and on. " * 20), (60.0, "More.")]])
    parts = Parts(speech_detector(), ScriptedRecogniser(["hello"]), ScriptedVoice(), routed(model))
    return ScriptedEngine(parts)


if __name__ == "__main__":
    serve(load_settings({"port": int(sys.argv[1])}), scripted_engine())

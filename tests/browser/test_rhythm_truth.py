"""What is reported of the rhythm against a recording of it: microphone and output on one clock.

Page, server, session and detector are real; recognition, language model and voice are scripted,
the voice is a tone. The ear hears the output on its way to the device and the microphone on its way
in, so the delays of both devices, which reports count, are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.browser.visit import SPEECH, Recording, Visit, read_wav
from tests.kit.live_thread import live_thread
from voiceagent.conversation.rules import Script
from voiceagent.playout_pauses import SHORTEST_US
from voiceagent.rhythm.barge_in import classify_stop

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]

LOUD = 0.01
DEVICES = "(lab.context.baseLatency + lab.context.outputLatency) * 1000"


def abrupt() -> tuple[NDArray[np.int16], int]:
    """Recorded speech that begins and ends in full voice, so that its edges are beyond doubt."""
    pcm, rate = read_wav(SPEECH / "goforward.wav")
    level = np.abs(pcm.astype(np.int32))
    loud = np.flatnonzero(level > level.max() // 3)
    gain = 16_000 / int(level.max())
    return (pcm[loud[0] : loud[-1] + 1] * gain).astype(np.int16), rate


@contextmanager
def talking(page_for: Open, **options: Any) -> Iterator[Visit]:
    """A call to a server that answers so."""
    with live_thread(script=Script(greeting=""), **options) as live:
        visit = page_for(live.url).talk()
        visit.page.wait_for_timeout(600)
        yield visit


def told(visit: Visit, kind: str, number: int = 1) -> dict[str, Any]:
    """The nth event of a kind, awaited."""
    known = f"lab.marks.filter(({{ type }}) => type === '{kind}').length >= {number}"
    visit.until(known, timeout=20)
    return dict(visit.marks(kind)[number - 1]["event"])


def answer(visit: Visit, status: str = "completed", number: int = 1) -> dict[str, Any]:
    """The nth answer, awaited to its end."""
    heard = told(visit, "voiceagent.heard", number)
    assert heard["status"] == status, heard
    visit.page.wait_for_timeout(500)  # the player's last report, the ear's last block
    return heard


def spoken(recording: Recording) -> tuple[float, float]:
    """First and last loud sample of the microphone, milliseconds of the recording."""
    loud = np.flatnonzero(np.abs(recording.mic) > LOUD)
    return float(loud[0]) / recording.rate * 1_000, float(loud[-1]) / recording.rate * 1_000


def heard(recording: Recording) -> NDArray[np.float64]:
    """When the output was loud, milliseconds of the recording."""
    return np.flatnonzero(np.abs(recording.out) > LOUD) / recording.rate * 1_000


def pauses(recording: Recording) -> list[float]:
    """Silences that are long enough to be told between two sounds of the output, milliseconds."""
    gaps = np.diff(heard(recording))
    return [float(gap) for gap in gaps if gap >= SHORTEST_US / 1_000]


def delays(visit: Visit) -> float:
    """What the devices add to what the ear hears, milliseconds."""
    player = float(visit.page.evaluate(DEVICES))
    track = "(lab.mouth?.stream.getAudioTracks()[0].getSettings().latency ?? 0) * 1000"
    return player + float(visit.page.evaluate(track))


def test_response_gap_is_the_one_in_the_recording(page_for: Open) -> None:
    with talking(page_for, answers=[[(0.15, "Forty nine dollars.")]]) as visit:
        visit.say(*abrupt())
        gap = told(visit, "voiceagent.gap")
        answer(visit)
        recording = visit.recording()
        end = spoken(recording)[1]
        recorded = float(heard(recording)[0]) - end
        assert gap["measured"]
        assert gap["gap_ms"] - delays(visit) == pytest.approx(recorded, abs=20)
        assert sum(part["ms"] for part in gap["parts"]) == pytest.approx(gap["gap_ms"], abs=0.01)


def test_a_stall_of_the_model_is_a_pause_of_its_length_place_and_cause(page_for: Open) -> None:
    stalled = [(0.1, "It will cost you "), (2.5, "forty dollars.")]
    with talking(page_for, answers=[stalled]) as visit:
        visit.say(*abrupt())
        told(visit, "voiceagent.pause")
        answer(visit)
        recorded = pauses(visit.recording())
        reported = [mark["event"] for mark in visit.marks("voiceagent.pause")]
        # On a busy machine there may be others, which are reported as well.
        assert [pause["duration_ms"] for pause in reported] == pytest.approx(recorded, abs=30)
        stall = max(reported, key=lambda pause: pause["duration_ms"])
        assert stall["duration_ms"] > 500
        assert (stall["place"], stall["cause"]) == ("phrase", "underrun")
        assert stall["class"] in ("severe", "awkward")


def test_a_bursty_backend_never_breaks_a_clause(page_for: Open) -> None:
    text = (
        "Your next visit is on Thursday at ten, and Daniel brings the control board with him. "
        "He replaces it in an hour, tests the heat pump, and shows you the new settings."
    )
    tokens = re.findall(r"\s*\S{1,4}", text)
    bursts = ["".join(tokens[start : start + 12]) for start in range(0, len(tokens), 12)]
    answers = [[(0.1 if n == 0 else 0.9, burst) for n, burst in enumerate(bursts)]]
    with talking(page_for, answers=answers) as visit:
        visit.say(*abrupt())
        answer(visit)
        recording = visit.recording()
        breaks = [
            mark["event"]
            for mark in visit.marks("voiceagent.pause")
            if mark["event"]["place"] in ("word", "phrase")
        ]
        assert breaks == []
        assert pauses(recording) == []  # the scripted voice itself makes none


def test_the_stop_of_a_barge_in_is_the_one_in_the_recording(page_for: Open) -> None:
    long = [(0.1, "An answer that goes on and on and on, and then on. " * 4)]
    with talking(page_for, answers=[long, [(0.1, "Yes.")]]) as visit:
        visit.say(*abrupt())
        told(visit, "voiceagent.gap")
        visit.page.wait_for_timeout(1_500)
        before = visit.audio_now()
        visit.say(*abrupt())
        stop = told(visit, "voiceagent.stop")
        answer(visit, "interrupted")
        recording = visit.recording()
        at = int(before * recording.rate) - recording.first
        mic = np.flatnonzero(np.abs(recording.mic[at:]) > LOUD)
        onset = at + int(mic[0])
        silent = _silent_after(recording, onset)
        recorded = (silent - onset) / recording.rate * 1_000
        assert stop["measured"]
        assert stop["stop_ms"] - delays(visit) == pytest.approx(recorded, abs=20)
        assert stop["class"] == classify_stop(stop["stop_ms"])


def _silent_after(recording: Recording, sample: int) -> int:
    """The last loud sample of what was playing at ``sample``, before 200 ms without sound."""
    loud = np.flatnonzero(np.abs(recording.out) > 1e-3)
    loud = loud[loud >= sample - recording.rate // 50]
    breaks = np.flatnonzero(np.diff(loud) > recording.rate // 5)
    return int(loud[breaks[0]] if len(breaks) else loud[-1])

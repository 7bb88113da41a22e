"""The queue in front of the voice, with a scripted synthesis (a simulation) in its place."""

import asyncio
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from audio.phonemes import Unit
from audio.speak import Spoken, Voice
from audio.speakable import Token, speakable
from audio.synthesis import Piece
from audio.worker import Busy


class ScriptedSynthesis:
    """Says nothing, and waits to be let go: one piece a token, each of 100 samples."""

    exact = True

    def __init__(self, seed: int) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.said: list[str] = []
        self.threads: set[str] = set()

    def parts(self, tokens: Sequence[Token]) -> list[list[Unit]]:
        self.threads.add(threading.current_thread().name)
        return [[Unit(index, token.spoken, True)] for index, token in enumerate(tokens)]

    def piece(self, units: Sequence[Unit], speed: float) -> Piece:
        self.begun.set()
        assert self.go.wait(10)
        self.said.append(units[0].symbols)
        return Piece(np.ones(100, np.int16), {units[0].token: (0, 100)})


@pytest.fixture
def voice(monkeypatch: pytest.MonkeyPatch) -> Iterator[Voice]:
    monkeypatch.setattr("audio.speak.Synthesis", ScriptedSynthesis)
    voice = Voice(queue_limit=3)
    yield voice
    script(voice).go.set()
    voice.close()


def script(voice: Voice) -> ScriptedSynthesis:
    synthesis = voice._synthesis
    assert isinstance(synthesis, ScriptedSynthesis)
    return synthesis


def begin(voice: Voice, text: str) -> asyncio.Task[Spoken]:
    return asyncio.ensure_future(voice.speak(speakable(text), text=text))


async def until_begun(voice: Voice) -> None:
    assert await asyncio.to_thread(script(voice).begun.wait, 10)


async def test_l11_cancelling_drops_queued_work_and_stops_what_has_begun(voice: Voice) -> None:
    running = begin(voice, "one two three")
    await until_begun(voice)
    queued = begin(voice, "four")
    last = begin(voice, "five")
    await asyncio.sleep(0)
    running.cancel()
    queued.cancel()
    await asyncio.gather(running, queued, return_exceptions=True)
    script(voice).go.set()
    assert (await last).voiced_samples == 100
    assert script(voice).said == ["one", "five"]


async def test_a_long_clause_lets_others_in_between(voice: Voice) -> None:
    long = begin(voice, "one two three")
    await until_begun(voice)
    short = begin(voice, "four")
    await asyncio.sleep(0)
    script(voice).go.set()
    await asyncio.gather(long, short)
    assert script(voice).said == ["one", "four", "two", "three"]


async def test_the_queue_is_bounded_and_refuses(voice: Voice) -> None:
    running = begin(voice, "one")
    await until_begun(voice)
    waiting = [begin(voice, "two") for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await voice.speak(speakable("three"), text="three")
    script(voice).go.set()
    assert [len((await task).pcm) for task in (running, *waiting)] == [100] * 4
    assert (await voice.speak(speakable("four"), text="four")).words


async def test_synthesis_has_a_thread_of_its_own(voice: Voice) -> None:
    script(voice).go.set()
    await asyncio.gather(*(begin(voice, "one") for _ in range(3)))
    assert len(script(voice).threads) == 1
    assert script(voice).threads.pop().startswith("voice")


async def test_o18_a_slow_voice_still_gives_out_whole_clauses(voice: Voice) -> None:
    """However slow it is, a clause is handed over in one: what runs dry does so between clauses."""
    task = begin(voice, "one two three.")
    await until_begun(voice)
    await asyncio.sleep(0)
    assert not task.done()
    script(voice).go.set()
    spoken = await task
    assert spoken.voiced_samples == 300
    assert [(w.first_sample, w.last_sample) for w in spoken.words] == [
        (0, 100),
        (100, 200),
        (200, 300),
    ]
    assert spoken.took_us > 0


async def test_a_closed_voice_refuses(voice: Voice) -> None:
    script(voice).go.set()
    voice.close()
    with pytest.raises(RuntimeError, match="closed"):
        await voice.speak(speakable("one"), text="one")

import asyncio
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from clips import TRANSCRIPTS, clip, noise
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio import transcribe
from audio.model_file import ModelError
from audio.pcm import to_float
from audio.resample import Resampler
from audio.transcribe import Busy, Recogniser
from audio.weights import weights_dir

PIECE = 29 * 16_000


# Without weights.


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100 * 16_000))
def test_s09_long_sound_is_cut_into_pieces_that_are_the_whole(samples: int) -> None:
    sound = np.arange(samples, dtype=np.float32)
    pieces = list(transcribe._pieces(sound))
    assert np.array_equal(np.concatenate(pieces), sound)
    assert all(len(piece) <= PIECE for piece in pieces)
    assert all(len(piece) >= 20 * 16_000 for piece in pieces[:-1])


def test_s09_the_cut_is_where_it_is_quietest() -> None:
    sound = np.full(40 * 16_000, 0.1, np.float32)
    sound[25 * 16_000 : 25 * 16_000 + 4000] = 0.0
    first, _ = transcribe._pieces(sound)
    assert 25 * 16_000 < len(first) < 25 * 16_000 + 4000


def test_s16_another_version_is_a_start_up_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcribe, "version", lambda package: "4.9.0")
    with pytest.raises(ModelError, match=r"CTranslate2 4\.9\.0 is installed, but 4\.8\.5"):
        Recogniser(Path("never looked at"))


def test_s16_an_argument_the_library_does_not_take_is_a_start_up_error() -> None:
    class Older:
        def encode(self, features: object) -> object:
            return features

        def generate(self, features: object, prompts: object, *, beam_size: int) -> None: ...

    recogniser = object.__new__(Recogniser)
    recogniser.__dict__ |= {"_model": Older(), "_storage": lambda x: x, "_start": [1]}
    recogniser.__dict__ |= {"_beam_size": 1}
    with pytest.raises(ModelError, match="will not do"):
        recogniser.warm()


@pytest.mark.parametrize("content", [None, b"not weights"])
def test_files_that_are_missing_or_damaged_are_a_start_up_error(
    tmp_path: Path, content: bytes | None
) -> None:
    if content:
        (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(ModelError, match="recogniser: cannot load"):
        Recogniser(tmp_path)


async def test_s02_a_phantom_over_noise_is_an_empty_transcript() -> None:
    """With a SIMULATED model that writes what Whisper is known to write for noise."""
    result = SimpleNamespace(sequences_ids=[[5]], scores=[-0.5], no_speech_prob=0.9)
    model = SimpleNamespace(encode=lambda x: x, generate=lambda *a, **k: [result])
    recogniser = object.__new__(Recogniser)
    recogniser.__dict__ |= {"_model": model, "_storage": lambda x: x, "_start": [1]}
    recogniser.__dict__ |= {"_beam_size": 1, "_worker": transcribe.Worker("simulated")}
    recogniser._tokenizer = SimpleNamespace(decode=lambda ids: " Thank you for watching.")
    transcript = await recogniser.transcribe(to_float(noise(2, -60)), final=True)
    assert (transcript.text, transcript.rejected) == ("", "no speech")
    recogniser.close()


# With Whisper base.


@pytest.fixture(scope="module")
def recogniser() -> Iterator[Recogniser]:
    recogniser = Recogniser(weights_dir() / "whisper-base", queue_limit=4)
    recogniser.warm()
    yield recogniser
    recogniser.close()


_DIGITS = "zero one two three four five six seven eight nine"


def words(text: str) -> list[str]:
    text = re.sub(r"\b10\b", "ten", text.lower().replace("-", " "))
    text = re.sub(r"\d", lambda digit: f" {_DIGITS.split()[int(digit[0])]} ", text)
    return re.findall(r"[a-z']+", text)


def word_errors(said: list[str], recognised: list[str]) -> int:
    row = list(range(len(recognised) + 1))
    for i, word in enumerate(said, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(recognised, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]


@pytest.mark.models
async def test_the_clips_are_recognised(recogniser: Recogniser) -> None:
    errors = total = 0
    for name, said in TRANSCRIPTS.items():
        transcript = await recogniser.transcribe(to_float(clip(name)), final=True)
        assert transcript.rejected is None
        assert transcript.audio_ms == len(clip(name)) // 16
        assert transcript.took_us > 0
        errors += word_errors(words(said), words(transcript.text))
        total += len(words(said))
    assert errors / total < 0.05


@pytest.mark.models
@pytest.mark.parametrize("samples", [int(6.64 * 16_000), int(2.048 * 16_000), 1, 0])
async def test_s01_zeros_give_nothing_and_no_error(recogniser: Recogniser, samples: int) -> None:
    transcript = await recogniser.transcribe(np.zeros(samples, np.float32), final=True)
    assert transcript.text == ""
    assert transcript.rejected


@pytest.mark.models
@pytest.mark.parametrize("dbfs", [-60, -40])
async def test_s02_noise_gives_nothing_faster_than_it_sounds(
    recogniser: Recogniser, dbfs: float
) -> None:
    transcript = await recogniser.transcribe(to_float(noise(30, dbfs)), final=True)
    assert transcript.text == ""
    assert transcript.took_us < 30_000_000


@pytest.mark.models
@pytest.mark.parametrize("dbfs", [-60, -40, -25])
async def test_s04_noise_with_a_prompt_gives_nothing(recogniser: Recogniser, dbfs: float) -> None:
    prompt = "The customer is Dana Whitfield. Boiler HX-2040B, pilot light, thermocouple."
    for seconds, seed in ((0.3, 1), (1, 2), (3, 3), (6, 4)):
        sound = to_float(noise(seconds, dbfs, seed))
        transcript = await recogniser.transcribe(sound, final=True, prompt=prompt)
        assert (transcript.text, transcript.rejected) == ("", "no speech")
        plain = await recogniser.transcribe(sound, final=True)
        assert transcript.no_speech_prob == pytest.approx(plain.no_speech_prob, abs=0.02)


@pytest.mark.models
async def test_a_real_thank_you_passes(recogniser: Recogniser) -> None:
    from hibari import Hibari

    voice = np.rint(Hibari()("Thank you.", seed=0) * 32_767).astype(np.int16)
    sound = to_float(Resampler(24_000, 16_000).push(voice, last=True))
    transcript = await recogniser.transcribe(sound, final=True)
    assert words(transcript.text) == ["thank", "you"]


@pytest.mark.models
async def test_s07_many_calls_at_once_are_served_one_by_one_in_flat_memory(
    recogniser: Recogniser,
) -> None:
    async def listener(name: str) -> set[str]:
        sound = to_float(clip(name))
        return {(await recogniser.transcribe(sound, final=True)).text for _ in range(10)}

    names = ["cards_001.wav", "cards_004.wav", "tidigits_29340.wav", "goforward.wav"]
    await asyncio.gather(*(listener(name) for name in names))
    before = resident()
    texts = await asyncio.gather(*(listener(name) for name in names))
    assert [len(text) for text in texts] == [1, 1, 1, 1]  # nobody heard another's words
    assert resident() < before * 1.05
    assert sum(thread.name.startswith("recogniser") for thread in threading.enumerate()) == 1


@pytest.mark.models
async def test_s09_the_cost_of_a_partial_does_not_grow(
    recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = []
    real = recogniser._recognise

    def counted(pcm: NDArray[np.float32], prompt: str | None) -> object:
        lengths.append(len(pcm))
        return real(pcm, prompt)

    monkeypatch.setattr(recogniser, "_recognise", counted)
    monologue = to_float(np.tile(clip("jfk.wav"), 11))  # 121 s
    for seconds in (10, 30, 60, 120):
        await recogniser.transcribe(monologue[: seconds * 16_000], final=False)
    assert lengths == [10 * 16_000, PIECE, PIECE, PIECE]


@pytest.mark.models
async def test_s09_a_long_final_is_recognised_whole_in_bounded_steps(
    recogniser: Recogniser,
) -> None:
    names = ["jfk.wav", "librivox_0870.wav", "librivox_0920.wav", "librivox_0890.wav", "jfk.wav"]
    sound = to_float(np.concatenate([clip(name) for name in names]))
    transcript = await recogniser.transcribe(sound, final=True)
    said = [word for name in names for word in words(TRANSCRIPTS[name])]
    assert word_errors(said, words(transcript.text)) / len(said) < 0.06
    assert transcript.audio_ms == len(sound) // 16


def resident() -> int:
    """Memory this process has now, in any unit."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1])
    return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(os.getpid())]))


class Held:
    """Keeps the recogniser's only thread busy until it is let go."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.task = asyncio.create_task(recogniser._worker.run(self._hold))

    def _hold(self) -> None:
        self.begun.set()
        assert self.go.wait(10)

    async def begin(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, 10)


@pytest.mark.models
async def test_finals_go_first_and_partials_are_refused_when_something_waits(
    recogniser: Recogniser,
) -> None:
    held, order = Held(recogniser), list[str]()
    await held.begin()

    async def ask(name: str, *, final: bool) -> None:
        await recogniser.transcribe(to_float(clip("cards_001.wav")), final=final)
        order.append(name)

    tasks = [asyncio.create_task(ask("partial", final=False))]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await ask("refused", final=False)
    tasks += [asyncio.create_task(ask(f"final {n}", final=True)) for n in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Busy):
        await ask("one too many", final=True)
    held.go.set()
    await asyncio.gather(held.task, *tasks)
    assert order == ["final 0", "final 1", "final 2", "partial"]


@pytest.mark.models
async def test_cancelling_drops_the_work_that_waits(
    recogniser: Recogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, done = Held(recogniser), list[int]()
    await held.begin()
    real = recogniser._recognise
    monkeypatch.setattr(
        recogniser, "_recognise", lambda pcm, p: (done.append(len(pcm)), real(pcm, p))[1]
    )
    dropped = asyncio.create_task(recogniser.transcribe(np.zeros(111, np.float32), final=True))
    kept = asyncio.create_task(recogniser.transcribe(np.zeros(222, np.float32), final=True))
    await asyncio.sleep(0)
    dropped.cancel()
    await asyncio.sleep(0)
    held.go.set()
    await asyncio.gather(held.task, kept)
    assert done == [222]


@pytest.mark.models
async def test_a_prompt_helps_and_is_not_answered_with(recogniser: Recogniser) -> None:
    prompt = "The manager is called Jon Dashwoode."
    transcript = await recogniser.transcribe(
        to_float(clip("librivox_0870.wav")), final=True, prompt=prompt
    )
    assert "Dashwoode" in transcript.text
    assert "manager" not in transcript.text
    silent = await recogniser.transcribe(np.zeros(16_000, np.float32), final=True, prompt=prompt)
    assert silent.text == ""
    endless = await recogniser.transcribe(
        to_float(clip("cards_001.wav")), final=True, prompt="clubs and spades " * 500
    )
    assert len(words(endless.text)) < 12


@pytest.mark.models
def test_a_language_the_model_does_not_know_is_a_start_up_error() -> None:
    with pytest.raises(ModelError, match=r"<\|klingon\|>"):
        Recogniser(weights_dir() / "whisper-base", language="klingon")

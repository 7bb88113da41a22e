"""Scripted stand-ins for the models, a caller and a listener, for whole sessions in virtual time.

    async with a_call(texts=["my balance"], answers=[[(0.2, "Forty nine dollars.")]]) as call:
        await call.say("goforward.wav")  # real speech, so the real detector hears it
        await call.quiet(4)
        assert call.listener.heard_texts() == ["Forty nine dollars."]

Only speech detection is real. Recognition returns the given texts one after the other, the model
streams the given pieces after the given delays (uneven on purpose, if you like), and the voice
makes a tone of 60 ms a character. All of them wait on the loop's clock, which ``virtual`` jumps.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import wave
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audio.resample import Resampler
from audio.speak import Spoken, Word
from audio.speakable import Token
from audio.transcribe import Transcript
from audio.vad import VadModel
from routing.candidate import Candidate
from routing.chunks import Chunk, Finished, TextDelta
from routing.continuation import GO_ON
from routing.errors import BackendError
from routing.messages import ChatRequest
from routing.router import Router
from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.rules import Rules, Script
from voiceagent.keeper import KeepsNothing
from voiceagent.parts import Parts
from voiceagent.recording import Recorder
from voiceagent.session import INPUT_HZ, Session
from voiceagent.turn_record import TurnRecord

SPEECH = Path(__file__).parent.parent / "speech"
SAMPLES_PER_CHARACTER = 1_440
FRAME = 480


@cache
def speech_detector() -> VadModel:
    """The real detector, loaded once for all tests."""
    return VadModel()


@cache
def clip(name: str) -> NDArray[np.int16]:
    """A clip of ``tests/speech`` at 24 kHz."""
    with wave.open(str(SPEECH / name)) as wav:
        pcm = np.frombuffer(wav.readframes(wav.getnframes()), np.int16)
        return Resampler(wav.getframerate(), INPUT_HZ).push(pcm, last=True)


class ScriptedRecogniser:
    """Gives the texts in order, one for each utterance (told apart by the audio's start)."""

    def __init__(self, texts: Sequence[str], delay: float = 0.15) -> None:
        self.texts, self.delay = list(texts), delay
        self.calls: list[tuple[bool, int]] = []
        self.audio: list[NDArray[np.float32]] = []
        self.running = 0
        """Recognitions that somebody still waits for."""
        self._heads: list[bytes] = []

    async def transcribe(
        self, pcm: NDArray[np.float32], *, final: bool, prompt: str | None = None
    ) -> Transcript:
        head = pcm[:1_600].tobytes()
        if head not in self._heads:
            self._heads.append(head)
        self.calls.append((final, len(pcm)))
        self.audio.append(pcm)
        self.running += 1
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.running -= 1
        text = self.texts[min(self._heads.index(head), len(self.texts) - 1)]
        return Transcript(text, 0.0, 0.0, None, len(pcm) // 16, int(self.delay * 1e6))


@dataclass
class ScriptedModel:
    """Streams ``answers[n]``: pieces of (seconds before, text), or an exception to raise."""

    answers: Sequence[Sequence[tuple[float, str | Exception]]]
    requests: list[ChatRequest] = field(default_factory=list)
    prefills: int = 0
    open_streams: int = 0
    cancelled: int = 0

    @contextlib.asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[Chunk]]:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        self.open_streams += 1
        try:
            yield self._pieces(answer)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.open_streams -= 1

    async def _pieces(
        self, answer: Sequence[tuple[float, str | Exception]]
    ) -> AsyncIterator[Chunk]:
        for delay, piece in answer:
            await asyncio.sleep(delay)
            if isinstance(piece, Exception):
                raise piece
            yield TextDelta(_now(), piece, None)
        yield Finished(_now(), "stop")

    async def prefill(self, messages: Sequence[dict[str, Any]]) -> None:
        self.prefills += 1


@dataclass
class ReadingModel(ScriptedModel):
    """Says ``text`` word by word, or, after a message of the assistant, what is missing of it.

    After ``breaks_after`` words it raises ``breaks_with``, or is silent for that many seconds.
    """

    answers: Sequence[Sequence[tuple[float, str | Exception]]] = ()
    text: str = ""
    first: float = 0.2
    every: float = 0.02
    breaks_after: int | None = None
    breaks_with: Exception | float = 0.0
    begins_anew: bool = False
    """Says everything again instead of going on."""

    def __post_init__(self) -> None:
        self.answers = [[]]

    @contextlib.asynccontextmanager
    async def stream(self, request: ChatRequest) -> AsyncIterator[AsyncIterator[Chunk]]:
        self.answers = [*self.answers[: len(self.requests)], self._script(request)]
        async with super().stream(request) as chunks:
            yield chunks

    def _script(self, request: ChatRequest) -> list[tuple[float, str | Exception]]:
        said = said_before(request.messages)
        begun = said and self.text.startswith(said) and not self.begins_anew
        rest = self.text.removeprefix(said) if begun else self.text
        words = re.findall(r"\s*\S+", rest)
        steps: list[tuple[float, str | Exception]] = [(self.every, word) for word in words]
        steps[:1] = [(self.first, words[0])] if words else []
        if self.breaks_after is not None:
            broken = self.breaks_with
            if isinstance(broken, float):
                steps.insert(self.breaks_after, (broken, " too late"))
            else:
                steps[self.breaks_after :] = [(0.0, broken)]
        return steps


def said_before(messages: Sequence[dict[str, Any]]) -> str:
    """What of its answer a model is asked to go on from; "" when it is asked to begin."""
    *before, last = messages
    if last["content"] == GO_ON:
        last = before[-1]
    return str(last["content"]) if last["role"] == "assistant" else ""


def routed(*models: ScriptedModel) -> Router:
    """The models behind a real router, asked in this order: "model 1", "model 2", ..."""
    names = (f"model {number}" for number in count(1))
    pairs = zip(names, models, strict=False)
    return Router("interactive", [Candidate(name, model, continues=True) for name, model in pairs])


@dataclass
class ScriptedVoice:
    """A 200 Hz tone, 60 ms a character, with each word's exact place."""

    delay: float = 0.03
    said: list[str] = field(default_factory=list)

    async def speak(
        self, tokens: Sequence[Token], *, text: str, speed: float = 1.0, pause: bool = True
    ) -> Spoken:
        await asyncio.sleep(self.delay)
        self.said.append(text)
        samples = len(text) * SAMPLES_PER_CHARACTER
        tone = np.sin(np.arange(samples) * (2 * np.pi * 200 / 24_000)) * 8_000
        words, start = [], 0
        for word in text.split():
            start = text.index(word, start)
            end = start + len(word)
            words.append(
                Word(start, end, start * SAMPLES_PER_CHARACTER, end * SAMPLES_PER_CHARACTER)
            )
            start = end
        return Spoken(tone.astype(np.int16), tuple(words), samples, int(self.delay * 1e6))


class KeptTurns(KeepsNothing):
    """Keeps the records of a session's turns, and nothing else."""

    def __init__(self, *, keep_text: bool = False) -> None:
        self.keep_text = keep_text
        self.turns: list[TurnRecord] = []

    def turn(self, record: TurnRecord) -> None:
        self.turns.append(record)


class Listener:
    """A client: keeps what it is told, plays what it is sent in real time, and reports if asked."""

    def __init__(self, *, reports_playout: bool = False) -> None:
        self.reports_playout = reports_playout
        self.told: list[tuple[float, act.Action]] = []
        self.received: list[tuple[float, int, NDArray[np.int16]]] = []
        self.clauses: list[str] = []
        self.closed: tuple[int, str] | None = None
        self.session: Session | None = None
        self._ends_at = 0.0
        self._played: dict[int, int] = {}
        self._items: dict[int, str] = {}
        self._dry_at: dict[int, float] = {}
        """When what was received of a reply will have been played."""
        self._flushed: set[int] = set()

    def tell(self, action: act.Action) -> None:
        self.told.append((_time(), action))
        if isinstance(action, act.Flush):
            self._flushed.add(action.reply)
            self._ends_at = _time()
            if self.reports_playout and self.session and action.reply in self._items:
                self._report(action.reply, "flushed", _time())

    def audio(self, reply: int, item: str, pcm: NDArray[np.int16]) -> None:
        now = _time()
        self.received.append((now, reply, pcm))
        begins = max(now, self._ends_at)
        self._ends_at = begins + len(pcm) / 24_000
        if self.reports_playout:
            loop = asyncio.get_running_loop()
            self._items[reply] = item
            resumes = begins > self._dry_at.get(reply, begins)
            if reply not in self._played or resumes:
                kind: ev.PlayoutKind = "playing" if resumes else "started"
                loop.call_at(begins, self._report, reply, kind, begins)
            self._played.setdefault(reply, 0)
            self._dry_at[reply] = self._ends_at
            loop.call_at(self._ends_at, self._heard, reply, len(pcm), self._ends_at)

    def _heard(self, reply: int, samples: int, at: float) -> None:
        if reply in self._flushed:
            return
        self._played[reply] += samples
        dry = self._dry_at[reply] == at
        self._report(reply, "underrun" if dry else "playing", at)

    def _report(self, reply: int, kind: ev.PlayoutKind, at: float) -> None:
        if self.session is None or (reply in self._flushed and kind != "flushed"):
            return
        position = self.session.clock.position(int(at * 1e6)) / 1_000
        self.session.playout_report(self._items[reply], self._played[reply], position, kind)

    def clause(
        self,
        reply: int,
        item: str,
        clause: int,
        text: str,
        first: int,
        samples: int,
        words: tuple[ev.WordSpan, ...],
    ) -> None:
        self.clauses.append(text)

    def ask_clock(self, number: int) -> None:
        """Answered at once: this network takes no time."""
        if self.session is not None:
            position = self.session.clock.position(int(_time() * 1e6))
            self.session.clock_answered(number, position / 1_000)

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def of(self, kind: type[Any]) -> list[Any]:
        """What was told of one kind."""
        return [action for _, action in self.told if isinstance(action, kind)]

    def heard_texts(self) -> list[str]:
        """What was heard of each reply that ended."""
        return [ended.heard for ended in self.of(act.ReplyEnded)]

    def samples(self, reply: int) -> int:
        """How much audio of a reply was sent here."""
        return sum(len(pcm) for _, known, pcm in self.received if known == reply)

    def longest_silence_inside(self, reply: int) -> float:
        """Seconds during which a reply that had begun had nothing to play."""
        ends, longest = None, 0.0
        for at, known, pcm in self.received:
            if known == reply:
                longest = max(longest, at - ends if ends is not None else 0.0)
                ends = max(at, ends or 0.0) + len(pcm) / 24_000
        return longest


@dataclass
class Call:
    """A caller on a running session."""

    session: Session
    listener: Listener
    recogniser: ScriptedRecogniser
    model: ScriptedModel
    voice: ScriptedVoice

    async def hear(self, pcm: NDArray[np.int16]) -> None:
        """Send audio (24 kHz) in frames of 20 ms, in real time."""
        for start in range(0, len(pcm), FRAME):
            await asyncio.sleep(len(pcm[start : start + FRAME]) / INPUT_HZ)
            self.session.hear(pcm[start : start + FRAME])

    async def say(self, name: str) -> None:
        """Say a clip."""
        await self.hear(clip(name))

    async def quiet(self, seconds: float) -> None:
        """Send silence."""
        await self.hear(np.zeros(int(seconds * INPUT_HZ), np.int16))


@contextlib.asynccontextmanager
async def a_call(
    *,
    texts: Sequence[str] = ("what is my balance",),
    answers: Sequence[Sequence[tuple[float, str | Exception]]] = (((0.2, "Forty nine."),),),
    reports_playout: bool = False,
    greet: bool = False,
    script: Script | None = None,
    rules: Rules | None = None,
    recorder: Recorder | None = None,
    models: Sequence[ScriptedModel] = (),
    **options: Any,
) -> AsyncIterator[Call]:
    """A session with scripted parts, running until the block ends.

    ``models`` are asked in this order; without them there is one, which streams ``answers``.
    ``options`` are the session's own.
    """
    models = models or [ScriptedModel(answers)]
    recogniser, model, voice = ScriptedRecogniser(texts), models[0], ScriptedVoice()
    router = routed(*models)
    parts = Parts(speech_detector(), recogniser, voice, router, script=script or Script())
    parts = replace(parts, rules=rules or Rules(idle_prompts=0))
    listener = Listener(reports_playout=reports_playout)
    session = Session(parts, listener, greet=greet, recorder=recorder, **options)
    listener.session = session
    running = asyncio.create_task(session.run())
    try:
        yield Call(session, listener, recogniser, model, voice)
    finally:
        session.close()
        await running


def unavailable() -> BackendError:
    """What a backend raises when it is down."""
    return BackendError("unavailable", "the backend is down", retryable=True)


def _time() -> float:
    return asyncio.get_running_loop().time()


def _now() -> int:
    return int(_time() * 1e6)

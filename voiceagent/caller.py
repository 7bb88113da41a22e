"""`voiceagent call WAV…`: a caller on the command line, over the server's own WebSocket.

It speaks the files one after the other, each when the agent has finished, hears the answers in
real time, and prints what was said on both sides with the timings. The clock is the audio it sends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import wave
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from audio.resample import Resampler
from voiceagent.settings import load_settings

HZ = 24_000
FRAME = 480
_ANSWER_WITHIN_S = 20.0
_LONGEST_ANSWER_S = 120.0


class CallError(Exception):
    """What went wrong, as one sentence."""


@dataclass
class Exchange:
    """One question and its answer."""

    name: str
    ended_ms: float = 0.0
    """Where the file's last voiced sample lies on the caller's audio timeline."""
    understood: str = ""
    answer: str = ""
    gap_ms: float | None = None
    """From the last voiced sample sent to the first voiced sample played here."""
    parts: list[tuple[str, float]] = field(default_factory=list)
    answered_by: str = ""
    """The backend and how that came about, such as "groq · 190 ms · hedged"."""


def read_wav(path: Path) -> NDArray[np.int16]:
    """A 16-bit mono or stereo wav at 8 to 48 kHz, as mono at 24 kHz. Raises CallError."""
    try:
        with wave.open(str(path)) as wav:
            rate, channels, width = wav.getframerate(), wav.getnchannels(), wav.getsampwidth()
            data = wav.readframes(wav.getnframes())
    except (OSError, EOFError, wave.Error) as error:
        raise CallError(f"{path} is not a wav file that can be read ({error}).") from None
    if width != 2:
        raise CallError(f"{path} has {8 * width}-bit samples; save it as 16-bit PCM.")
    if not 8_000 <= rate <= 48_000:
        raise CallError(f"{path} has {rate} samples a second; 8000 to 48000 can be used.")
    frame = 2 * channels
    pcm = np.frombuffer(data[: len(data) // frame * frame], "<i2").reshape(-1, channels)
    mono = pcm.mean(axis=1).astype(np.int16) if len(pcm) else np.zeros(0, np.int16)
    sound = Resampler(rate, HZ).push(mono, last=True)
    if len(sound) < HZ // 100 or not sound.any():
        raise CallError(f"{path} holds no sound.")
    return sound


def last_voiced(pcm: NDArray[np.int16]) -> int:
    """The last sample above -40 dB of the loudest 10 ms."""
    return _voiced(pcm)[1]


def first_voiced(pcm: NDArray[np.int16]) -> int:
    """The first sample above -40 dB of the loudest 10 ms."""
    return _voiced(pcm)[0]


def _voiced(pcm: NDArray[np.int16]) -> tuple[int, int]:
    size = HZ // 100
    blocks = pcm[: len(pcm) // size * size].reshape(-1, size).astype(np.float64)
    power = np.sqrt((blocks**2).mean(axis=1)) if len(blocks) else np.zeros(1)
    loud = np.flatnonzero(power > power.max() * 0.01)
    return int(loud[0]) * size, (int(loud[-1]) + 1) * size


class Caller:
    """Speaks and listens on one connection, in real time."""

    def __init__(self, socket: ClientConnection, playout_delay_s: float = 0.0) -> None:
        self._socket = socket
        self._to_say: asyncio.Queue[NDArray[np.int16]] = asyncio.Queue()
        self._sent = 0
        self._ends_at = 0.0
        self._delay = playout_delay_s
        self._idle = asyncio.Event()
        self._begun = asyncio.Event()
        """The answer sounds, or is over without a sound."""
        self._answered = asyncio.Event()
        self._current: Exchange | None = None
        self._played: dict[str, int] = {}
        self._gaps: dict[str, Exchange] = {}
        self.heard: list[tuple[float, NDArray[np.int16]]] = []
        """What was played here: (seconds on the caller's timeline, samples)."""

    async def run(self, wavs: list[tuple[str, NDArray[np.int16]]]) -> list[Exchange]:
        """Wait for the greeting, then speak each file and wait for its answer."""
        speaking = asyncio.create_task(self._speak())
        listening = asyncio.create_task(self._listen())
        try:
            conversation = asyncio.create_task(self._converse(wavs))
            done, _ = await asyncio.wait(
                {speaking, listening, conversation}, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done - {conversation}:
                task.result()
                raise CallError("The server ended the call.")
            return conversation.result()
        except ConnectionClosed as closed:
            raise CallError(f"The server ended the call: {closed}.") from None
        finally:
            for task in (speaking, listening):
                task.cancel()

    async def _converse(self, wavs: list[tuple[str, NDArray[np.int16]]]) -> list[Exchange]:
        await self._quiet(within=_ANSWER_WITHIN_S)
        exchanges = []
        for name, pcm in wavs:
            exchange = self._current = Exchange(name)
            exchanges.append(exchange)
            self._begun.clear()
            self._answered.clear()
            self._idle.clear()
            await self._to_say.put(pcm)
            await self._to_say.join()
            try:
                await asyncio.wait_for(self._begun.wait(), _ANSWER_WITHIN_S)
                await asyncio.wait_for(self._answered.wait(), _LONGEST_ANSWER_S)
                await self._quiet(within=60)
            except TimeoutError:
                continue
        return exchanges

    async def _quiet(self, within: float) -> None:
        """Until the agent has finished and its sound has been played."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.wait_for(self._idle.wait(), within)
        except TimeoutError:
            raise CallError(f"No answer within {within:.0f} s.") from None
        await asyncio.sleep(max(0.0, self._ends_at - loop.time()) + 0.3)

    async def _speak(self) -> None:
        """Send 20 ms every 20 ms: what is to be said, else silence."""
        loop = asyncio.get_running_loop()
        began, queue = loop.time(), self._to_say
        saying, at = np.zeros(0, np.int16), 0
        while True:
            if at >= len(saying) and not queue.empty():
                saying, at = queue.get_nowait(), 0
                if self._current:
                    self._current.ended_ms = (self._sent + last_voiced(saying)) * 1_000 / HZ
            frame = saying[at : at + FRAME]
            if len(frame) and at + FRAME >= len(saying):
                queue.task_done()
            at += FRAME
            frame = np.pad(frame, (0, FRAME - len(frame)))
            audio = base64.b64encode(frame.astype("<i2").tobytes()).decode()
            await self._send({"type": "input_audio_buffer.append", "audio": audio})
            self._sent += FRAME
            await asyncio.sleep(max(0.0, began + self._sent / HZ - loop.time()))

    async def _listen(self) -> None:
        async for message in self._socket:
            event = json.loads(message)
            match event["type"]:
                case "response.output_audio.delta":
                    await self._play(event)
                case "conversation.item.input_audio_transcription.completed":
                    if self._current:
                        self._current.understood += event["transcript"].strip()
                case "voiceagent.route":
                    if self._current and self._current.understood:
                        self._current.answered_by = event["badge"]
                case "voiceagent.gap":
                    self._note_parts(event)
                case "voiceagent.heard":
                    await self._finished(event)
                case "voiceagent.state":
                    if event["agent"] == "idle" and event["user"] == "quiet":
                        self._idle.set()
                    else:
                        self._idle.clear()
                case "error":
                    raise CallError(f"The server says: {event['error']['message']}")

    async def _play(self, event: dict[str, Any]) -> None:
        loop, item = asyncio.get_running_loop(), event["item_id"]
        pcm = np.frombuffer(base64.b64decode(event["delta"]), "<i2")
        begins = max(loop.time() + self._delay, self._ends_at)
        self._ends_at = begins + len(pcm) / HZ
        now_ms = self._sent * 1_000 / HZ
        begins_ms = now_ms + (begins - loop.time()) * 1_000
        self.heard.append((begins_ms / 1_000, pcm))
        played = self._played.get(item, 0)
        self._played[item] = played + len(pcm)
        if not played:
            if self._current and self._current.ended_ms and self._current.gap_ms is None:
                offset = first_voiced(pcm) * 1_000 / HZ if pcm.any() else 0.0
                self._current.gap_ms = begins_ms + offset - self._current.ended_ms
                self._gaps[item] = self._current
                self._begun.set()
            await self._report(item, 1, begins_ms, "started")
        loop.call_at(self._ends_at, self._report_soon, item, self._played[item])

    def _report_soon(self, item: str, samples: int) -> None:
        task = asyncio.ensure_future(
            self._report(item, samples, self._sent * 1_000 / HZ, "playing")
        )
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _report(self, item: str, samples: int, input_ms: float, kind: str) -> None:
        await self._send(
            {
                "type": "voiceagent.playout.report",
                "item_id": item,
                "played_samples": samples,
                "input_ms": input_ms,
                "kind": kind,
            }
        )

    def _note_parts(self, event: dict[str, Any]) -> None:
        exchange = self._gaps.get(event["item_id"])
        if exchange:
            exchange.parts = [(part["name"], part["ms"]) for part in event["parts"]]

    async def _finished(self, event: dict[str, Any]) -> None:
        if self._current and self._current.understood:
            self._current.answer = event["heard"]
            self._begun.set()
            self._answered.set()

    async def _send(self, event: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(event))


async def call(url: str, token: str | None, wavs: list[Path]) -> list[Exchange]:
    """Call a server (``ws://…/v1/realtime``) and speak the files. Raises CallError."""
    speech = [(path.name, read_wav(path)) for path in wavs]
    return (await call_with(url, token, speech))[0]


async def call_with(
    url: str, token: str | None, speech: list[tuple[str, NDArray[np.int16]]]
) -> tuple[list[Exchange], Caller]:
    """As ``call``, with the sound itself (24 kHz) and the caller that heard the answers."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = f"{url}?model=voiceagent&extensions=voiceagent"
    try:
        async with connect(
            address, additional_headers=headers, max_size=2**20, compression=None
        ) as socket:
            caller = Caller(socket)
            return await caller.run(speech), caller
    except InvalidURI:
        raise CallError(f"{url} is no address; give one such as ws://127.0.0.1:8080.") from None
    except InvalidHandshake as error:
        raise CallError(f"The server at {url} refused the call ({error}).") from None
    except OSError as error:
        raise CallError(
            f"No server answers at {url} ({error.strerror or error}); start one with scripts/run."
        ) from None


def call_command(
    wavs: Annotated[list[Path], typer.Argument(metavar="WAV…", help="Files to say, in order.")],
    url: Annotated[str | None, typer.Option(help="ws://HOST:PORT of the server.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Call a running server: say the files, and print what was heard and the timings."""
    settings = load_settings()
    base = (url or f"ws://{settings.host}:{settings.port}").rstrip("/")
    token = settings.token.get_secret_value() if settings.token else None
    try:
        exchanges = asyncio.run(call(f"{base}/v1/realtime", token, wavs))
    except CallError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps([vars(exchange) for exchange in exchanges], indent=2))
    else:
        show(exchanges)
    if not all(exchange.answer for exchange in exchanges):
        raise typer.Exit(1)


def show(exchanges: list[Exchange]) -> None:
    """A table of the call."""
    table = Table("said", "understood", "answered", "by", "response gap", "its parts (ms)")
    for exchange in exchanges:
        gap = "-" if exchange.gap_ms is None else f"{exchange.gap_ms:.0f} ms"
        parts = ", ".join(f"{name} {ms:.0f}" for name, ms in exchange.parts)
        table.add_row(
            exchange.name, exchange.understood, exchange.answer, exchange.answered_by, gap, parts
        )
    Console().print(table)

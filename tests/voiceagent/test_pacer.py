"""Audio leaves a little ahead of the listener, without drift and without bursts."""

from __future__ import annotations

import asyncio

import numpy as np
from numpy.typing import NDArray

from tests.kit.virtual_time import virtual
from voiceagent.conversation.events import PlayoutKind
from voiceagent.pacer import Pacer


class Sink:
    """What the pacer sent and estimated, with the time of each."""

    def __init__(self, lead: int = 400_000) -> None:
        self.sent: list[tuple[int, int]] = []
        self.pcm: list[NDArray[np.int16]] = []
        self.heard: list[tuple[int, int, int]] = []
        self.kinds: list[tuple[PlayoutKind, int, int]] = []
        self.loop = asyncio.get_running_loop()
        self.pacer = Pacer(self.send, self.report, self.now, lead)
        self.task = asyncio.create_task(self.pacer.run())

    def now(self) -> int:
        return int(self.loop.time() * 1e6)

    def send(self, reply: int, item: str, pcm: NDArray[np.int16]) -> None:
        self.sent.append((self.now(), len(pcm)))
        self.pcm.append(pcm)

    def report(self, reply: int, kind: PlayoutKind, samples: int, at: int) -> None:
        self.heard.append((self.now(), reply, samples))
        self.kinds.append((kind, samples, at))

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})


def noise(samples: int) -> NDArray[np.int16]:
    return np.random.default_rng(samples).integers(-9, 9, samples).astype(np.int16)


@virtual
async def test_o12_a_minute_of_audio_takes_a_minute() -> None:
    sink = Sink()
    pcm = noise(60 * 24_000)
    began = sink.now()
    sink.pacer.play(1, "item", pcm)
    await asyncio.sleep(59)
    sent = sum(samples for _, samples in sink.sent)
    assert abs(sent / 24_000 - 59.4) <= 0.1
    await asyncio.sleep(1.5)
    assert np.array_equal(np.concatenate(sink.pcm), pcm)
    finished = next(at for at, _, samples in sink.heard if samples == len(pcm))
    assert abs(finished - began - 60_000_000) <= 20_000
    await sink.stop()


@virtual
async def test_o12_a_pause_between_pieces_gives_no_burst() -> None:
    sink = Sink()
    sink.pacer.play(1, "item", noise(24_000))
    await asyncio.sleep(6)
    resumed = sink.now()
    sink.pacer.play(1, "item", noise(48_000))
    await asyncio.sleep(0.5)
    late = sum(samples for at, samples in sink.sent if at >= resumed)
    assert late / 24_000 <= 0.5 + 0.4 + 0.1
    await sink.stop()


@virtual
async def test_flush_forgets_what_was_not_sent_and_tells_what_was_heard() -> None:
    sink = Sink()
    sink.pacer.play(1, "item", noise(10 * 24_000))
    await asyncio.sleep(2)
    heard = sink.pacer.flush(1)
    assert abs(heard / 24_000 - 2) <= 0.02
    sent = len(sink.sent)
    await asyncio.sleep(5)
    assert len(sink.sent) == sent
    sink.pacer.play(2, "next", noise(480))
    await asyncio.sleep(0.1)
    assert len(sink.sent) == sent + 1
    await sink.stop()


@virtual
async def test_o21_one_stream_at_a_time() -> None:
    sink = Sink()
    sink.pacer.play(1, "filler", noise(12_000))
    sink.pacer.play(2, "reply", noise(12_000))
    await asyncio.sleep(3)
    replies = [reply for _, reply, _ in sink.heard]
    assert replies == sorted(replies)
    assert max(samples for _, reply, samples in sink.heard if reply == 2) == 12_000
    await sink.stop()

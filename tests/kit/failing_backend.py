"""A real server that speaks to simulated providers, of which the first fails; and a caller's ear.

Recognition, voice, router, sockets are the real ones; the providers and their faults are not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tests.kit.provider_twin import ANSWER, KEY, Fault, ProviderTwin
from tests.kit.real_server import plain, real_server, words_in
from voiceagent.caller import HZ, call_with

Piece = tuple[float, NDArray[np.int16]]


@dataclass(frozen=True)
class Heard:
    """What a caller heard of one answer."""

    gap_ms: float
    """From the caller's last voiced sample to the first of the answer."""
    longest_starved_ms: float
    """The longest time within the answer with nothing to play."""
    text: str
    """By the server's ledger."""
    recognised: str
    """By a recogniser, from the sound alone."""
    asked: tuple[int, int]
    """Requests to the first and the second provider."""

    @property
    def complete(self) -> bool:
        """Every word of the answer once, and none besides."""
        return plain(self.text) == plain(ANSWER)


async def an_answer(question: NDArray[np.int16], fault: Fault | None) -> Heard:
    """Ask (24 kHz) while the low-latency provider has this fault and the GPU server has none."""
    async with ProviderTwin("groq", fault=fault) as first, ProviderTwin("gpu") as second:
        server = real_server(
            log_level="error",
            GROQ_API_KEY=KEY,
            GROQ_BASE_URL=first.url,
            VOICEAGENT_ANALYSIS_URL=second.url,
            VOICEAGENT_ANALYSIS_MODEL="simulated",
            VOICEAGENT_EMBEDDED_MODEL="never",
        )
        url = await asyncio.to_thread(server.__enter__)
        try:
            address = f"{url.replace('http', 'ws').rstrip('/')}/v1/realtime"
            (exchange,), caller = await call_with(address, None, [("question", question)])
        finally:
            await asyncio.to_thread(server.__exit__, None, None, None)
        ended_s = (exchange.ended_ms or 0.0) / 1_000
        pieces = [(at, pcm) for at, pcm in caller.heard if at > ended_s]
        sound = np.concatenate([pcm for _, pcm in pieces]).astype(np.float32) / 32_768
        return Heard(
            exchange.gap_ms if exchange.gap_ms is not None else float("inf"),
            starved_ms(pieces),
            exchange.answer,
            await asyncio.to_thread(words_in, sound, HZ),
            (len(first.requests), len(second.requests)),
        )


def starved_ms(pieces: Sequence[Piece]) -> float:
    """The longest time between the end of a piece and the beginning of the next."""
    gaps = (after - at - len(pcm) / HZ for (at, pcm), (after, _) in pairwise(pieces))
    return max([0.0, *(gap * 1_000 for gap in gaps)])

"""The providers' twins: what a backend sees of them, with and without a fault, on a virtual clock.

A twin that did not behave as it says would make every test that uses it worthless.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from asked import ASK, answer, failure, provider_twin, said

from routing.backend import Backend
from routing.chunks import Chunk, Finished, TextDelta, TimingReported, UsageReported
from routing.errors import BackendError
from tests.kit.provider_twin import (
    ANSWER,
    PROFILES,
    Fault,
    cut_after,
    empty,
    error_in_stream,
    garbage,
    late,
    refuse,
    stall_after,
    status,
    tokens_of,
)
from tests.kit.virtual_time import virtual

EACH = pytest.mark.parametrize("name", PROFILES)
TOKENS = tokens_of(ANSWER)


async def stamps(backend: Backend) -> list[int]:
    """Microseconds from the request to each piece of text."""
    begun = round(asyncio.get_running_loop().time() * 1e6)
    return [c.at_us - begun for c in await answer(backend) if isinstance(c, TextDelta)]


def test_the_answer_is_of_about_sixty_whole_words() -> None:
    assert 55 <= len(TOKENS) <= 65
    assert "".join(TOKENS) == ANSWER
    assert "".join(tokens_of("  a b. ")) == "  a b. "


@EACH
@virtual
async def test_each_says_the_whole_answer_in_its_dialect(name: str) -> None:
    async with provider_twin(name) as (twin, backend):
        chunks = await answer(backend)
        assert said(chunks) == ANSWER
        last = [chunk for chunk in chunks if isinstance(chunk, UsageReported)][-1]
        assert last.completion_tokens == len(TOKENS)
        assert sum(isinstance(chunk, Finished) for chunk in chunks) == 1
        assert any(isinstance(c, TimingReported) for c in chunks) is (name != "gpu")
        assert (backend.limits is not None) is (name in ("groq", "cerebras", "sambanova"))
        config = backend.config
        assert config.provider == twin.profile.provider.name
        counted = config.dialect.max_tokens_name
        assert twin.requests[0].body[counted] == ASK.max_tokens


@EACH
@virtual
async def test_its_times_are_those_that_it_tells(name: str) -> None:
    """And the same again for the same seed, but not for another."""
    seen: list[list[int]] = []
    for seed in (1, 1, 2):
        async with provider_twin(name, seed=seed) as (twin, backend):
            times = await stamps(backend)
            profile = twin.profile
            size = profile.tokens_per_chunk
            assert len(times) == -(-len(TOKENS) // size)
            usual = profile.first_s + size / profile.tokens_per_s
            assert usual * 0.3 <= times[0] / 1e6 <= usual * 3
            seen.append(times)
    assert seen[0] == pytest.approx(seen[1], abs=2)
    assert seen[0] != pytest.approx(seen[2], abs=2)


@virtual
async def test_the_servers_times_add_up_to_what_was_seen() -> None:
    for name in ("groq", "cerebras", "sambanova"):
        async with provider_twin(name) as (_, backend):
            begun = asyncio.get_running_loop().time()
            chunks = await answer(backend)
            took = (asyncio.get_running_loop().time() - begun) * 1000
            (told,) = [c for c in chunks if isinstance(c, TimingReported)]
            assert told.total_ms == pytest.approx(took, rel=0.01)


@virtual
async def test_the_gpu_under_batch_load_is_uneven_and_tells_the_tokens_of_each_chunk() -> None:
    ratios: dict[str, float] = {}
    for name in ("gpu", "llama_cpp"):
        async with provider_twin(name) as (_, backend):
            times = await stamps(backend)
            gaps = sorted(b - a for a, b in pairwise(times))
            ratios[name] = gaps[-1] / gaps[len(gaps) // 2]
            tokens = [c.tokens for c in await answer(backend) if isinstance(c, TextDelta)]
            assert tokens == [1 if name == "gpu" else None] * len(TOKENS)
    assert ratios["gpu"] > 4 > 2 > ratios["llama_cpp"] > 1


# --- faults ---

FAULTS: list[tuple[Fault, str, int]] = [
    # fault, the kind of error ("" for none), tokens before it
    (cut_after(20), "broken_stream", 20),
    (cut_after(0), "broken_stream", 0),
    (cut_after(len(TOKENS)), "broken_stream", len(TOKENS)),
    (cut_after(len(TOKENS) + 1), "", len(TOKENS)),
    (error_in_stream(7), "in_stream", 7),
    (stall_after(20, 60), "timeout", 20),
    (stall_after(20, 1), "", len(TOKENS)),
    (garbage(3), "", len(TOKENS)),
    (late(60), "timeout", 0),
    (late(2), "", len(TOKENS)),
    (status(503), "unavailable", 0),
    (status(429), "rate_limited", 0),
    (refuse, "refused", 0),
    (empty, "", 0),
]


@EACH
@pytest.mark.parametrize(("fault", "kind", "before"), FAULTS)
def test_faults(name: str, fault: Fault, kind: str, before: int) -> None:
    @virtual
    async def ask() -> None:
        async with provider_twin(name, fault) as (twin, backend):
            got: list[Chunk] = []
            found = (await failure(backend, got)).kind if kind else await answer(backend, got)
            assert found == (kind or got)
            assert said(got) == "".join(TOKENS[:before])
            twin.fault = None
            assert said(await answer(backend)) == ANSWER

    ask()


@virtual
async def test_a_pause_is_as_long_as_it_was_asked_to_be() -> None:
    for fault, place, pause in ((stall_after(20, 3), 20, 3), (late(3), 0, 3)):
        async with provider_twin("llama_cpp") as (twin, backend):
            usual = await stamps(backend)
        async with provider_twin("llama_cpp", fault) as (twin, backend):
            times = await stamps(backend)
            late_by = [(b - a) / 1e6 for a, b in zip(usual, times, strict=True)]
            assert late_by[:place] == pytest.approx([0] * place, abs=1e-4)
            assert late_by[place:] == pytest.approx([pause] * (len(TOKENS) - place), abs=1e-4)
            assert twin.requests[0].answered.is_set()


@pytest.mark.parametrize(
    ("name", "spent_kind", "spent_rest"),
    [
        ("groq", "rate_limited", 7.66),
        ("cerebras", "quota", 11.382867),
        ("sambanova", "quota", 60),
        ("gpu", "quota", 600),
        ("llama_cpp", "rate_limited", None),
    ],
)
def test_busy_and_spent_are_two_answers(
    name: str, spent_kind: str, spent_rest: float | None
) -> None:
    @virtual
    async def ask() -> None:
        async with provider_twin(name, status(429, 5)) as (twin, backend):
            error = await failure(backend)
            assert (error.kind, error.retry_after_s) == ("rate_limited", 5)
            twin.fault = status(429, spent=True)
            error = await failure(backend)
            assert (error.kind, error.retry_after_s) == (spent_kind, spent_rest)

    ask()


@virtual
async def test_refusing_and_listening_in_the_middle() -> None:
    async with provider_twin("groq", stall_after(5, 60)) as (twin, backend):
        got: list[Chunk] = []
        async with backend.stream(ASK) as chunks:
            for _ in range(5):
                got.append(await anext(chunks))
            twin.fault = refuse
            with pytest.raises(BackendError) as caught:
                await anext(chunks)
            assert caught.value.kind == "broken_stream"
        for _ in range(2):
            assert (await failure(backend)).kind == "refused"
            twin.fault = None
            assert said(await answer(backend)) == ANSWER
            twin.fault = refuse
        port = twin.server.port
        await twin.stop()
        twin.fault = None  # stopped is stopped
        twin.server.port = port
        assert (await failure(backend)).kind == "refused"

"""The providers' twins go on with an answer that was begun, where their provider would."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asked import ASK, answer, provider_twin, said

from routing.backend import Backend
from routing.chunks import Finished
from routing.continuation import Seam, continued
from routing.messages import ChatRequest
from tests.kit.provider_twin import (
    ANSWER,
    PROFILES,
    tokens_of,
)
from tests.kit.virtual_time import virtual

EACH = pytest.mark.parametrize("name", PROFILES)
TOKENS = tokens_of(ANSWER)


async def going_on(backend: Backend, request: ChatRequest) -> str:
    async with backend.stream(request) as chunks:
        return said([chunk async for chunk in chunks])


@EACH
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("words", [1, 20, 40])
def test_a_handover_says_no_word_twice_and_none_is_missing(
    name: str, repeats: bool, words: int
) -> None:
    @virtual
    async def ask() -> None:
        async with provider_twin(name, repeats_prefix=repeats) as (_, backend):
            so_far = "".join(TOKENS[:words])
            able = backend.config.abilities.continues
            request = continued(ASK, so_far, prefixes=able)
            rest = await going_on(backend, request)
            assert rest == (ANSWER if repeats else "".join(TOKENS[words:]))
            seam = Seam(so_far, exact=able)
            assert so_far + seam.push(rest) + seam.close() == ANSWER

    ask()


@EACH
@virtual
async def test_only_who_goes_on_with_a_prefix_does(name: str) -> None:
    async with provider_twin(name) as (_, backend):
        request = continued(ASK, "".join(TOKENS[:9]), prefixes=True)
        for dialect, able in (
            (backend.config.dialect, backend.config.abilities.continues),
            (replace(backend.config.dialect, continuing={}), name in ("groq", "llama_cpp")),
        ):
            asked = Backend(replace(backend.config, dialect=dialect))
            rest = await going_on(asked, request)
            assert rest == ("".join(TOKENS[9:]) if able else ANSWER)
            await asked.aclose()


@virtual
async def test_other_words_are_no_beginning_of_the_answer() -> None:
    async with provider_twin("groq") as (_, backend):
        assert await going_on(backend, continued(ASK, "Something else", prefixes=True)) == ANSWER


@virtual
async def test_the_answer_may_depend_on_the_question_and_is_cut_at_the_token_limit() -> None:
    async with provider_twin("groq", answer=lambda body: body["messages"][0]["content"]) as (
        _,
        backend,
    ):
        assert said(await answer(backend)) == ASK.messages[0]["content"]
        async with backend.stream(replace(ASK, max_tokens=2)) as stream:
            chunks = [chunk async for chunk in stream]
        assert said(chunks) == "When is"
        assert [c.reason for c in chunks if isinstance(c, Finished)] == ["length"]

"""Ask the embedded language model what a caller may ask, and judge the answers by their facts."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from audio.weights import weights_dir
from routing.backend import Backend
from routing.chunks import TextDelta, UsageReported
from routing.embedded import EmbeddedServer
from routing.messages import ChatRequest
from voiceagent.field_service.role import Role, load_role

Score = Literal["right", "half", "wrong"]

NOT_KNOWN = (
    "don't see",
    "do not see",
    "don't have",
    "do not have",
    "don't know",
    "do not know",
    "not in your record",
    "not in the record",
    "office",
)
"""How an answer says that the record does not say."""

# A busy machine computes slowly; this is about answers, not about time.
_PATIENT = {"first_content_s": 300.0, "between_chunks_s": 120.0, "prefill_s": 300.0}


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of ``questions.toml``, where the fields are described."""

    ask: str
    expect: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    outside: bool = False
    held: bool = False
    bench: bool = False
    smoke: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, how it is judged, and the prompt's length in tokens."""

    question: Question
    text: str
    score: Score
    prompt_tokens: int


def read_questions() -> tuple[dt.date, list[Question]]:
    """The day on which they are asked, and the questions."""
    data = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))
    entries: list[dict[str, Any]] = data["question"]
    for entry in entries:
        entry.update({key: tuple(entry.get(key, ())) for key in ("expect", "forbid")})
    return data["today"], [Question(**entry) for entry in entries]


def judge(question: Question, text: str) -> Score:
    """right: every fact and nothing forbidden. half: some of the facts. wrong: none."""
    said = text.lower().replace("\u2019", "'")
    wanted = ["|".join(NOT_KNOWN)] if question.outside else question.expect
    facts = [any(alternative in said for alternative in fact.split("|")) for fact in wanted]
    false = any(word in said for word in question.forbid)
    if all(facts) and not false:
        return "right"
    return "half" if any(facts) and not false else "wrong"


async def ask_all(
    questions: Iterable[Question], today: dt.date, threads: int = 2
) -> AsyncIterator[Answer]:
    """The answers to each question alone, after the greeting, at temperature 0."""
    role = load_role(None, today)
    model = weights_dir() / "qwen2.5-coder-1.5b" / "model.gguf"
    server = EmbeddedServer(model, threads=threads, context=2048, slots=1)
    await server.start()
    backend = Backend(server.backend_config(**_PATIENT))
    try:
        for question in questions:
            yield await _ask(backend, role, question)
    finally:
        await backend.aclose()
        await server.stop()


async def _ask(backend: Backend, role: Role, question: Question) -> Answer:
    messages: tuple[dict[str, Any], ...] = (
        {"role": "system", "content": role.system_prompt},
        {"role": "assistant", "content": role.greeting},
        {"role": "user", "content": question.ask},
    )
    if fixed := role.safety(question.ask):
        return Answer(question, fixed.text, judge(question, fixed.text), 0)
    text, tokens = "", 0
    async with backend.stream(ChatRequest(messages=messages, max_tokens=80)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                text += chunk.text
            elif isinstance(chunk, UsageReported):
                tokens = chunk.prompt_tokens
    return Answer(question, text, judge(question, text), tokens)

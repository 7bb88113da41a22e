"""Each provider's errors, headers, times and requests, over a real socket."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from asked import ASK, answer, failure, said

from routing.backend import Backend
from routing.breaker import Breaker
from routing.chunks import Finished, TimingReported, UsageReported
from routing.providers import provider
from tests.kit.llm_script import DONE, Head, Script, event, finish, reply, role, say, text
from tests.kit.llm_twin import LlmTwin
from tests.kit.virtual_time import virtual

MODEL = "big-model-v1"


def wrapped(code: str | None, kind: str = "t", message: str = "the reason") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def bare(code: str, param: str) -> dict[str, Any]:
    return {"message": "the reason", "type": "too_many", "param": param, "code": code}


SPENT_DAY = {
    "x-ratelimit-remaining-requests-day": "0",
    "x-ratelimit-reset-requests-day": "33011.5",
}
SPENT_MINUTE = {
    "x-ratelimit-remaining-tokens-minute": "0",
    "x-ratelimit-reset-tokens-minute": "11.5",
}
GROQ_SPENT = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7.66s"}

ERRORS = [
    # provider, status, body, headers, kind, retry after, retryable
    (
        "groq",
        429,
        wrapped("rate_limit_exceeded", "tokens"),
        {"retry-after": "2"},
        "rate_limited",
        2,
    ),
    ("groq", 429, wrapped("rate_limit_exceeded", "tokens"), GROQ_SPENT, "rate_limited", 7.66),
    ("groq", 429, wrapped("rate_limit_exceeded", "tokens"), {}, "rate_limited", None),
    ("groq", 498, wrapped("capacity_exceeded"), {}, "rate_limited", 1),
    ("groq", 498, b"", {}, "rate_limited", 1),
    ("groq", 498, wrapped("insufficient_quota"), {}, "quota", 600),  # the code says more
    ("groq", 413, wrapped("rate_limit_exceeded", "tokens"), {}, "bad_request", None),
    ("groq", 404, wrapped("model_not_found"), {}, "bad_request", None),
    ("groq", 503, wrapped(None, "internal_server_error"), {}, "unavailable", None),
    ("cerebras", 429, bare("queue_exceeded", "queue"), {}, "rate_limited", 1),
    ("cerebras", 429, bare("queue_exceeded", "queue"), {"retry-after": "3"}, "rate_limited", 3),
    ("cerebras", 429, bare("token_quota_exceeded", "quota"), {}, "quota", 60),
    ("cerebras", 429, bare("token_quota_exceeded", "quota"), SPENT_MINUTE, "quota", 11.5),
    ("cerebras", 429, bare("request_quota_exceeded", "quota"), SPENT_DAY, "quota", 33011.5),
    ("cerebras", 429, wrapped("queue_exceeded"), {}, "rate_limited", 1),
    ("cerebras", 402, bare("payment_required", "billing"), {}, "quota", 600),
    ("cerebras", 401, bare("wrong_api_key", "api_key"), {}, "auth", None),
    ("sambanova", 429, wrapped("queue_full"), {}, "rate_limited", 1),
    ("sambanova", 429, wrapped("insufficient_quota"), {}, "quota", 60),
    ("sambanova", 429, wrapped("insufficient_quota"), SPENT_DAY, "quota", 33011.5),
    ("sambanova", 429, wrapped(None, "insufficient_quota"), {}, "quota", 60),
    ("sambanova", 410, wrapped("model_deprecated"), {}, "bad_request", None),
    ("sambanova", 410, b"gone", {}, "bad_request", None),
    ("sambanova", 408, wrapped("request_timeout"), {}, "timeout", None),
    ("gpu", 429, wrapped(None, "rate_limit_error"), {}, "rate_limited", None),
    ("gpu", 429, wrapped("insufficient_quota"), {}, "quota", 600),
    (
        "gpu",
        400,
        {"object": "error", "message": "the reason", "code": 400},
        {},
        "bad_request",
        None,
    ),
    ("gpu", 422, {"detail": "the reason"}, {}, "bad_request", None),
    ("llama.cpp", 503, wrapped(None, "unavailable_error"), {}, "unavailable", None),
    ("llama.cpp", 500, b"[[[", {}, "unavailable", None),
]


async def outcome(name: str, steps: Script, **changes: Any) -> tuple[LlmTwin, Backend, Any]:
    """What came of one request: the chunks, or the error."""
    async with LlmTwin() as twin:
        fields = {"url": twin.url, "model": MODEL} | changes
        backend = Backend(provider(name).backend_config(**fields))
        twin.will(steps)
        failing = any(isinstance(step, Head) and step.status != 200 for step in steps)
        came = await (failure(backend) if failing else answer(backend))
        await backend.aclose()
    return twin, backend, came


@pytest.mark.parametrize(("name", "code", "body", "headers", "kind", "rest"), ERRORS)
def test_error_bodies(
    name: str, code: int, body: Any, headers: dict[str, str], kind: str, rest: float | None
) -> None:
    @virtual
    async def ask() -> None:
        _, _, error = await outcome(name, reply(code, body, **headers))
        assert error.kind == kind
        assert error.retry_after_s == pytest.approx(rest)
        assert error.retryable is (kind not in ("bad_request", "auth"))
        assert str(error).startswith(f"{name}: HTTP {code}")
        if kind == "quota":  # whoever acts on it needs to know for how long
            breaker = Breaker()
            breaker.failed(0, error)
            assert breaker.rests_for(0) == pytest.approx(rest * 1e6, abs=1)

    ask()


@pytest.mark.parametrize(
    ("name", "code", "body"),
    [
        ("sambanova", 410, wrapped("model_deprecated")),
        ("sambanova", 410, b""),
        ("sambanova", 410, wrapped("model_deprecated", message=f"{MODEL} is deprecated")),
        ("groq", 404, wrapped("model_not_found")),
        ("groq", 400, wrapped("model_decommissioned")),
    ],
)
def test_an_error_for_the_model_names_it(name: str, code: int, body: Any) -> None:
    @virtual
    async def ask() -> None:
        _, _, error = await outcome(name, reply(code, body))
        assert MODEL in str(error)
        assert ("is deprecated" in str(error)) is ("is deprecated" in str(body))
        assert (error.kind, error.retryable) == ("bad_request", False)

    ask()


@virtual
async def test_the_limits_of_the_last_answer_that_told_any_are_kept() -> None:
    async with LlmTwin() as twin:
        backend = Backend(provider("groq").backend_config(url=twin.url))
        assert backend.limits is None
        head = Head(headers=(("Content-Type", "text/event-stream"), *GROQ_SPENT.items()))
        twin.will([head, *say("a")], say("b"), reply(429, b"", **GROQ_SPENT | {"x": "y"}))
        for _ in range(2):
            await answer(backend)
            assert backend.limits is not None
            assert backend.limits.exhausted_for_s == pytest.approx(7.66)
        backend.limits = None
        await failure(backend)
        assert backend.limits is not None
        await backend.aclose()


USAGE = {"prompt_tokens": 9, "completion_tokens": 2}
TIMES = {"queue_time": 0.018, "prompt_time": 0.002, "completion_time": 0.46, "total_time": 0.48}
GROQ_TIMES = {"queue_ms": 18, "prompt_ms": 2, "completion_ms": 460, "total_ms": 480}
SAMBANOVA_TIMES = {
    "time_to_first_token": 0.131,
    "total_latency": 0.377,
    "completion_tokens_per_sec": 135.1,
}
LLAMA_TIMES = {"prompt_n": 5, "prompt_ms": 98.2, "predicted_ms": 500, "predicted_per_second": 31.5}
TIMINGS = [
    ("groq", {"x_groq": {"id": "r", "usage": USAGE | TIMES}}, GROQ_TIMES),
    ("groq", {"usage": USAGE | TIMES, "x_groq": {"id": "r"}}, GROQ_TIMES),
    ("groq", {"usage": USAGE | {"queue_time": 0.5, "total_time": "?"}}, {"queue_ms": 500}),
    ("cerebras", {"usage": USAGE, "time_info": TIMES | {"created": 1723733419}}, GROQ_TIMES),
    (
        "sambanova",
        {"usage": USAGE | SAMBANOVA_TIMES},
        {"first_token_ms": 131, "total_ms": 377, "tokens_per_s": 135.1},
    ),
    (
        "llama.cpp",
        {"usage": USAGE, "timings": LLAMA_TIMES},
        {"prompt_ms": 98.2, "completion_ms": 500, "tokens_per_s": 31.5},
    ),
]


@pytest.mark.parametrize(("name", "fields", "times"), TIMINGS)
@pytest.mark.parametrize("with_finish", [False, True])
def test_the_servers_own_times(
    name: str, fields: dict[str, Any], times: dict[str, float], with_finish: bool
) -> None:
    @virtual
    async def ask() -> None:
        finished = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        last = [event(finished | fields)] if with_finish else [finish(), event(fields)]
        _, _, chunks = await outcome(name, [role(), text("hi"), *last, *last[1:], DONE])
        (timing,) = [chunk for chunk in chunks if isinstance(chunk, TimingReported)]
        told = {k: getattr(timing, k) for k in times}
        assert told == pytest.approx(times)
        assert timing == replace(TimingReported(timing.at_us), **told)
        assert said(chunks) == "hi"
        assert sum(isinstance(chunk, Finished) for chunk in chunks) == 1
        assert sum(isinstance(chunk, UsageReported) for chunk in chunks) == 1

    ask()


@pytest.mark.parametrize("name", ["groq", "cerebras", "sambanova", "llama.cpp"])
@pytest.mark.parametrize("wrong", [None, 7, [], {}, {"queue_time": -1, "prompt_ms": float("nan")}])
def test_times_that_are_none_are_not_told(name: str, wrong: Any) -> None:
    dialect = provider(name).dialect
    for field in ("usage", "x_groq", "time_info", "timings"):
        assert dialect.timing({field: wrong, "choices": []}) is None
    assert dialect.timing({"x_groq": {"usage": wrong}}) is None
    assert provider("gpu").dialect.timing({"time_info": TIMES}) is None


SAID = {"role": "assistant", "content": "Your boiler is"}


@pytest.mark.parametrize(
    ("name", "present", "absent"),
    [
        ("groq", {"max_completion_tokens": 256}, {"max_tokens", "reasoning_effort", "priority"}),
        ("cerebras", {"max_completion_tokens": 256}, {"max_tokens", "continue_final_message"}),
        ("sambanova", {"max_tokens": 256}, {"max_completion_tokens"}),
        (
            "gpu",
            {
                "max_tokens": 256,
                "stream_options": {"include_usage": True, "continuous_usage_stats": True},
            },
            {"continue_final_message", "add_generation_prompt", "priority"},
        ),
        ("llama.cpp", {"max_tokens": 256, "cache_prompt": True}, {"continue_final_message"}),
    ],
)
def test_requests(name: str, present: dict[str, Any], absent: set[str]) -> None:
    @virtual
    async def ask() -> None:
        twin, _, _ = await outcome(name, say("hi"))
        body = twin.requests[0].body
        assert {"model": MODEL, "stream": True}.items() <= body.items()
        assert {field: body.get(field) for field in present} == present
        assert body["stream_options"]["include_usage"] is True
        assert not absent & body.keys()

    ask()


@pytest.mark.parametrize("name", ["groq", "cerebras", "sambanova"])
def test_a_model_that_thinks_is_asked_to_think_little(name: str) -> None:
    dialect = provider(name).dialect
    default = provider(name).default_model
    assert dialect.body({"model": default})["reasoning_effort"] == "low"
    assert "reasoning_effort" not in dialect.body({"model": "llama"})


def test_a_gpu_server_is_told_to_go_on_with_the_assistants_words() -> None:
    dialect = provider("gpu").dialect
    begun = dialect.body({"messages": [*ASK.messages, SAID]})
    assert (begun["continue_final_message"], begun["add_generation_prompt"]) == (True, False)
    called = {"role": "assistant", "content": None, "tool_calls": []}
    for messages in ([], list(ASK.messages), [*ASK.messages, SAID, ASK.messages[0]], [called]):
        assert "continue_final_message" not in dialect.body({"messages": messages})


@virtual
async def test_priority_is_sent_only_where_the_server_has_the_ability() -> None:
    able = replace(provider("gpu").abilities, priority=True)
    twin, _, _ = await outcome("gpu", say("hi"), priority=3, abilities=able)
    assert twin.requests[0].body["priority"] == 3
    twin, _, _ = await outcome("gpu", say("hi"), priority=3)
    assert "priority" not in twin.requests[0].body


@virtual
async def test_fields_of_the_configuration_have_the_last_word() -> None:
    extra = {"reasoning_effort": "high", "max_completion_tokens": 7}
    twin, _, _ = await outcome("groq", say("hi"), model="gpt-oss-20b", extra_body=extra)
    assert extra.items() <= twin.requests[0].body.items()

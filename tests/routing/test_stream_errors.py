"""Streams that fail: bad events, missing ends, errors inside, and what is too long."""

from __future__ import annotations

from typing import Any

import pytest
from chat_streams import END, USAGE, body, delta, event, parse, said

from routing.chunks import Chunk, Finished, TextDelta, UsageReported
from routing.errors import BackendError, StreamBroken
from routing.stream import ChatStreamParser


def test_l01c_one_bad_event_is_skipped_and_counted() -> None:
    bad = 'data: {"choices":[{"delta":{"content":"lo\n\n'
    good = [str(n) for n in range(60)]
    chunks, parser = parse(body(*good[:20]) + bad + body(*good[20:]) + END)
    assert said(chunks) == "".join(good)
    assert parser.skipped == 1


@pytest.mark.parametrize("bad", ["3", "null", '"text"', "[]", "[" * 100_000, "{", "NaN", "\x00"])
def test_l01c_what_is_no_object_is_skipped_and_counted(bad: str) -> None:
    chunks, parser = parse(body("a") + f"data: {bad}\n\n" + body("b") + END)
    assert said(chunks) == "ab"
    assert parser.skipped == 1


def test_l09_no_token_at_all() -> None:
    chunks, _ = parse(delta(role="assistant", content="") + END)
    assert chunks == [Finished(5, "stop")]


@pytest.mark.parametrize(
    "raw", ["", body("a"), body("a") + "data: [DONE]\n\n", ": ping\n\n", "<html>"]
)
def test_an_end_without_a_finish_reason_is_a_failure(raw: str) -> None:
    parser = ChatStreamParser()
    parser.feed(raw.encode(), 5)
    with pytest.raises(StreamBroken) as caught:
        parser.close()
    assert caught.value.kind == "broken_stream"
    assert caught.value.retryable


def test_after_the_finish_reason_only_usage_counts() -> None:
    after = body("late") + END + event({"error": {"message": "late"}})
    chunks, _ = parse(body("a") + END + after + event({"choices": [], "usage": USAGE}))
    assert chunks == [TextDelta(5, "a"), Finished(5, "stop"), UsageReported(5, 9, 2)]


def test_after_done_nothing_counts() -> None:
    chunks, parser = parse(body("a") + END + "data: [DONE]\n\n" + body("b") + "data: {\n\n")
    assert said(chunks) == "a"
    assert parser.done
    assert parser.skipped == 0


ERRORS = {
    "openai": event({"error": {"message": "no quota", "type": "server_error", "code": 429}}),
    "text": event({"error": "no quota"}),
    "groq": "event: error\n" + event({"error": {"message": "no quota", "status_code": 500}}),
    "groq stopped early": event({"choices": [], "x_groq": {"id": "r", "error": "no quota"}}),
    "error event": "event: error\n" + event({"message": "no quota"}),
    "plain error event": "event: error\ndata: no quota\n\n",
    "old llama.cpp": 'error: {"code":500,"message":"no quota","type":"server_error"}\n\n',
    "vllm": event({"object": "error", "message": "no quota", "type": "x", "code": 503}),
    "cerebras": event({"message": "no quota", "type": "too_many", "code": "queue_exceeded"}),
    "fastapi": event({"detail": "no quota"}),
    "openrouter": event(
        {
            "error": {"code": 502, "message": "no quota"},
            "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
        }
    ),
    "in the choice": event({"choices": [{"delta": {}, "error": {"message": "no quota"}}]}),
}


@pytest.mark.parametrize("shape", ERRORS)
def test_errors_inside_the_stream(shape: str) -> None:
    for step in (0, 1):
        raw = (body("a") + ERRORS[shape] + body("b") + END).encode()
        parser = ChatStreamParser()
        chunks: list[Chunk] = []
        for start in range(0, len(raw), step or len(raw)):
            chunks += parser.feed(raw[start : start + (step or len(raw))], 5)
        assert said(chunks) == "a"
        with pytest.raises(BackendError, match="no quota") as caught:
            parser.close()
        assert caught.value.kind == "in_stream"
        assert caught.value.retryable


def test_an_error_as_the_whole_body() -> None:
    parser = ChatStreamParser()
    parser.feed(b'{"error": {"message": "no quota"}}', 5)
    with pytest.raises(BackendError, match="no quota") as caught:
        parser.close()
    assert caught.value.kind == "in_stream"


def test_an_error_without_words_and_one_with_a_finish_reason_alone() -> None:
    for raw in (event({"error": {"code": 1}}), delta("error"), event({"error": [1]})):
        with pytest.raises(BackendError, match="error in the stream"):
            parse(raw)


@pytest.mark.parametrize(
    ("code", "retryable"), [(400, False), ("401", False), (500, True), ("x", True)]
)
def test_some_errors_inside_the_stream_are_final(code: Any, retryable: bool) -> None:
    with pytest.raises(BackendError) as caught:
        parse(event({"error": {"message": "m", "code": code}}))
    assert caught.value.retryable is retryable


@pytest.mark.parametrize("end", ["", "\n\n"])
def test_a_line_that_is_too_long_is_an_error(end: str) -> None:
    parser = ChatStreamParser(max_line=1000)
    chunks = parser.feed((body("a") + "data: " + "x" * 1000 + end + body("b")).encode(), 5)
    assert said(chunks) == "a"
    with pytest.raises(StreamBroken, match="too long"):
        parser.close()


def test_an_event_of_many_lines_is_bounded_too() -> None:
    parser = ChatStreamParser(max_line=1000)
    parser.feed(b"data: x\n" * 1000, 5)
    assert parser.failure is not None


def test_a_thousand_keepalives_are_no_event_that_is_too_long() -> None:
    parser = ChatStreamParser(max_line=1000)
    parser.feed(b": ping\n" * 1000 + (body("a") + END).encode(), 5)
    assert parser.close() == []
    assert parser.finished

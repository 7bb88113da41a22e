"""The parser on what servers really send: line ends, splits, odd chunks, usage, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing.chunks import Chunk, Finished, ReasoningDelta, TextDelta, UsageReported
from routing.errors import BackendError, StreamBroken
from routing.stream import ChatStreamParser

SAID = "Zürich 你好 🌍"


def event(payload: Any) -> str:
    return f"data: {json.dumps(payload, ensure_ascii=False)}\n\n"


def delta(reason: str | None = None, **fields: Any) -> str:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]})


def body(*contents: Any) -> str:
    return "".join(delta(content=c) for c in contents)


END = delta("stop")


def parse(raw: str | bytes, step: int = 0) -> tuple[list[Chunk], ChatStreamParser]:
    data = raw.encode() if isinstance(raw, str) else raw
    parser = ChatStreamParser()
    chunks: list[Chunk] = []
    for start in range(0, len(data), step or len(data) or 1):
        chunks += parser.feed(data[start : start + (step or len(data))], 5)
    return chunks + parser.close(), parser


def said(chunks: list[Chunk]) -> str:
    return "".join(c.text for c in chunks if isinstance(c, TextDelta))


def thought(chunks: list[Chunk]) -> str:
    return "".join(c.text for c in chunks if isinstance(c, ReasoningDelta))


def usages(chunks: list[Chunk]) -> list[tuple[int, int, int | None]]:
    return [
        (c.prompt_tokens, c.completion_tokens, c.cached_tokens)
        for c in chunks
        if isinstance(c, UsageReported)
    ]


def test_chunks_carry_the_time_at_which_their_last_byte_arrived() -> None:
    parser = ChatStreamParser()
    raw = body("a").encode()
    assert parser.feed(raw[:-1], 10) == []
    assert parser.feed(raw[-1:] + body("b").encode(), 20) == [
        TextDelta(20, "a"),
        TextDelta(20, "b"),
    ]


def test_l16_character_split_at_each_byte() -> None:
    raw = body(SAID) + END
    for step in (1, 2, 3, 5):
        chunks, parser = parse(raw, step)
        assert said(chunks) == SAID
        assert parser.skipped == 0


def test_l16_character_escaped_as_two_halves_in_two_chunks() -> None:
    halves = r'data: {"choices":[{"delta":{"content":"%s"}}]}' + "\n\n"
    assert said(parse(halves % r"\ud83c" + halves % r"\udf0d!" + END)[0]) == "🌍!"
    lone = said(parse(halves % r"\ud83c" + halves % "x" + halves % r"\udf0d" + END)[0])
    assert lone == "\ufffdx\ufffd"
    assert said(parse(halves % r"a\ud83c" + END)[0]) == "a\ufffd"


VARIANTS = {
    "lf": lambda raw: raw,
    "crlf": lambda raw: raw.replace("\n", "\r\n"),
    "cr": lambda raw: raw.replace("\n", "\r"),
    "no space": lambda raw: raw.replace("data: ", "data:"),
    "comments": lambda raw: raw.replace("data: ", ": OPENROUTER PROCESSING\n\n: ping\n\ndata: "),
    "comment in an event": lambda raw: raw.replace("data: ", ": ping\ndata: "),
    "empty events": lambda raw: raw.replace("data: ", "data:\n\ndata: "),
    "done": lambda raw: raw + "data: [DONE]\n\n",
    "done, no space": lambda raw: raw + "data:[DONE]\n\n",
    "no end of the last event": lambda raw: raw.rstrip("\n"),
    "event names and ids": lambda raw: raw.replace(
        "data: ", "event: chunk\nid: 7\nretry: 5\ndata: "
    ),
    "byte order mark": lambda raw: "\ufeff" + raw,
    "no blank lines": lambda raw: raw.replace("\n\n", "\n"),
    "no field name": lambda raw: raw.replace("data: ", ""),
    "json over two lines": lambda raw: raw.replace('{"choices"', '{\ndata: "choices"'),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_l17_line_ends_comments_and_missing_done(variant: str) -> None:
    raw = delta(role="assistant") + body("Hello", " there", SAID) + END
    changed = VARIANTS[variant](raw)
    expected = [TextDelta(5, "Hello"), TextDelta(5, " there"), TextDelta(5, SAID)]
    for step in (0, 1, 7):
        chunks, parser = parse(changed, step)
        assert chunks == [*expected, Finished(5, "stop")]
        assert parser.skipped == 0


def test_l17_an_event_split_at_each_offset() -> None:
    raw = (delta(content="one\r\n") + END).encode()
    for cut in range(len(raw)):
        parser = ChatStreamParser()
        chunks = parser.feed(raw[:cut], 5) + parser.feed(raw[cut:], 5) + parser.close()
        assert chunks == [TextDelta(5, "one\r\n"), Finished(5, "stop")]


USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [], "usage": None},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0, "delta": {"content": None}}]},
        {"choices": [{"index": 0, "delta": {"content": ""}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": ""}]},
        {"choices": [{"index": 0}]},
        {"choices": [None]},
        {"choices": ["x"]},
        {"choices": {"0": {}}},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"choices": [{"delta": {"content": 7, "tool_calls": {"a": 1}}}]},
        {"object": "chat.completion.chunk"},
        {"prompt_filter_results": []},
        {},
    ],
)
def test_l18_chunks_without_content(odd: dict[str, Any]) -> None:
    for raw in (event(odd) + body("hi") + END, body("hi") + event(odd) + END + event(odd)):
        chunks, parser = parse(raw)
        assert chunks == [TextDelta(5, "hi"), Finished(5, "stop")]
        assert parser.skipped == 0


def test_l18_usage_alone_first_last_and_with_the_finish_reason() -> None:
    alone = event({"choices": [], "usage": USAGE})
    assert usages(parse(alone + body("hi") + END)[0]) == [(9, 2, None)]
    assert usages(parse(body("hi") + END + alone)[0]) == [(9, 2, None)]
    with_finish = event({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": USAGE})
    chunks, _ = parse(body("hi") + with_finish)
    assert chunks[1:] == [UsageReported(5, 9, 2), Finished(5, "stop")]


def test_usage_in_x_groq_and_with_cached_tokens() -> None:
    groq = event({"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": USAGE}})
    assert usages(parse(groq)[0]) == [(9, 2, None)]
    for cached in (
        {"prompt_tokens_details": {"cached_tokens": 4}},
        {"prompt_cache_hit_tokens": 4},
        {"cached_tokens": 4},
    ):
        assert usages(parse(END + event({"usage": USAGE | cached}))[0]) == [(9, 2, 4)]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"prompt_tokens": 9},
        {"prompt_tokens": "9", "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": 2},
        {"prompt_tokens": -1, "completion_tokens": 2},
        [9, 2],
    ],
)
def test_half_a_usage_is_none(wrong: Any) -> None:
    assert usages(parse(END + event({"choices": [], "usage": wrong}))[0]) == []


def test_usage_on_every_chunk_counts_the_tokens_of_each() -> None:
    raw = "".join(
        event(
            {
                "choices": [{"delta": {"content": content}}],
                "usage": {"prompt_tokens": 9, "completion_tokens": total},
            }
        )
        for content, total in (("a", 1), ("b c d", 4), ("e", 5))
    )
    chunks, _ = parse(raw + END)
    assert [c.tokens for c in chunks if isinstance(c, TextDelta)] == [1, 3, 1]
    assert usages(chunks) == [(9, 1, None), (9, 4, None), (9, 5, None)]


def test_tokens_of_a_chunk_from_its_ids_or_logprobs_else_unknown() -> None:
    ids = event({"choices": [{"delta": {"content": "a b"}, "token_ids": [1, 2]}]})
    probs = event({"choices": [{"delta": {"content": "c"}, "logprobs": {"content": [{}]}}]})
    final = event({"choices": [{"delta": {"content": "e"}}], "usage": USAGE})
    chunks, _ = parse(ids + probs + body("d") + final + END)
    # The total at the end says nothing about the chunk that it came with.
    assert [c.tokens for c in chunks if isinstance(c, TextDelta)] == [2, 1, None, None]


def test_tokens_held_back_as_a_possible_tag_are_counted_with_what_they_became() -> None:
    def piece(content: str) -> str:
        return event({"choices": [{"delta": {"content": content}, "token_ids": [1]}]})

    chunks, _ = parse(piece("a") + piece("<") + piece("b") + piece("<th") + END)
    texts = [(c.text, c.tokens) for c in chunks if isinstance(c, TextDelta)]
    assert texts == [("a", 1), ("<b", 2), ("<th", 1)]
    chunks, _ = parse(piece("a <") + piece("b") + piece("c") + END)
    assert [c.tokens for c in chunks if isinstance(c, TextDelta)] == [None, None, 1]


def test_l19_thinking_is_kept_apart() -> None:
    chunks, _ = parse(body("<thi", "nk>", "plan", "</th", "ink>", "Hello.") + END)
    assert (said(chunks), thought(chunks)) == ("Hello.", "plan")


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_l19_reasoning_in_a_field_of_its_own(name: str) -> None:
    chunks, _ = parse(delta(**{name: "plan"}) + delta(content="Hi", **{name: None}) + END)
    assert chunks == [ReasoningDelta(5, "plan"), TextDelta(5, "Hi"), Finished(5, "stop")]


def test_l19_reasoning_in_both_fields_counts_once() -> None:
    assert thought(parse(delta(reasoning="p", reasoning_content="p") + END)[0]) == "p"


def test_l19_thinking_that_never_ends_leaves_an_empty_answer() -> None:
    chunks, _ = parse(body("<think>", "all of it", " thi</thin") + END)
    assert said(chunks) == ""
    assert thought(chunks) == "all of it thi</thin"
    assert chunks[-1] == Finished(5, "stop")


@pytest.mark.parametrize(
    ("written", "spoken", "thinking"),
    [
        ("a < b and b <th", "a < b and b <th", ""),
        ("1 <thing> 2", "1 <thing> 2", ""),
        ("<<think>x</think>y", "<y", "x"),
        ("plan</think>Hi", "planHi", ""),
        ("<thinking>p</thinking>Hi", "Hi", "p"),
        ("a<think>b</think>c<think>d</think>e", "ace", "bd"),
        ("<think></think>Hi", "Hi", ""),
    ],
)
def test_l19_tags_at_every_split(written: str, spoken: str, thinking: str) -> None:
    for size in (1, 2, 3, 4, 99):
        pieces = [written[i : i + size] for i in range(0, len(written), size)]
        chunks, _ = parse(body(*pieces) + END)
        assert (said(chunks), thought(chunks)) == (spoken, thinking)


def test_content_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "plan"}]},
        {"type": "text", "text": "Hi"},
        None,
    ]
    chunks, _ = parse(delta(content=parts) + END)
    assert (said(chunks), thought(chunks)) == ("Hi", "plan")


def test_a_refusal_is_said() -> None:
    assert said(parse(delta(content=None, refusal="I can not.") + END)[0]) == "I can not."


def test_a_whole_answer_in_one_json_document() -> None:
    answer = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": USAGE}
    chunks, _ = parse(json.dumps(answer))
    assert said(chunks) == "Hi"
    assert isinstance(chunks[-1], Finished)


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

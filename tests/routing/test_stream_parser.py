"""The parser on what servers really send: line ends, splits, odd chunks, thinking."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_streams import END, USAGE, body, delta, event, parse, said, thought, usages

from routing.chunks import Finished, ReasoningDelta, TextDelta, UsageReported
from routing.stream import ChatStreamParser

SAID = "Zürich 你好 🌍"


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

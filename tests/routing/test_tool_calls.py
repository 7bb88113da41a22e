"""Tool calls, from the stream's fragments to whole calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing.chunks import ToolDelta
from routing.messages import ChatRequest, request_body
from routing.stream import ChatStreamParser
from routing.tool_calls import ToolCall, ToolCallCollector


def call(
    index: Any = 0, id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    fields = (("index", index), ("id", id), ("function", function or None))
    return {key: value for key, value in fields if value is not None}


def calls(*chunks: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    payloads = [{"choices": [{"delta": {"tool_calls": fragments}}]} for fragments in chunks]
    payloads.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    raw = "".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads)
    parser, collector = ChatStreamParser(), ToolCallCollector()
    for chunk in parser.feed(raw.encode(), 0) + parser.close():
        if isinstance(chunk, ToolDelta):
            collector.add(chunk)
    return collector.calls()


def brief(found: tuple[ToolCall, ...]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(c.name, c.arguments) for c in found]


def test_t01_no_arguments_at_all() -> None:
    assert calls([call(id="a", name="now")]) == (ToolCall("a", "now", {}, ""),)


@pytest.mark.parametrize("pieces", [[""], ["", "{}"], ["{}"], [" ", "{", "}"], ["{}", ""]])
def test_t02_empty_arguments(pieces: list[str]) -> None:
    rest = [[call(arguments=piece)] for piece in pieces]
    assert brief(calls([call(id="a", name="now", arguments="")], *rest)) == [("now", {})]


def test_t02_an_empty_object_before_the_arguments() -> None:
    found = calls([call(id="a", name="f", arguments="{}")], [call(arguments='{"n": 3}')])
    assert brief(found) == [("f", {"n": 3})]


@pytest.mark.parametrize("raw", ['{"city":"Paris"', '{"city":', "[1]", "7", "Paris", '{"a":1}}'])
def test_t03_arguments_that_are_no_object_are_marked(raw: str) -> None:
    assert calls([call(id="a", name="f", arguments=raw)]) == (ToolCall("a", "f", None, raw),)


def test_t04_arguments_in_single_characters() -> None:
    raw = '{"n": 3, "unit":"c"}'
    found = calls([call(id="a", name="f")], *[[call(arguments=c)] for c in raw])
    assert brief(found) == [("f", {"n": 3, "unit": "c"})]


def test_t04_arguments_as_an_object() -> None:
    assert brief(calls([call(id="a", name="f", arguments={"n": 3})])) == [("f", {"n": 3})]


def test_t05a_id_name_and_index_in_every_chunk() -> None:
    pieces = ['{"n"', ": 3", ', "m": 4', "}"]
    found = calls(*[[call(id="a", name="f", arguments=piece)] for piece in pieces])
    assert found == (ToolCall("a", "f", {"n": 3, "m": 4}, '{"n": 3, "m": 4}'),)


def test_t05b_two_ids_at_the_same_index() -> None:
    found = calls(
        [call(0, "a", "f", "")],
        [call(0, arguments='{"n":1}')],
        [call(0, "b", "f", "")],
        [call(0, arguments='{"n":2}')],
    )
    assert [(c.call_id, c.arguments) for c in found] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_t05b_two_ids_at_the_same_index_in_one_chunk() -> None:
    found = calls([call(0, "a", "f", '{"n":1}'), call(0, "b", "g", '{"n":2}')])
    assert brief(found) == [("f", {"n": 1}), ("g", {"n": 2})]


@pytest.mark.parametrize("repeat_id", [False, True])
def test_t05c_interleaved_calls(repeat_id: bool) -> None:
    def later(index: int, id: str, arguments: str) -> list[dict[str, Any]]:
        return [call(index, id if repeat_id else None, None, arguments)]

    found = calls(
        [call(0, "a", "f")],
        [call(1, "b", "g")],
        later(0, "a", '{"n":'),
        later(1, "b", '{"m":'),
        later(0, "a", "1}"),
        later(1, "b", "2}"),
    )
    assert brief(found) == [("f", {"n": 1}), ("g", {"m": 2})]


def test_t05_no_index_and_no_id() -> None:
    found = calls(
        [call(None, None, "f", '{"n":')],
        [call(None, arguments="1}")],
        [call(None, None, "g", '{"m":2}')],
        [call(None, None, "g", '{"m":3}')],
    )
    assert brief(found) == [("f", {"n": 1}), ("g", {"m": 2}), ("g", {"m": 3})]
    assert [c.call_id for c in found] == ["call_0", "call_1", "call_2"]


def test_t05_no_index_with_interleaved_ids() -> None:
    found = calls(
        [call(None, "a", "f"), call(None, "b", "g")],
        [call(None, "a", arguments="{}"), call(None, "b", arguments='{"m":2}')],
    )
    assert brief(found) == [("f", {}), ("g", {"m": 2})]


def test_t05_empty_ids_after_the_first_and_a_name_in_pieces() -> None:
    found = calls(
        [call(0, "a", "get_")], [call(0, "", "weather")], [call(0, "", arguments='{"n":1}')]
    )
    assert found == (ToolCall("a", "get_weather", {"n": 1}, '{"n":1}'),)


@pytest.mark.parametrize("arguments", ['{"a":', "", None, "[1]", 7, {"a": 1}])
def test_t06_past_calls_with_broken_arguments_do_not_break_the_request(arguments: Any) -> None:
    past = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f"}}],
    }
    past["tool_calls"][0]["function"]["arguments"] = arguments
    before = json.dumps(past)
    sent = request_body(ChatRequest(messages=(past,)), "m", {})["messages"][0]
    assert json.dumps(past) == before
    expected = {"a": 1} if isinstance(arguments, dict) else {}
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) == expected
    assert sent["tool_calls"][0]["id"] == "a"


def test_t06_sound_arguments_are_sent_as_they_were() -> None:
    raw = '{"a":  1}'
    past = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": raw}}]}
    sent = request_body(ChatRequest(messages=(past,)), "m", {})["messages"][0]
    assert sent["tool_calls"][0]["function"]["arguments"] == raw


def test_request_body() -> None:
    request = ChatRequest(
        messages=({"role": "user", "content": "hi"},), max_tokens=9, seed=4, stop=("\n",)
    )
    body = request_body(request, "m", {"cache_prompt": True})
    assert body["messages"] == [{"role": "user", "content": "hi"}]
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (9, 0.0, 4)
    assert (body["stop"], body["stream"], body["cache_prompt"]) == (["\n"], True, True)
    plain = request_body(ChatRequest(messages=()), "m", {})
    assert "seed" not in plain
    assert "stop" not in plain

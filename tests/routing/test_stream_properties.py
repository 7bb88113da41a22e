"""For every stream: the chunks do not depend on how the bytes were split, and nothing raises."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from routing.chunks import Chunk
from routing.errors import BackendError
from routing.messages import wire_messages
from routing.providers import provider
from routing.stream import ChatStreamParser
from routing.tool_calls import parse_arguments

TEXT = st.text(st.sampled_from("<think></>ab 你🌍\n\r\\\"'é"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
FRAGMENT = st.fixed_dictionaries(
    {},
    optional={
        "index": st.sampled_from([0, 1, None, "0"]),
        "id": st.sampled_from(["a", "b", "", None]),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["f", "g", "", None]),
                "arguments": st.sampled_from(["", "{", '{"n": 3}', "}", None, {"n": 1}, 7]),
            },
        ),
    },
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": TEXT | JSON,
        "reasoning": TEXT,
        "reasoning_content": TEXT,
        "tool_calls": st.lists(FRAGMENT, max_size=3) | JSON,
        "role": st.just("assistant"),
    },
)
PAYLOAD = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "delta": DELTA | JSON,
                    "index": st.sampled_from([0, 1, None]),
                    "finish_reason": st.sampled_from([None, None, None, "stop", "error"]),
                    "logprobs": JSON,
                    "token_ids": st.lists(st.integers(), max_size=3),
                },
            ),
            max_size=2,
        )
        | JSON,
        "usage": st.fixed_dictionaries(
            {"prompt_tokens": st.integers(0, 9), "completion_tokens": st.integers(0, 9)}
        )
        | JSON,
        "error": JSON,
        "message": JSON,
        "detail": JSON,
        "x_groq": st.fixed_dictionaries({"usage": st.fixed_dictionaries({"queue_time": JSON})})
        | JSON,
    },
)
DOCUMENT = PAYLOAD.map(json.dumps) | PAYLOAD.map(lambda p: json.dumps(p, ensure_ascii=False))
DATA = st.tuples(st.sampled_from(["data: ", "data:", "", "error: "]), DOCUMENT).map("".join)
LINE = DATA | st.sampled_from([": ping", "event: error", "event: x", "data:", "data: [DONE]", "id"])
LINE_END = st.sampled_from(["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n"])
STREAM = st.lists(st.tuples(LINE, LINE_END).map("".join), max_size=8).map("".join)
BYTES = STREAM.map(lambda s: s.encode(errors="surrogatepass")) | st.binary(max_size=60)


def outcome(pieces: list[bytes]) -> tuple[list[Chunk], str | None, int]:
    parser = ChatStreamParser(max_line=200, dialect=provider("groq").dialect)
    chunks: list[Chunk] = []
    for at_us, piece in enumerate(pieces):
        chunks += parser.feed(piece, at_us)
    try:
        chunks += parser.close()
        failure = None
    except BackendError as error:
        failure = f"{error.kind} {error.message}"
    return [replace(chunk, at_us=0) for chunk in chunks], failure, parser.skipped


@settings(max_examples=300, deadline=None)
@given(BYTES, st.data())
def test_chunks_do_not_depend_on_the_byte_split(raw: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    edges = [0, *cuts, len(raw)]
    split = [raw[a:b] for a, b in pairwise(edges)]
    single = [raw[i : i + 1] for i in range(len(raw))]
    assert outcome([raw]) == outcome(split) == outcome(single)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXT, max_size=6))
def test_no_character_is_lost_invented_or_broken(contents: list[str]) -> None:
    raw = "".join(
        f"data: {json.dumps({'choices': [{'delta': {'content': c}}]})}\n\n" for c in contents
    )
    end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    parser = ChatStreamParser()
    chunks = parser.feed((raw + end).encode(), 0) + parser.close()
    got = "".join(getattr(chunk, "text", "") for chunk in chunks)
    whole = "".join(contents)
    if "think" not in whole:
        assert got == whole
    assert len(got) <= len(whole)
    assert got.encode().decode() == got


@settings(max_examples=100, deadline=None)
@given(JSON, st.text(max_size=10))
def test_any_message_and_any_arguments_can_be_handled(value: Any, raw: str) -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": value}}
    (sent,) = wire_messages([{"role": "assistant", "tool_calls": [call]}])
    assert isinstance(json.loads(sent["tool_calls"][0]["function"]["arguments"]), dict)
    wire_messages([{"tool_calls": value}, {"tool_calls": [value]}])
    parsed = parse_arguments(raw)
    assert parsed is None or isinstance(parsed, dict)

"""Token counts wherever a server puts them, and the server's own times."""

from __future__ import annotations

from typing import Any

import pytest
from chat_streams import END, USAGE, body, event, parse, usages

from routing.chunks import Finished, TextDelta, TimingReported
from routing.providers import provider
from routing.stream import ChatStreamParser


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


def test_the_servers_times_come_where_they_were_told_and_again_only_when_they_change() -> None:
    def piece(content: str, ms: float) -> str:
        timings = {"prompt_ms": ms, "predicted_ms": 2 * ms}
        return event({"choices": [{"delta": {"content": content}}], "timings": timings})

    raw = piece("a", 1) + piece("b", 1) + piece("c", 5) + END
    parser = ChatStreamParser(dialect=provider("llama.cpp").dialect)
    chunks = parser.feed(raw.encode(), 5) + parser.close()
    first = TimingReported(5, prompt_ms=1, completion_ms=2)
    second = TimingReported(5, prompt_ms=5, completion_ms=10)
    a, b, c = (TextDelta(5, text) for text in "abc")
    assert chunks == [a, first, b, c, second, Finished(5, "stop")]
    assert not any(isinstance(chunk, TimingReported) for chunk in parse(raw)[0])

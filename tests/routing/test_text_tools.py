"""Tool calls that a model wrote as text: called, and never spoken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.chunks import Chunk, Finished, TextDelta, ToolDelta
from routing.text_tools import TextToolCalls
from routing.tool_calls import ToolCallCollector

CALL = '{"name": "look_up", "arguments": {"name": "Maria"}}'
WRITTEN = [
    CALL,
    f" \n{CALL}\n",
    f"```json\n{CALL}\n```\n",
    f"```\n{CALL}",
    f"<tool_call>{CALL}</tool_call>",
    f"<tool_call>\n{CALL}\n</tool_call>\n",
    f"<tool_call>{CALL}",
    '{{"name": "look_up", "arguments": {{"name": "Maria"}}}}',
    '{"name": "look_up", "parameters": {"name": "Maria"}}',
    '{"name": "look_up", "arguments": "{\\"name\\": \\"Maria\\"}"}',
]


def run(pieces: list[str], *more: Chunk) -> list[Chunk]:
    tools = TextToolCalls(["look_up"])
    chunks: list[Chunk] = [TextDelta(1, piece) for piece in pieces]
    return [out for chunk in (*chunks, *more, Finished(2, "stop")) for out in tools.feed(chunk)]


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def calls_of(chunks: list[Chunk]) -> list[tuple[str, object]]:
    collector = ToolCallCollector()
    for chunk in chunks:
        if isinstance(chunk, ToolDelta):
            collector.add(chunk)
    return [(call.name, call.arguments) for call in collector.calls()]


@pytest.mark.parametrize("written", WRITTEN)
@given(data=st.data())
def test_t19_a_written_call_is_called_and_not_spoken(written: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=5)))
    pieces = [written[a:b] for a, b in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    chunks = run([piece for piece in pieces if piece])
    assert text_of(chunks).strip() == ""
    assert calls_of(chunks) == [("look_up", {"name": "Maria"})]
    assert chunks[-1] == Finished(2, "tool_calls")


def test_t05_two_written_calls_are_two_calls() -> None:
    both = run([f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>"])
    assert len(calls_of(both)) == 2
    assert len(calls_of(run([f"[{CALL}, {CALL}]"]))) == 0  # a list alone is text as well
    assert len(calls_of(run([f"```json\n[{CALL}, {CALL}]\n```"]))) == 2


def test_words_before_a_tagged_call_are_spoken() -> None:
    chunks = run(["Let me ", "check. <tool", f"_call>{CALL}</tool_call>"])
    assert text_of(chunks) == "Let me check. "
    assert len(calls_of(chunks)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "Your visit is on Thursday.",
        "{not an object",
        '{"name": "another", "arguments": {}}',
        '{"name": "look_up", "arguments": 3}',
        "```python\nprint(1)\n```",
        "It is 3 < 4 <tool",
        "{" * 20_000,
        "",
    ],
)
def test_all_else_stays_text(answer: str) -> None:
    chunks = run([answer[i : i + 7] for i in range(0, len(answer), 7)])
    assert text_of(chunks) == answer
    assert not calls_of(chunks)
    assert chunks[-1] == Finished(2, "stop")


def test_plain_text_is_not_held_back() -> None:
    tools = TextToolCalls(["look_up"])
    assert tools.feed(TextDelta(1, "Your")) == [TextDelta(1, "Your")]
    assert tools.feed(TextDelta(2, " {")) == [TextDelta(2, " {")]

"""The seam between two backends' texts: no word twice, none missing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.continuation import Seam, continued
from routing.messages import ChatRequest

SAID = "Your next visit is on Thursday, "
REST = "December 10, from 9 to 11 AM. Daniel Brooks will come."
ASK = ChatRequest(messages=({"role": "user", "content": "When?"},))


def joined(said: str, pieces: list[str], *, exact: bool) -> str:
    seam = Seam(said, exact=exact)
    return said + "".join(seam.push(piece) for piece in pieces) + seam.close()


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(
    "rest",
    [
        REST,
        " " + REST,
        SAID + REST,
        SAID.lower() + REST,
        "on Thursday, " + REST,
        "Thursday, " + REST,
        "is on Thursday " + REST,
    ],
)
def test_l01_what_the_rest_repeats_is_dropped(rest: str) -> None:
    assert words(joined(SAID, [rest], exact=False)) == words(SAID + REST)


def test_a_word_in_common_is_no_repetition_where_the_backend_goes_on() -> None:
    assert joined("I know that ", ["that is so."], exact=True) == "I know that that is so."


@pytest.mark.parametrize(
    ("said", "rest", "whole"),
    [
        ("It costs", "forty dollars.", "It costs forty dollars."),
        ("It costs ", " forty dollars.", "It costs forty dollars."),
        ("It is done.", "Anything else?", "It is done. Anything else?"),
        ("It is done", ". Anything else?", "It is done. Anything else?"),
        ("It is done. ", "", "It is done. "),
        ("", "It is done.", "It is done."),
        ("It is done.", "It is done.", "It is done."),
    ],
)
def test_words_stay_apart_and_marks_stay(said: str, rest: str, whole: str) -> None:
    assert joined(said, [rest], exact=True) == whole


TEXT = st.lists(st.sampled_from("the part costs forty dollars and it was, in May.".split()))  # noqa: SIM905


@given(TEXT, TEXT, st.booleans(), st.booleans(), st.data())
def test_any_cutting_of_the_rest_gives_the_same_text(
    first: list[str], second: list[str], again: bool, exact: bool, data: st.DataObject
) -> None:
    said, rest = " ".join(first), " ".join(second)
    rest = f"{said} {rest}" if again else rest
    whole = joined(said, [rest], exact=exact)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rest)), max_size=6)))
    pieces = [rest[a:b] for a, b in zip([0, *cuts], [*cuts, len(rest)], strict=True)]
    assert joined(said, pieces, exact=exact) == whole


@given(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=2, unique=True), st.data())
def test_a_model_that_begins_anew_is_heard_once(text: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(text)))
    said = " ".join(text[:cut]) + " "
    assert words(joined(said, [" ".join(text)], exact=data.draw(st.booleans()))) == text


def test_the_request_for_the_rest() -> None:
    prefix = continued(ASK, SAID, prefixes=True)
    assert prefix.messages[-1] == {"role": "assistant", "content": SAID.rstrip()}
    told = continued(ASK, SAID, prefixes=False)
    assert [m["role"] for m in told.messages] == ["user", "assistant", "user"]
    assert continued(ASK, "  ", prefixes=True) is ASK


def test_a_sentence_that_begins_with_the_last_word_keeps_it() -> None:
    seam = Seam("Close valve two. ", exact=False)
    assert seam.push("Two bolts hold it. ") + seam.close() == "Two bolts hold it. "

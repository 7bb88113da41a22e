"""A decision is understood in many words, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.record.vocabulary import (
    CLASSES,
    EXAMPLES,
    FILLERS,
    JOINERS,
    KINDS,
    NotUnderstood,
    understand,
)


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        (EXAMPLES[0], {"interactive": "low_latency"}),
        (EXAMPLES[1], {"analysis": "gpu"}),
        ("Use low latency inference for live calls.", {"interactive": "low_latency"}),
        ("Send real-time conversation to the fastest provider", {"interactive": "low_latency"}),
        (
            "voice turns go to an ultra\u2011low\u2011latency backend",
            {"interactive": "low_latency"},
        ),
        ("LIVE CALLS: local llama.cpp", {"interactive": "local"}),
        ("run conversational turns on this machine", {"interactive": "local"}),
        ("fall back to GPU servers for deeper analysis", {"analysis": "gpu"}),
        ("batch analysis on GPUs", {"batch": "gpu"}),
        ("long-context review to the GPU", {"long_context": "gpu"}),
        (
            "route interactive turns to low-latency inference; analysis, batch and long-context "
            "work to GPU servers.",
            {
                "interactive": "low_latency",
                "analysis": "gpu",
                "batch": "gpu",
                "long_context": "gpu",
            },
        ),
    ],
)
def test_paraphrases_are_understood(text: str, decided: dict[str, str]) -> None:
    assert understand(text) == decided


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("do not route interactive turns to GPU", 'unknown word "not"'),
        ("don't route interactive turns to GPU", 'unknown word "don\'t"'),
        ("move interactive turns from GPU", 'unknown word "move"'),
        ("interactive turns away from GPU", 'unknown word "away"'),
        ("all but interactive turns to GPU", 'unknown word "but"'),
        ("interactive turns to local or GPU", "one sentence names two classes of backend"),
        ("interactive turns to GPU; live calls to local", "interactive turns go to two classes"),
        ("conversation analysis on GPU", '"interactive" and "analysis" need an "and" between them'),
        ("interactve turns to GPU", 'unknown word "interactve", perhaps "interactive"'),
        ("interactive turns to groq", 'a backend like "groq" is named under lanes, in backends'),
        ("interactive turns", "it names no class of backend"),
        ("GPU", "it names no kind of turn"),
        ("; .", "it names no kind of turn"),
        ("\u0456nteractive to GPU", 'unknown word "\u0456nteractive", perhaps "interactive"'),
        ("low interactive latency turns", 'the word "low" out of its place'),
    ],
)
def test_what_is_not_understood_says_why_and_what_would_be(text: str, why: str) -> None:
    with pytest.raises(NotUnderstood) as raised:
        understand(text)
    assert f"is not understood ({why}); what is understood is like" in str(raised.value)


PHRASES = [(words, kind) for kind, all_words in KINDS.items() for words in all_words]
TARGETS = [(words, name) for name, all_words in CLASSES.items() for words in all_words]


@given(
    st.sampled_from(PHRASES),
    st.sampled_from(TARGETS),
    st.lists(st.sampled_from(["the", "our", "route", "to", "for", "turns", "general"]), max_size=4),
    st.booleans(),
)
def test_every_phrase_pairs_with_every_class_in_either_order(
    kind: tuple[str, str], target: tuple[str, str], between: list[str], kind_first: bool
) -> None:
    ends = [kind[0], target[0]] if kind_first else [target[0], kind[0]]
    text = " ".join([ends[0], "the", *between, ends[1]])
    assert understand(text) == {kind[1]: target[1]}


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzäß", min_size=1, max_size=9), st.integers(0, 6))
def test_one_unknown_word_anywhere_is_enough(word: str, at: int) -> None:
    known = FILLERS | JOINERS | {part for words, _ in PHRASES + TARGETS for part in words.split()}
    words = EXAMPLES[0].split()
    text = " ".join([*words[:at], word, *words[at:]])
    if word in known:
        return
    with pytest.raises(NotUnderstood):
        understand(text)

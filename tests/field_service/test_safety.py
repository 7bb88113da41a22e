"""The safety rules: what must be answered at once, and what must be left to the model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from safety_phrases import DANGERS, HARMLESS

from voiceagent.field_service.safety import (
    SafetyRulesError,
    compile_rules,
    safety_answer,
    spoken_words,
)


@pytest.mark.parametrize(("said", "rule"), DANGERS)
def test_danger_is_answered_by_its_rule(said: str, rule: str) -> None:
    answer = safety_answer(said)
    assert answer is not None
    assert answer.rule == rule


@pytest.mark.parametrize("said", HARMLESS)
def test_harmless_words_are_left_to_the_model(said: str) -> None:
    assert safety_answer(said) is None


def test_there_are_enough_phrases_and_none_twice() -> None:
    said = [phrase for phrase, _ in DANGERS]
    assert len(set(said)) == len(said) >= 40
    assert len(set(HARMLESS)) == len(HARMLESS) >= 40


FILLERS = st.sampled_from(["", "um", "well", "so", "please help", "hello", "okay", "listen"])


@given(st.sampled_from(DANGERS), FILLERS, FILLERS, st.sampled_from([str.upper, str.title, str]))
def test_fillers_and_case_around_a_danger_do_not_hide_it(
    danger: tuple[str, str], before: str, after: str, case: Callable[[str], str]
) -> None:
    assert safety_answer(case(f"{before} {danger[0]} {after}")) is not None


@given(st.sampled_from(DANGERS), st.sampled_from([", ", "... ", " - ", "! ", "\n", "; "]))
def test_punctuation_between_words_does_not_hide_a_danger(
    danger: tuple[str, str], mark: str
) -> None:
    assert safety_answer(danger[0].replace(" ", mark)) is not None


@pytest.mark.parametrize("harmless", HARMLESS)
def test_a_harmless_sentence_does_not_hide_the_danger_after_it(
    harmless: str,
) -> None:
    """Every harmless phrase before every danger: a leftover word must not eat into the next."""
    hidden = [said for said, _ in DANGERS if safety_answer(f"{harmless}. {said}") is None]
    assert hidden == []


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    words = spoken_words(text)
    assert words == spoken_words(words)
    safety_answer(text)


def test_a_very_long_turn_is_read_in_full() -> None:
    assert safety_answer("the heat pump is loud " * 2_000 + "and I smell gas") is not None


@pytest.mark.parametrize("rule", sorted({rule for _, rule in DANGERS}))
def test_an_answer_is_short_and_speakable(rule: str) -> None:
    said = next(phrase for phrase, name in DANGERS if name == rule)
    answer = safety_answer(said)
    assert answer is not None
    assert len(answer.text.split()) <= 45
    assert not set(answer.text) & set("*#_`<>[]{}0123456789\n")


@pytest.mark.parametrize(
    ("signs", "told"),
    [
        ("..  gas", "begins with a gap"),
        ("gas ..", "ends with a gap"),
        ("<nothing> gas", "unknown group"),
        ("gas(leak", "not a word"),
        ("Gas", "not a word"),
        ("", "is empty"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_told(signs: str, told: str) -> None:
    rules = f'words = {{}}\n[[rule]]\nid = "x"\nsigns = ["{signs}"]\nanswer = "Leave."\n'
    with pytest.raises(SafetyRulesError, match=told):
        compile_rules(rules)


def test_the_first_rule_wins_and_harmless_words_count_for_one_rule_only() -> None:
    answer = compile_rules(
        """
        [words]
        bad = ["red*", "very hot"]
        [[rule]]
        id = "first"
        signs = ["<bad> ..1 light|lamp"]
        harmless = ["red light district"]
        answer = "One."
        [[rule]]
        id = "second"
        signs = ["red"]
        answer = "Two."
        """
    )
    expected = {"a reddish old lamp": "first", "very hot light": "first", "red": "second"}
    expected |= {"the red light district": "second", "red one two lamp": "second"}
    assert {said: found.rule for said in expected if (found := answer(said))} == expected
    assert answer("lamp light") is None

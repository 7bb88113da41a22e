"""The role: complete, speakable, and about the right customer."""

from __future__ import annotations

import datetime as dt

import pytest

from voiceagent.field_service.customers import UnknownCustomerError
from voiceagent.field_service.role import load_role

TODAY = dt.date(2026, 12, 1)


def test_the_greeting_names_both_sides() -> None:
    greeting = load_role(None, TODAY).greeting
    assert "Grace" in greeting
    assert "Lakeside" in greeting
    assert "assistant" in greeting


def test_every_text_can_be_spoken() -> None:
    role = load_role(None, TODAY)
    apologies = role.apologies
    texts = [role.greeting, role.idle_prompt]
    texts += [apologies.no_answer, apologies.lost_rest, apologies.not_understood]
    for text in texts:
        assert 3 <= len(text.split()) <= 16
        assert not set(text) & set("$*#_`<>[]{}|\n")


def test_the_vocabulary_is_short_and_holds_the_names() -> None:
    vocabulary = load_role(None, TODAY).vocabulary
    for name in ("Grace Miller", "Daniel Brooks", "Maria Santos", "Summit 24", "Comfort Plus"):
        assert name in vocabulary
    assert len(vocabulary) < 300
    words = vocabulary.split(", ")
    assert len(set(words)) == len(words)


def test_the_safety_rules_come_with_the_role() -> None:
    answer = load_role(None, TODAY).safety("I smell gas")
    assert answer is not None
    assert answer.rule == "gas"


def test_an_unknown_customer_is_told() -> None:
    with pytest.raises(UnknownCustomerError):
        load_role("nobody", TODAY)

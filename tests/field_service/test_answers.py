"""The judge of answers, and the real embedded model on a few questions."""

from __future__ import annotations

import pytest
from answers import Question, ask_all, judge, read_questions

_, QUESTIONS = read_questions()


@pytest.mark.parametrize(
    ("question", "text", "score"),
    [
        (Question("?", expect=("120|hundred",)), "You owe $120.", "right"),
        (Question("?", expect=("two", "maintenance")), "It includes two visits.", "half"),
        (Question("?", expect=("two",)), "I can't say.", "wrong"),
        (Question("?", expect=("2023",), forbid=("yes",)), "Yes, until 2023.", "wrong"),
        (Question("?", outside=True), "I don\u2019t see that in your record.", "right"),
        (Question("?", outside=True), "It costs $100.", "wrong"),
        (Question("?", outside=True, forbid=("100",)), "The office says $100.", "wrong"),
    ],
)
def test_answers_are_judged_by_their_facts(question: Question, text: str, score: str) -> None:
    assert judge(question, text) == score


def test_ten_questions_are_for_the_turn_benchmark_with_one_fact_each() -> None:
    bench = [question for question in QUESTIONS if question.bench]
    assert len(bench) == 10
    assert all(len(question.expect) == 1 and not question.outside for question in bench)
    assert all(len(question.ask.split()) <= 12 for question in bench)


def test_there_are_enough_questions_and_none_twice() -> None:
    assert len({question.ask for question in QUESTIONS}) == len(QUESTIONS)
    tuned = [question for question in QUESTIONS if not question.held]
    assert sum(not question.outside for question in tuned) >= 25
    assert sum(question.outside for question in tuned) >= 8
    assert all(question.expect or question.outside for question in QUESTIONS)


@pytest.mark.models
async def test_the_embedded_model_answers_from_the_record() -> None:
    """Those marked ``smoke``: on temperature 0 each is answered right, in few words."""
    today, questions = read_questions()
    answers = [a async for a in ask_all([q for q in questions if q.smoke], today)]
    assert [(a.question.ask, a.text) for a in answers if a.score != "right"] == []
    assert all(len(a.text.split()) <= 40 for a in answers)
    assert max(a.prompt_tokens for a in answers) <= 700

"""Clauses out of a token stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.phrases import MAX_CLAUSE, MAX_WORD, PhraseSplitter, count_words


def split(text: str, size: int | None = None) -> list[str]:
    """All clauses of a text that arrives `size` characters at a time."""
    splitter = PhraseSplitter()
    clauses = []
    for at in range(0, len(text), size or max(1, len(text))):
        clauses += splitter.push(text[at : at + (size or len(text))])
    return clauses + splitter.flush()


def stripped(text: str) -> list[str]:
    return [clause.strip() for clause in split(text)]


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("My birthday is Jan 1, 1980. Another sentence.", 2),
        ("It costs $3.14.", 1),
        ("That will be 3.14. Thank you!", 2),
        ("It was made in 1998. 3 people came.", 2),
        ("The answer is 42! Next question.", 2),
        ("Dial 555-0123. We are open.", 2),
    ],
)
def test_x01_sentence_ending_in_number(text: str, chunks: int) -> None:
    assert len(split(text)) == chunks


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("Dr. Smith will see you at 3 p.m. in St. Louis.", 1),
        ("Dr. Smith paid 3.14 dollars at example.com. Thanks a lot!", 2),
        ("Mrs. Jones of Acme Inc. Chicago called.", 1),
        ("He lives at 12 Main St. Please go there.", 2),
        ("We open at 9 a.m. Please ring twice.", 2),
        ("See J. K. Rowling at the U.S. Embassy on Feb. 3.", 1),
        ("Take part no. 5 to apt. 7.", 1),
        ("No. I can't do that.", 2),
        ("Use tools e.g. Pliers on it.", 1),
        ("Update to v2.3.1 and open manual.pdf now.", 1),
        ('He said "Stop!" and left.', 1),
        ('He said "Stop!" Then he left.', 2),
        ("Wait... I see it.", 2),
        ("1. Turn it off.\n2. Wait.", 2),
    ],
)
def test_x02_abbreviations_decimals_domains(text: str, chunks: int) -> None:
    assert len(split(text)) == chunks
    for size in (1, 2, 3, 5):
        assert split(text, size) == split(text)


def test_x05_a_sentence_in_italics_is_one_of_its_own() -> None:
    text = "Hello! My name is Henry. *Holds out hand* Nice to meet you."
    assert stripped(text)[2:] == ["*Holds out hand*", "Nice to meet you."]


def test_x11_no_punctuation_is_cut_at_word_edges() -> None:
    text = ("the technician will look at the unit and the valve " * 12)[:600]
    clauses = split(text)
    assert all(len(clause) <= MAX_CLAUSE for clause in clauses)
    assert " ".join(" ".join(clauses).split()) == text.strip()
    assert all(clause[-1].isspace() for clause in clauses[:-1])


def test_x11_an_endless_word_is_bounded() -> None:
    clauses = split("x" * 5000)
    assert max(map(len, clauses)) <= MAX_WORD + 1
    splitter = PhraseSplitter()
    for _ in range(5000):
        splitter.push("x")
        assert len(splitter.pending) <= MAX_WORD + 1


def test_x11_a_long_address_on_the_web_stays_whole() -> None:
    url = "https://example.com/" + "a" * 300
    assert any(url in clause for clause in split(f"Look at {url} for more."))


_PIECES = st.sampled_from(
    [
        *"aB.,!?…;:—-'\"()[]{}<>*_`#|/@$%0 9\n",
        *("Dr. ", "St. ", "p.m. ", " 3.14", "Jan 1, 1980. ", "**", "```\n", "[a b](http://a.b) "),
        *("and ", "The ", "no. ", "é", "你好", "😀", "- ", "1. "),
    ]
)
_TEXT = st.lists(_PIECES, max_size=80).map("".join) | st.text(max_size=300)


@given(_TEXT, st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_x13_no_character_is_lost_and_the_tokens_do_not_matter(text: str, sizes: list[int]) -> None:
    splitter = PhraseSplitter()
    clauses, at, turn = [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        clauses += splitter.push(text[at : at + size])
        at, turn = at + size, turn + 1
    clauses += splitter.flush()
    assert "".join(clauses) == text
    assert all(clauses)
    assert clauses == split(text)


@given(_TEXT, st.lists(st.tuples(st.integers(1, 12), st.integers(0, 5)), min_size=1, max_size=8))
def test_x13_no_character_is_lost_when_deadlines_pass(
    text: str, steps: list[tuple[int, int]]
) -> None:
    splitter = PhraseSplitter()
    clauses, at, turn = [], 0, 0
    while at < len(text):
        size, least = steps[turn % len(steps)]
        clauses += splitter.push(text[at : at + size])
        at, turn = at + size, turn + 1
        taken = splitter.take(least)
        if taken is not None:
            assert count_words(taken) >= max(1, least)
            clauses.append(taken)
    assert "".join(clauses + splitter.flush()) == text
    assert splitter.pending == ""


def test_x14_one_sentence_a_chunk_in_paragraphs() -> None:
    text = (
        "It's the fan's motor. It 'hums', but doesn't start!\n\nWe've seen that before: a worn\n"
        "bearing. Isn't it loud?\n\nI'd replace it. \"Soon.\" That's all"
    )
    clauses = stripped(text)
    assert clauses[:3] == ["It's the fan's motor.", "It 'hums', but doesn't start!", clauses[2]]
    assert "bearing. Isn't" not in " ".join(c for c in clauses if ". Isn" in c)
    for clause in clauses:
        assert sum(clause.count(mark) for mark in ".!?") <= 1


def test_first_clause_may_be_short_later_ones_are_not() -> None:
    text = "Of course, sir, yes, I can do that, and more, too."
    assert stripped(text) == ["Of course,", "sir, yes, I can do that,", "and more, too."]


def test_a_sentence_closes_a_clause_however_short() -> None:
    assert stripped("Yes. No! Why? Okay") == ["Yes.", "No!", "Why?", "Okay"]


def test_a_clause_leaves_as_soon_as_its_end_is_certain() -> None:
    splitter = PhraseSplitter()
    assert splitter.push("Of course,") == []
    assert splitter.push(" ") == ["Of course, "]
    assert splitter.push("it costs 3.") == []  # the point of "3.14"?
    assert splitter.push(" ") == []
    assert splitter.push("T") == ["it costs 3. "]


@pytest.mark.parametrize("text", ["Look at 8:00 today", "It is 1,250 in all", "a well-known thing"])
def test_marks_inside_words_and_numbers_close_nothing(text: str) -> None:
    assert split(text) == [text]


def test_a_link_is_not_cut() -> None:
    text = "Please look at [our site, the new one](http://a.b), which has it all."
    assert any("[our site, the new one](http://a.b)" in clause for clause in split(text))


def test_lines_of_a_list_are_clauses_and_wrapped_lines_are_not() -> None:
    assert stripped("Here you go:\n- the fan\n- the coil\n\nand a line\nthat wraps") == [
        "Here you go:",
        "- the fan",
        "- the coil",
        "and a line\nthat wraps",
    ]


def test_l07_a_stalled_clause_is_given_out_as_it_stands() -> None:
    splitter = PhraseSplitter()
    assert splitter.push("Sorry, did you mean which swim") == []
    assert splitter.take(2) == "Sorry, did you mean "
    assert splitter.pending == "which swim"
    assert splitter.push("ming pool?") + splitter.flush() == ["which swimming pool?"]


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("I can send a technician on Tuesday between eight", "I can send a technician on Tuesday "),
        ("the filter needs to be replaced soon", "the filter needs "),
        ("that would be 1,25", "that would be "),
        ("call us at 555 0123", "call us "),
        ("please see Dr. Smith", "please see "),
        ("we met on Jan 1", "we met "),
        ("Okay", None),
        ("supercali", None),
        ("see [our web site](http", None),
    ],
)
def test_take_cuts_at_a_breath_and_never_inside(text: str, taken: str | None) -> None:
    splitter = PhraseSplitter()
    splitter.push(text)
    assert splitter.take(2) == taken


def test_take_wants_enough_words() -> None:
    splitter = PhraseSplitter()
    splitter.push("one two three fo")
    assert splitter.take(4) is None
    assert splitter.take(3) == "one two three "


def test_code_and_reasoning_do_not_use_up_the_short_first_clause_unless_they_have_words() -> None:
    splitter = PhraseSplitter()
    splitter.push("---\n")
    assert splitter.push("Of course, yes ") == ["---\nOf course, "]

# ruff: noqa: RUF001 (the signs are what is tested)
"""What is read aloud for what a model writes."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.phrases import PhraseSplitter
from audio.speakable import (
    PronunciationError,
    Pronunciations,
    SpokenText,
    Token,
    load_pronunciations,
    speakable,
    spoken,
)


def say(text: str) -> str:
    return spoken(speakable(text))


def say_stream(text: str, size: int) -> str:
    """As the application does it: tokens into clauses, clauses into words."""
    splitter, reply = PhraseSplitter(), SpokenText()
    tokens: list[Token] = []
    for at in range(0, len(text), size):
        for clause in splitter.push(text[at : at + size]):
            tokens += reply.feed(clause)
    for clause in splitter.flush():
        tokens += reply.feed(clause)
    return spoken(tokens)


def test_x05_a_sentence_in_italics_is_set_apart() -> None:
    text = "Hello! My name is Henry. *Holds out hand* Nice to meet you."
    expected = "Hello! My name is Henry. Holds out hand. Nice to meet you."
    assert say(text) == expected
    assert all(say_stream(text, size) in (expected, expected.replace("hand.", "hand"))
               for size in (1, 2, 5))  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_x06_markdown_signs_are_not_read(size: int) -> None:
    text = "**bold** `code` # Head\n- item\n1. one [site](http://a.b)"
    assert say_stream(text, size) == "bold code Head. item. one. site"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2 * 3", "two times three"),
        ("2*3 is six", "two times three is six"),
        ("snake_case is kept", "snake case is kept"),
        ("__init__ and _this_ one", "init and this one"),
        ("***very*** ~~old~~ **new", "very old new"),
        ("> quoted\n> lines", "quoted. lines"),
        ("- [ ] open\n- [x] done\n", "open. done."),
        ("## Head ##\ntext", "Head. text"),
        ("| part | price |\n|---|--:|\n| fan | $5 |", "part, price. fan, five dollars"),
        ("a\n\n---\n\nb", "a. b"),
        ("See the [manual](http://x.y/z) for it", "See the manual for it"),
        ("![a fan](f.png) here", "a fan here"),
        ("As noted[1] and [2].", "As noted and."),
        ("<b>bold</b> &amp; so on<br>Next", "bold and so on. Next"),
        ("<https://example.com> is it", "example dot com is it"),
        (r"not \*bold\* here", "not bold here"),
        ("x &lt; 5", "x less than five"),
        ("Great 👍🏽 job 👩‍🔧!", "Great job!"),
        ("1️⃣ First", "First"),
        ("(call first) then go (now).", "call first, then go, now."),
        ("She said \"stop,\" 'now'.", "She said stop, now."),
    ],
)
def test_x06_markup_and_signs(text: str, words: str) -> None:
    assert say(text) == words


def test_x06_a_link_cut_between_clauses_says_its_label_only() -> None:
    reply = SpokenText()
    assert spoken(reply.feed("Look at [our web ")) == "Look at our web"
    assert spoken(reply.feed("site](http://a.b/c) now.")) == "site now."


@pytest.mark.parametrize("size", [1, 2, 3, 11, 1000])
def test_x08_code_blocks_are_not_read(size: int) -> None:
    text = 'Do this:\n```py\nx = {"a": 1}\nprint("hi, there. Yes")\n```\nThat is all.'
    assert say_stream(text, size) == "Do this: That is all."


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_x08_an_unclosed_fence_is_silent_to_the_end_of_its_reply_only(fence: str) -> None:
    reply = SpokenText()
    assert spoken(reply.feed("Like so: ")) == "Like so:"
    assert reply.feed(f"{fence}sh\nrm x\n") == []
    assert reply.feed("echo done. ") == []
    assert say("And that is it.") == "And that is it."


def test_x08_text_on_both_sides_of_an_inline_fence() -> None:
    assert say("Run ```ls -l``` now.") == "Run now."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$49.95", "forty nine dollars and ninety five cents"),
        ("8:00", "eight o clock"),
        ("90210", "nine zero two one zero"),
        ("World War II", "World War two"),
        ("1908", "nineteen oh eight"),
        ("Mrs.", "missus"),
        ("25%", "twenty five percent"),
        ("555-0123", "five five five, zero one two three"),
    ],
)
def test_x09_the_row(text: str, words: str) -> None:
    assert say(text).rstrip(".") == words
    assert say(f"So {text} then") == f"So {words} then"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$1", "one dollar"),
        ("$1.01", "one dollar and one cent"),
        ("$0.50", "fifty cents"),
        ("$1,250.00", "one thousand two hundred fifty dollars"),
        ("$3.2 million", "three point two million dollars"),
        ("$5k", "five thousand dollars"),
        ("$40-$50/hr", "forty to fifty dollars per hour"),
        ("$40–50", "forty to fifty dollars"),
        ("-$5", "minus five dollars"),
        ("a $5 T-shirt", "a five dollar T-shirt"),
        ("€20 or 20 EUR", "twenty euros or twenty euros"),
        ("£1.20", "one pound and twenty pence"),
        ("99¢", "ninety nine cents"),
    ],
)
def test_x09_money(text: str, words: str) -> None:
    assert say(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 p.m.", "three P M."),
        ("at 3:30 PM today", "at three thirty P M today"),
        ("9:05", "nine oh five"),
        ("8:00-10:00", "eight o clock to ten o clock"),
        ("9–11 a.m.", "nine to eleven A M."),
        ("9 a.m.-5 p.m. daily", "nine A M to five P M daily"),
        ("15:30", "fifteen thirty"),
        ("24/7", "twenty four seven"),
        ("12/01/2026", "December first, twenty twenty six"),
        ("2026-12-01", "December first, twenty twenty six"),
        ("13/2/26", "February thirteenth, twenty twenty six"),
        ("Jan 1, 1980", "January first, nineteen eighty"),
        ("March 3-5", "March third to fifth"),
        ("4 March 2005", "the fourth of March, two thousand five"),
        ("by 12/1", "by December first"),
        ("Dec. 24th", "December twenty fourth"),
        ("May 2026", "May twenty twenty six"),
        ("Mon-Fri", "Monday to Friday"),
        ("Tue. or Wed.", "Tuesday or Wednesday."),
        ("the 1980s and '90s", "the nineteen eighties and nineties"),
        ("mid-1990s", "mid nineteen nineties"),
        ("2019–2023", "twenty nineteen to twenty twenty three"),
        ("The cat sat. Jan called in May", "The cat sat. Jan called in May"),
    ],
)
def test_x09_times_and_dates(text: str, words: str) -> None:
    assert say(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("HX-2040B", "H X, two zero four zero B"),
        ("P0420", "P zero four two zero"),
        ("SN 12AB34", "S N one two A B three four"),
        ("unit 4B", "unit four B"),
        ("COVID-19", "COVID nineteen"),
        ("24-hour", "twenty four hour"),
        ("(555) 555-0123", "five five five, five five five, zero one two three"),
        ("1-800-555-0199", "one, eight zero zero, five five five, zero one nine nine"),
        ("+44 20 7946 0958", "four four, two zero, seven nine four six, zero nine five eight"),
        ("63101-1234", "six three one zero one, one two three four"),
        ("ticket 48213", "ticket four eight two one three"),
        ("PIN 0420", "pin zero four two zero"),
        ("order 123456", "order one two three four five six"),
        ("room 305", "room three oh five"),
        ("Call 911 now, or dial 811.", "Call nine one one now, or dial eight one one."),
        ("error 404", "error four zero four"),
        ("221 Baker Street", "two twenty one Baker Street"),
        ("4521 Oak Ave.", "forty five twenty one Oak Avenue."),
        ("192.168.1.1", "one hundred ninety two dot one hundred sixty eight dot one dot one"),
    ],
)
def test_x09_numbers_that_are_names(text: str, words: str) -> None:
    assert say(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("120 PSI", "one hundred twenty P S I"),
        ("72°F", "seventy two degrees Fahrenheit"),
        ("-5 °C", "minus five degrees Celsius"),
        ("68-72°F", "sixty eight to seventy two degrees Fahrenheit"),
        ("3.5 kW", "three point five kilowatts"),
        ("12,000 BTU", "twelve thousand B T U"),
        ("a 24V line of 15A", "a twenty four volt line of fifteen amps"),
        ("a 6-ft ladder", "a six foot ladder"),
        ("5'10\"", "five feet ten inches"),
        ('3/4" pipe', "three quarter inch pipe"),
        ('Press "5" twice', "Press five twice"),
        ('1/2" of it, a 1/2" pin', "one half of an inch of it, a one half inch pin"),
        ("every 3 mos. or so", "every three months or so"),
        ("a 45/5 µF part, 50/50", "a forty five over five microfarad part, fifty fifty"),
        ("208/230V", "two oh eight, two thirty volts"),
        ("for 3–5 sec. until it stops", "for three to five seconds until it stops"),
        ("2–3 hours", "two to three hours"),
        ("10-15%", "ten to fifteen percent"),
        ("1/2", "one half"),
        ("2 1/2 or 2½", "two and a half or two and a half"),
        ("1st, 2nd and 21st", "first, second and twenty first"),
        ("3.14 and .5", "three point one four and zero point five"),
        ("2x4", "two by four"),
        ("3x", "three times"),
        ("10:1", "ten to one"),
        ("#5", "number five"),
        ("5 - 3 = 2", "five minus three equals two"),
        ("1,234,567", "one million two hundred thirty four thousand five hundred sixty seven"),
        ("1000000", "one zero zero zero zero zero zero"),
        ("٣ parts", "three parts"),
    ],
)
def test_x09_quantities(text: str, words: str) -> None:
    assert say(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dr. Lee at 5 Oak Dr. today", "Doctor Lee at five Oak Drive today"),
        ("St. Louis and Main St. too", "Saint Louis and Main Street too"),
        (
            "123 N. Main St. Apt. 4B, St. Louis, MO 63101",
            "one twenty three North Main Street Apartment four B, Saint Louis, Missouri "
            "six three one zero one",
        ),
        ("It is OK, or in IN", "It is okay, or in in"),
        ("Portland, OR.", "Portland, Oregon."),
        ("e.g. pliers, i.e. tools, etc.", "for example pliers, that is tools, et cetera."),
        ("Tom R., who left... so", "Tom R, who left… so"),
        ("part no. is", "part number is"),
        ("No. Part no. 5", "No. Part number five"),
        ("w/ or w/o it", "with or without it"),
        ("Part IV, Type I and II", "Part four, Type one and two"),
        ("the part I need", "the part I need"),
        ("Henry VIII", "Henry the eighth"),
        ("the AC and the A/C", "the A C and the A C"),
        ("DO NOT touch it", "do not touch it"),
        ("OSHA, BTU, LEDs, AT&T", "osha, B T U, L E D's, A T and T"),
        ("the U.S. team", "the U S team"),
        ("and/or", "and or"),
        ("info@my-site.example.com", "info at my dash site dot example dot com"),
        ("https://www.example.com/warranty?x=1", "example dot com slash warranty"),
        ("Go to example.com/a.", "Go to example dot com slash a."),
        ("open manual.pdf", "open manual dot P D F"),
        ("state-of-the-art don't", "state-of-the-art don't"),
        ("Settings > Wi-Fi → Reset", "Settings, WiFi, Reset"),
        ("well — yes … no", "well, yes… no"),
    ],
)
def test_x09_short_forms(text: str, words: str) -> None:
    assert say(text) == words


@pytest.mark.parametrize(
    "pieces",
    [
        ["<thi", "nk>", "plan", "</th", "ink>", "Hello."],
        ["<think>plan. More, much more.\n\nAnd code ```x```</think>\n\nHello."],
        ["<thinking>a</thinking>", "<reasoning>b. </reasoning>Hello."],
        ["plan that began in the prompt</think>", "Hello."],
    ],
)
def test_l19_reasoning_is_never_spoken(pieces: list[str]) -> None:
    splitter, reply = PhraseSplitter(), SpokenText()
    clauses = [clause for piece in pieces for clause in splitter.push(piece)]
    tokens = [token for clause in clauses + splitter.flush() for token in reply.feed(clause)]
    assert spoken(tokens) == "Hello."


@pytest.mark.parametrize("text", ["<think>plan", "<think>plan. And so on, and on. Hello", "<think"])
def test_l19_unclosed_reasoning_is_an_empty_reply(text: str) -> None:
    assert say_stream(text, 3) == ""


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "saveAnswer({..})",
        'saveAnswer({"a": "}) no", "b": [1, 2]})',
        '<tool_call>{"name": "f", "arguments": {"x": "Yes. No."}}</tool_call>',
        '<tool_call name="f">\n{"a": 1}\n',
        '{"name": "f", "arguments": {"x": "a \\"quoted\\" } brace"}}',
        '{{"name": "f", "arguments": {"x": 1}}}',
        '[{"name": "f"}, {"name": "g"}]',
        '[TOOL_CALLS] [{"name": "f", "arguments": {}}]',
        '{"name": "f", "arguments": {"a": 1}',
        'get_customer(customer_id="C-100", full=True)',
        "<|python_tag|>get_customer.call()",
        '```json\n{"name": "f"}\n```',
    ],
)
def test_t19_tool_calls_are_never_spoken(text: str, size: int) -> None:
    assert say_stream(text, size) == ""


def test_t19_text_around_a_tool_call_is_spoken() -> None:
    text = 'One moment. {"name": "f", "arguments": {"x": [1, "}"]}} Here it is.'
    assert say_stream(text, 2) == "One moment. Here it is."
    assert say_stream("Let me look. <tool_call>{}</tool_call>Fine.", 1) == "Let me look. Fine."


def test_t19_braces_in_prose_do_not_mute() -> None:
    assert say("Use {name} here, and a smile {-: too") == "Use name here, and a smile: too"
    reply = SpokenText()
    assert spoken(reply.feed("A brace { ")) == "A brace"
    assert spoken(reply.feed("is only a brace.")) == "is only a brace."


_PIECES = st.sampled_from(
    [
        *"aBxI.,!?…;:—-–'\"()[]{}<>*_`~#|/\\@&%$€°£0123 9\n",
        *("Dr. ", "St. ", " p.m.", " 3.14", "Jan 1, 1980. ", "**", "```", "<think>", "</think>"),
        *('{"a":', "[x](http://a.b)", "http://a.com/b ", "1/2", "°F", "World War II", "½", "5'"),
        *("\u0300", "é", "你", "😀", "²", "٣", "1️⃣", "HX-2040B", "and ", "\0", "\ud800", "&amp;"),
    ]
)
_TEXT = st.lists(_PIECES, max_size=60).map("".join) | st.text(max_size=200)


@given(_TEXT)
def test_spans_are_ordered_and_inside_and_no_sign_survives(text: str) -> None:
    splitter, reply = PhraseSplitter(), SpokenText()
    for clause in splitter.push(text) + splitter.flush():
        end = 0
        for token in reply.feed(clause):
            assert end <= token.start < token.end <= len(clause)
            end = token.end
            assert token.spoken == token.spoken.strip()
            assert token.spoken
            assert not re.search(r"[*_#`~|<>\[\]{}()\\^\"/@&%$\d\0]", token.spoken)


@given(_TEXT)
def test_a_clause_alone_reads_like_the_first_of_a_reply(text: str) -> None:
    assert speakable(text) == SpokenText().feed(text)


def test_spans_point_at_the_source() -> None:
    text = "**Pay** $49.95 for [the part](http://a.b), _now_."
    read = {text[t.start : t.end]: t.spoken for t in speakable(text)}
    assert read["Pay"] == "Pay"
    assert read["$49.95"] == "forty nine dollars and ninety five cents"
    assert set(read) >= {"for", "the", "now_."}
    assert read["now_."] == "now."


def test_long_input_takes_time_in_proportion() -> None:
    """No pattern may explode: hostile repetitions of 4,000 characters are read like any text."""
    for piece in (
        "((((",
        "[[[[",
        "****",
        "____",
        "1-1-",
        "1,1,",
        "a.a.",
        '"5"5',
        "A/A/",
        "<a <a",
        "x.",
    ):
        speakable(piece * (4000 // len(piece)))


def test_pronunciation_table(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text('[words]\nacme = "ack me"\nGIF = "/ʤˈɪf/"\n"QX-9" = "Q X nine"\n', "utf-8")
    reply = SpokenText(load_pronunciations(path))
    tokens = reply.feed("Acme's GIF, the gif of QX-9.")
    assert spoken(tokens) == "ack me's GIF, the gif of Q X nine."
    assert [t.phonemes for t in tokens if t.phonemes] == ["ʤˈɪf"]


def test_the_packaged_table_is_valid_and_used() -> None:
    table = Path(__file__).parents[2] / "audio" / "pronunciations.toml"
    assert load_pronunciations(table)
    assert len(tomllib.loads(table.read_text(encoding="utf-8"))["words"]) > 10
    assert say("Charge it with R-410A.") == "Charge it with R four ten A."


@pytest.mark.parametrize(
    "content",
    [
        "words = 3",
        "[words]\na = 3",
        '[words]\n"two words" = "x"',
        '[words]\na = ""',
        '[words]\na = "**"',
        '[other]\na = "b"',
        "not toml",
        f'[words]\na = "{"x" * 200}"',
    ],
)
def test_a_wrong_table_is_one_clear_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "words.toml"
    path.write_text(content, "utf-8")
    with pytest.raises(PronunciationError):
        load_pronunciations(path)


def test_a_table_of_too_many_words_is_refused() -> None:
    with pytest.raises(PronunciationError):
        Pronunciations({f"w{i}": "x" for i in range(10_001)})

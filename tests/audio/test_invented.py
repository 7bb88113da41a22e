import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.invented import Evidence, why_invented

CLEAR = Evidence(no_speech_prob=0.04, avg_logprob=-0.13, loudest_dbfs=-20)


def evidence(
    no_speech_prob: float = 0.04,
    avg_logprob: float = -0.13,
    loudest_dbfs: float = -20,
    prompt: str | None = None,
) -> Evidence:
    return Evidence(no_speech_prob, avg_logprob, loudest_dbfs, prompt)


# Text, no_speech_prob and avg_logprob as Whisper base gave them.
INVENTED = [
    ("you", 0.92, -0.53),  # zeros
    ("Thank you.", 0.85, -0.76),  # pink noise at -60 dBFS
    ("Thanks for watching!", 0.64, -1.20),  # a cough
    ("I'm going to put the oil in the pan.", 0.84, -1.54),  # white noise
    ("I don't know. I don't know. I don't know.", 0.63, -1.04),  # clicks
    ("BAM!", 0.69, -1.69),  # clicks
    ("Okay.", 0.85, -1.49),  # brown noise
    (". .", 0.90, -2.00),
]
SPOKEN = [
    ("Thank you.", 0.04, -0.13),
    ("Thank you.", 0.02, -0.17),  # in noise at 5 dB
    ("Thanks.", 0.04, -0.28),
    ("Bye.", 0.02, -0.51),
    ("Okay.", 0.17, -0.58),
    ("Hello", 0.01, -0.42),
    ("Yes", 0.06, -0.50),
    ("Yeah, yeah, yeah.", 0.16, -0.30),
    ("No, no, no, no, no, no, no", 0.17, -0.36),
    ("10 of clubs", 0.08, -0.58),
    ("5 5", 0.22, -0.72),
    ("Yeah.", 0.44, -0.81),  # "uh" in noise at 5 dB
    ("Thank you for watching.", 0.01, -0.06),
    ("29340", 0.06, -0.34),
]


@pytest.mark.parametrize(("text", "no_speech_prob", "avg_logprob"), INVENTED)
def test_what_whisper_wrote_for_noise_is_dropped(
    text: str, no_speech_prob: float, avg_logprob: float
) -> None:
    assert why_invented(text, evidence(no_speech_prob, avg_logprob))


@pytest.mark.parametrize(("text", "no_speech_prob", "avg_logprob"), SPOKEN)
def test_what_people_said_is_kept(text: str, no_speech_prob: float, avg_logprob: float) -> None:
    assert why_invented(text, evidence(no_speech_prob, avg_logprob)) is None


def test_s02_thank_you_for_watching_over_noise_is_dropped() -> None:
    assert why_invented("Thank you for watching.", evidence(no_speech_prob=0.9)) == "no speech"


@pytest.mark.parametrize("text", ["Thank you.", "Thanks for watching!", "You", "Bye-bye."])
def test_a_phantom_phrase_is_dropped_on_any_doubt_and_kept_without(text: str) -> None:
    assert why_invented(text, CLEAR) is None
    assert why_invented(text, evidence(no_speech_prob=0.4)) == "phantom phrase"
    assert why_invented(text, evidence(avg_logprob=-0.9)) == "phantom phrase"
    assert why_invented(text, evidence(loudest_dbfs=-60)) == "phantom phrase"


@pytest.mark.parametrize("text", ["My boiler is broken.", "What time is it?", "5 5"])
def test_one_doubt_is_not_enough_against_other_text(text: str) -> None:
    for doubt in (evidence(0.4), evidence(avg_logprob=-0.9), evidence(loudest_dbfs=-60)):
        assert why_invented(text, doubt) is None


@pytest.mark.parametrize(
    "text",
    ["Subtitles by the Amara.org community", "Transcription by CastingWords", "www.otter.ai"],
)
def test_credits_are_dropped_on_any_doubt(text: str) -> None:
    assert why_invented(text, evidence(no_speech_prob=0.35)) == "phantom phrase"


def test_s04_the_prompt_said_back_over_quiet_sound_is_dropped() -> None:
    quiet = evidence(loudest_dbfs=-55, prompt="Okay.")
    assert why_invented("Okay. Okay. Okay.", quiet) == "prompt echoed"
    assert why_invented("okay", quiet) == "prompt echoed"
    spoken = evidence(prompt="Okay.")
    assert why_invented("Okay.", spoken) is None


def test_s04_one_sentence_of_the_prompt_said_back_is_dropped_and_its_names_are_not() -> None:
    prompt = "The customer is Dana Whitfield. The boiler is an HX-2040B."
    doubtful = evidence(avg_logprob=-0.9, prompt=prompt)
    assert why_invented("The customer is Dana Whitfield.", doubtful) == "prompt echoed"
    assert why_invented("Dana Whitfield.", doubtful) is None


def test_s04_repetition_over_doubtful_sound_is_dropped_whatever_the_prompt() -> None:
    assert why_invented("Yeah. Yeah. Yeah.", evidence(no_speech_prob=0.4)) == "repetition"
    assert why_invented("Yeah. Yeah. Yeah.", CLEAR) is None


def test_a_decoder_that_goes_round_in_circles_is_dropped_however_sure_it_is() -> None:
    assert why_invented("and the next one " * 12, CLEAR) == "repetition"


def test_a_long_honest_sentence_is_no_repetition() -> None:
    text = (
        "And so my fellow Americans ask not what your country can do for you, "
        "ask what you can do for your country."
    )
    assert why_invented(text, CLEAR) is None


@pytest.mark.parametrize("text", ["", " ", "...", "[Music]", "(applause)", "*coughs*", "♪♪", "[ ]"])
def test_what_has_no_words_is_dropped(text: str) -> None:
    assert why_invented(text, CLEAR) == "no words"


@given(
    st.text(max_size=200),
    st.floats(0, 1),
    st.floats(-10, 0),
    st.floats(-120, 0),
    st.none() | st.text(max_size=20),
)
def test_more_doubt_never_makes_a_text_believed(
    text: str, no_speech: float, logprob: float, dbfs: float, prompt: str | None
) -> None:
    if why_invented(text, Evidence(no_speech, logprob, dbfs, prompt)):
        worse = Evidence((1 + no_speech) / 2, logprob - 0.5, dbfs - 6, prompt)
        assert why_invented(text, worse)

"""The voice: its sound, its pauses, and when each word is heard. With the real model."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from voice_fixture import shared_voice  # noqa: F401 (the fixture "voice")

from audio.pcm import level_dbfs, to_float
from audio.phrases import PhraseSplitter
from audio.speak import SAMPLE_RATE, Spoken, Voice
from audio.speakable import Pronunciations, SpokenText, speakable

MS = SAMPLE_RATE // 1000


async def say(voice: Voice, text: str, speed: float = 1.0, pause: bool = True) -> Spoken:
    return await voice.speak(speakable(text), text=text, speed=speed, pause=pause)


def voiced(spoken: Spoken) -> NDArray[np.int16]:
    return spoken.pcm[: spoken.voiced_samples]


def loud_ms(pcm: NDArray[np.int16], above_dbfs: float = -45.0) -> NDArray[np.bool_]:
    """For each 5 ms of sound, whether it is louder than that."""
    frames = to_float(pcm[: len(pcm) // 120 * 120]).reshape(-1, 120)
    power = np.square(frames, dtype=np.float64).mean(axis=1)
    return power > 10.0 ** (above_dbfs / 10.0)


def gaps(spoken: Spoken, least_ms: int) -> list[tuple[int, int]]:
    """Stretches of silence inside the clause: first and last millisecond."""
    loud = np.flatnonzero(loud_ms(voiced(spoken)))
    return [
        (int(a + 1) * 5, int(b) * 5)
        for a, b in pairwise(loud)
        if (int(b) - int(a) - 1) * 5 >= least_ms
    ]


async def test_silence_around_a_clause_is_ours(voice: Voice) -> None:
    for text in ("Hello there.", "Okay,", "See you.", "The fan stops"):
        spoken = await say(voice, text)
        assert spoken.pcm.dtype == np.int16
        loud = np.flatnonzero(loud_ms(spoken.pcm, -52.0)) * 5
        assert loud[0] <= 10
        assert spoken.voiced_samples / MS - loud[-1] <= 40
        assert not spoken.pcm[spoken.voiced_samples :].any()


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Okay,", 120, 180),
        ("Okay.", 300, 350),
        ("Okay?", 300, 400),
        ("Okay", 0, 0),
        ("Okay —", 120, 180),
    ],
)
async def test_pauses_are_natural_and_never_awkward(
    voice: Voice, text: str, least: int, most: int
) -> None:
    spoken = await say(voice, text)
    assert least <= (len(spoken.pcm) - spoken.voiced_samples) / MS <= most
    without = await say(voice, text, pause=False)
    assert len(without.pcm) == without.voiced_samples == spoken.voiced_samples


async def test_o08_pauses_are_whole_samples_and_shift_nothing(voice: Voice) -> None:
    first, second = "It is ready.", "We come at eight."
    alone = await say(voice, second)
    reply = b""
    for text in (first, second):
        for speed in (1.0,):
            data = (await say(voice, text, speed)).pcm.tobytes()
            assert len(data) % 2 == 0
            reply += data
    assert reply.endswith(alone.pcm.tobytes())
    for speed in (0.7, 0.9, 1.1, 1.3):  # odd pause lengths
        assert len((await say(voice, first, speed)).pcm.tobytes()) % 2 == 0


async def test_x12_the_end_is_the_same_with_and_without_a_mark(voice: Voice) -> None:
    for word in ("Hello", "Yes", "Thank you", "It is the valve", "Please stop"):
        tails = [
            level_dbfs(to_float(voiced(await say(voice, word + mark))[-50 * MS :]))
            for mark in ("", ".")
        ]
        assert abs(tails[0] - tails[1]) <= 6.0
        assert max(tails) < -30.0


async def test_x12_cuts_do_not_click(voice: Voice) -> None:
    for text in ("Hello.", "Stop", "Bad cat,", "Okay"):
        sound = voiced(await say(voice, text)).astype(int)
        assert abs(sound[0]) <= 2
        assert abs(sound[-1]) <= 2
        edge = np.abs(np.diff(sound))
        assert max(edge[:24].max(), edge[-24:].max()) <= 200


async def test_x11_600_characters_without_a_mark_are_all_spoken(voice: Voice) -> None:
    text = ("the technician will look at the unit and the valve and the fan " * 10)[:600].strip()
    spoken = await say(voice, text)
    assert [text[w.start : w.end] for w in spoken.words] == text.split()
    assert all(a.last_sample <= b.first_sample for a, b in pairwise(spoken.words))
    assert all(w.first_sample < w.last_sample for w in spoken.words)
    assert 25 < spoken.voiced_samples / SAMPLE_RATE < 60


async def test_no_hesitation_where_no_mark_stands(voice: Voice) -> None:
    """Left alone the model stops for 350 ms before these "and"s, which a listener would notice."""
    text = "the technician will look at the unit and the valve and the fan and the coil in a while"
    assert max((b - a for a, b in gaps(await say(voice, text), 5)), default=0) < 100
    text = text.replace(" and", ", and")
    assert max(b - a for a, b in gaps(await say(voice, text), 5)) >= 100
    for wish in ("I can send a technician on Tuesday between eight and ten",
                 "It is the blower motor that has failed because of the heat"):  # fmt: skip
        assert max((b - a for a, b in gaps(await say(voice, wish), 5)), default=0) < 100


async def test_x11_a_word_longer_than_the_model_takes(voice: Voice) -> None:
    for text in ("9" * 120, "a" * 500, "strengths" * 60, "X-" * 150, "aB" * 200):
        spoken = await say(voice, text)
        assert spoken.words
        assert spoken.words[-1].last_sample <= spoken.voiced_samples


async def test_x14_the_pace_stays_even_over_paragraphs(voice: Voice) -> None:
    text = (
        "It's the fan's motor that isn't running anymore. We've seen 'that' before:\n\n"
        "The bearing is worn, so \"it hums\" and doesn't start.\n\nDon't worry. I'd replace the "
        "whole motor next week."
    )
    splitter, reply = PhraseSplitter(), SpokenText()
    paces = []
    for clause in splitter.push(text) + splitter.flush():
        spoken = await voice.speak(reply.feed(clause), text=clause)
        if len(clause.strip()) >= 12:
            paces.append(spoken.voiced_samples / len(clause.strip()))
    assert len(paces) >= 4
    assert max(paces) / min(paces) < 2.0


async def test_words_cover_the_clause_and_point_at_its_source(voice: Voice) -> None:
    text = "**Pay** $49.95 at 8:00, [here](http://a.b) 😀 *now*."
    spoken = await say(voice, text)
    assert [text[w.start : w.end] for w in spoken.words][:4] == ["Pay", "$49.95", "at", "8:00,"]
    assert spoken.words[0].first_sample == 0
    assert spoken.words[-1].last_sample == spoken.voiced_samples
    assert all(
        a.end <= b.start and a.last_sample <= b.first_sample for a, b in pairwise(spoken.words)
    )
    assert spoken.timings_exact


async def test_word_times_agree_with_the_waveform(voice: Voice) -> None:
    """Where the sound falls silent between two words, the times must say so too."""
    texts = (
        "Okay, the fan, the filter, and the coil.",
        "First, turn it low, wait a while, then turn it on.",
        "Yes, the valve, the hose, and the drain.",
        "Today, tomorrow, or Tuesday, can be done.",
        "Bring wire, pliers, foam, and a lamp.",
    )
    errors = []
    for text in texts:
        spoken = await say(voice, text)
        starts = [w.first_sample / MS for w in spoken.words[1:]]
        marked = [w.first_sample / MS for v, w in pairwise(spoken.words) if text[v.end - 1] == ","]
        for begin, end in gaps(spoken, 40):
            nearest = min(starts, key=lambda start, end=end: abs(start - end))
            if nearest in marked:
                errors.append(abs(nearest - end))
                last = max((w for w in spoken.words if w.first_sample / MS < nearest),
                           key=lambda w: w.first_sample)  # fmt: skip
                assert last.last_sample / MS >= begin - 90
    assert len(errors) >= 8
    assert np.median(errors) <= 30.0
    assert max(errors) <= 80.0


@pytest.mark.parametrize("speed", [0.7, 1.4])
async def test_word_times_follow_the_speed(voice: Voice, speed: float) -> None:
    text = "Okay, take two, then call Pat, today."
    usual, changed = await say(voice, text), await say(voice, text, speed)
    assert changed.voiced_samples == pytest.approx(usual.voiced_samples / speed, rel=0.25)
    for a, b in zip(usual.words, changed.words, strict=True):
        expected = a.first_sample * changed.voiced_samples / usual.voiced_samples
        assert b.first_sample == pytest.approx(expected, abs=120 * MS)


async def test_without_known_durations_words_are_spread_and_say_so(
    voice: Voice, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audio.synthesis.KNOWN_GRAPH", "another version")
    other = Voice()
    try:
        assert voice.timings_exact
        assert not other.timings_exact
        text = "The technician comes on Tuesday at ten."
        exact, spread = await say(voice, text), await say(other, text)
        assert not spread.timings_exact
        assert np.array_equal(exact.pcm, spread.pcm)
        assert len(spread.words) == len(exact.words)
        assert (spread.words[0].first_sample, spread.words[-1].last_sample) == (
            0,
            spread.voiced_samples,
        )
        for a, b in zip(exact.words, spread.words, strict=True):
            assert abs(a.first_sample - b.first_sample) <= 400 * MS
    finally:
        other.close()


async def test_the_same_clause_sounds_the_same_whenever_it_is_said(voice: Voice) -> None:
    first = await say(voice, "It is the blower motor.")
    await say(voice, "Something else, and longer than that.")
    again = await say(voice, "It is the blower motor.")
    assert np.array_equal(first.pcm, again.pcm)
    assert first.words == again.words


async def test_clauses_are_about_equally_loud_and_never_clip(voice: Voice) -> None:
    levels = []
    for text in ("Yes.", "Okay,", "That would be four hundred dollars,", "STOP! DO NOT TOUCH IT!",
                 "and the whisper of the fan is soft."):  # fmt: skip
        sound = voiced(await say(voice, text))
        assert np.abs(sound.astype(int)).max() <= 0.9 * 32768
        levels.append(level_dbfs(to_float(sound)))
    assert max(levels) - min(levels) <= 3.0
    assert all(-26.0 < level < -16.0 for level in levels)


async def test_nothing_to_say_is_nothing(voice: Voice) -> None:
    for text in ("", "```x```", "😀", "<think>hm</think>", "**"):
        spoken = await say(voice, text)
        assert (len(spoken.pcm), spoken.words, spoken.voiced_samples) == (0, (), 0)


async def test_what_cannot_be_pronounced_does_not_stop_the_rest(voice: Voice) -> None:
    spoken = await say(voice, "你好 hello Ωμέγα ञ there.")
    assert {"hello", "there."} <= {
        "你好 hello Ωμέγα ञ there."[w.start : w.end] for w in spoken.words
    }
    only = await say(voice, "你好。")
    assert (len(only.pcm), only.words) == (0, ())


async def test_a_pronunciation_is_heard(voice: Voice) -> None:
    text = "Ask Xyqu about it."
    table = Pronunciations({"Xyqu": "/kæt/"})
    usual = await say(voice, text)
    spoken = await voice.speak(SpokenText(table).feed(text), text=text)
    assert [(w.start, w.end) for w in spoken.words] == [(w.start, w.end) for w in usual.words]
    assert not np.array_equal(spoken.pcm[:2000], usual.pcm[:2000]) or len(spoken.pcm) != len(
        usual.pcm
    )


async def test_the_letter_a_is_not_the_article(voice: Voice) -> None:
    letter = await say(voice, "the A/C unit.")
    article = await say(voice, "the a c unit.")
    assert letter.pcm.shape != article.pcm.shape or not np.array_equal(letter.pcm, article.pcm)


@pytest.mark.parametrize("speed", [0.0, 0.4, 2.1, float("nan"), -1.0])
async def test_a_wrong_speed_is_refused(voice: Voice, speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        await say(voice, "Hello.", speed)


async def test_the_loop_runs_while_the_voice_works(voice: Voice) -> None:
    turns = 0
    task = asyncio.ensure_future(
        say(voice, "one two three four five six seven eight nine ten " * 6)
    )
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert (await task).words
    assert turns > 10

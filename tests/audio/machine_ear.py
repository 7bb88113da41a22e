"""A machine that listens: what the voice says, recognised again and compared word by word."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.phrases import PhraseSplitter
from audio.speak import SAMPLE_RATE, Voice
from audio.speakable import SpokenText, speakable, spoken
from audio.transcribe import Recogniser

SENTENCES = Path(__file__).with_name("field_sentences.tsv")
_EAR_RATE = 16_000


def field_sentences() -> list[tuple[str, list[str]]]:
    """Hard sentences of a field-service desk, each with the words a person would say for it."""
    rows = (line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines())
    return [(text, _one_way(words)) for text, words in rows]


async def say(voice: Voice, text: str) -> NDArray[np.float32]:
    """As the application says a reply: clause by clause. 24 kHz."""
    splitter, reply = PhraseSplitter(), SpokenText()
    pcm = [
        (await voice.speak(reply.feed(clause), text=clause)).pcm
        for clause in splitter.push(text) + splitter.flush()
    ]
    return np.concatenate(pcm).astype(np.float32) / 32768


async def hear(recogniser: Recogniser, sound: NDArray[np.float32]) -> list[str]:
    """The words recognised in sound at 24 kHz."""
    heard = soxr.resample(sound, SAMPLE_RATE, _EAR_RATE).astype(np.float32)
    transcript = await recogniser.transcribe(heard, final=True)
    # Whisper writes "10.30 a.m." and "$49.95": read as a person would, like the reference.
    text = re.sub(r"\b(\d{1,2})\.(\d\d) ?([ap])\.?m\b", r"\1:\2 \3m", transcript.text)
    return _one_way(spoken(speakable(text)))


def errors(expected: Sequence[str], heard: Sequence[str]) -> int:
    """Words to insert, delete or replace (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(expected, 1):
        before, row = row, [i]
        for j, other in enumerate(heard, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (word != other)))
    return row[-1]


def _one_way(text: str) -> list[str]:
    """Differences that cannot be heard, or that are the recogniser's spelling, taken out."""
    text = re.sub(r"[^a-z' ]", " ", text.lower().replace("-", " "))
    for written, said in (
        ("o'clock", "o clock"),
        ("mister", "mr"),
        ("missus", "mrs"),
        ("hvac", "h v a c"),
        (" oh ", " zero "),
    ):
        text = text.replace(written, said)
    return text.replace("'", "").split()

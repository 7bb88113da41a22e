"""Text that nobody said.

Whisper writes something for every sound: "you" for silence, "Thank you." for a cough, subtitle
credits for noise. No single number tells it from speech, so several are judged together, and a
phrase is never refused for its words alone: people do say "thank you".

Where the limits come from: `no_speech_prob` was at most 0.44 on speech (14 clips clean, on a
phone line, 30 dB too quiet, in noise down to 5 dB; 20 single words in noise down to 5 dB) and at
least 0.60 on eight kinds of noise from 0.4 to 30 s at -60, -40 and -25 dBFS. `avg_logprob` was
at least -0.95 on what was recognised of the speech. The compression ratio is the one OpenAI's
Whisper uses against loops (`transcribe.py`, `compression_ratio_threshold`).
"""

import re
import zlib
from dataclasses import dataclass

NO_SPEECH = 0.45
"""`no_speech_prob` above this is no speech, whatever the text."""
IMPROBABLE = -1.3
"""`avg_logprob` below this is a guess, whatever the text."""
LOOP_RATIO = 2.4
"""Text that compresses more than this is the decoder going round in circles."""

# Any one of these casts a doubt; then a phrase known to be invented is not believed.
_DOUBT_NO_SPEECH = 0.3
_DOUBT_LOGPROB = -0.7
_DOUBT_DBFS = -50.0

# Said by Whisper to noise and silence; all but the credits are also said by people.
_PHANTOMS = frozenset(
    {
        "you",
        "thank you",
        "thanks",
        "thank you very much",
        "thank you so much",
        "thanks for watching",
        "thank you for watching",
        "thanks for listening",
        "thank you for listening",
        "thank you for watching this video",
        "please subscribe",
        "please subscribe to my channel",
        "like and subscribe",
        "see you next time",
        "see you in the next video",
        "i ll see you in the next video",
        "bye",
        "bye bye",
        "i m sorry",
        "oh",
        "the end",
        "music",
        "applause",
        "silence",
    }
)
_CREDITS = re.compile(
    r"amara org|castingwords|otter ai|opensubtitles|subtitles by|captions by|subtitled by"
    r"|transcribed by|transcription by|translated by"
)
_ASIDE = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a recognised text besides its words."""

    no_speech_prob: float
    """Whisper's probability that the sound holds no speech, asked without a prompt."""
    avg_logprob: float
    """Mean log-probability of the text's tokens, the end of text included."""
    loudest_dbfs: float
    """Level of the loudest tenth of a second."""
    prompt: str | None = None
    """What the recogniser was told to expect, which it may say back."""

    @property
    def doubtful(self) -> bool:
        """Whether anything at all speaks against the text."""
        return (
            self.no_speech_prob > _DOUBT_NO_SPEECH
            or self.avg_logprob < _DOUBT_LOGPROB
            or self.loudest_dbfs < _DOUBT_DBFS
        )


def why_invented(text: str, evidence: Evidence) -> str | None:
    """Why `text` is taken for invented, in two or three words for a log; None if it is believed."""
    words = _words(_ASIDE.sub(" ", text))
    if not words:
        return "no words"
    if evidence.no_speech_prob > NO_SPEECH:
        return "no speech"
    if evidence.avg_logprob < IMPROBABLE:
        return "improbable"
    if _compression(text) > LOOP_RATIO:
        return "repetition"
    if not evidence.doubtful:
        return None
    unit = _repeated_unit(words)
    phrase = " ".join(unit)
    if phrase in _PHANTOMS or _CREDITS.search(phrase):
        return "phantom phrase"
    if unit in _sentences(evidence.prompt or ""):
        return "prompt echoed"
    if len(words) >= 3 * len(unit):
        return "repetition"
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _sentences(prompt: str) -> list[list[str]]:
    """The prompt, and each of its sentences, as what they are a repetition of."""
    parts = [prompt, *re.split(r"[.!?]+", prompt)]
    return [_repeated_unit(words) for words in map(_words, parts) if words]


def _repeated_unit(words: list[str]) -> list[str]:
    """The shortest run of words that the whole is a repetition of; the whole if it is none."""
    for length in range(1, len(words) // 2 + 1):
        if len(words) % length == 0 and words[:length] * (len(words) // length) == words:
            return words[:length]
    return words


def _compression(text: str) -> float:
    data = text.encode()
    return len(data) / len(zlib.compress(data))

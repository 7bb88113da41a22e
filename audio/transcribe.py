"""Speech to text: Whisper through CTranslate2, made fast enough for a conversation.

Whisper is trained on windows of 30 s and most of its time goes into them, mostly silence here.
A window of `max(length + 1 s, 12 s)` recognises short speech as well in a third of the time; with
less silence than that after the words the decoder loops. One thread: for work this small a second
one costs more than it gives. Weights are used in int8 (twice as fast as float32, the same words).

The features are our own (`audio.mel`) and CTranslate2 is used through its public interface, so
nothing depends on another package's internals; its version is checked all the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audio.invented import Evidence, why_invented
from audio.mel import log_mel
from audio.model_file import ModelError
from audio.pcm import loudest_dbfs
from audio.worker import Busy, Worker

__all__ = ["Busy", "Recogniser", "Transcript"]

SAMPLE_RATE: Final = 16_000
MEASURED_WITH: Final = "4.8.5"
"""The version of CTranslate2 that the window, the limits and the times were measured with."""

_SHORTEST_WINDOW_S = 12.0
_PADDING_S = 1.0
_LONGEST_PIECE = 29 * SAMPLE_RATE  # with the padding it fills Whisper's 30 s
_EARLIEST_CUT = 20 * SAMPLE_RATE
_TOKENS_PER_S = 7.0  # fast speech has five; a loop is stopped here
_SPARE_TOKENS = 10
_LONGEST_PROMPT = 100  # tokens; Whisper's own limit is 224


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was recognised in one piece of sound."""

    text: str
    """The words; empty when there were none or they were taken for invented."""
    no_speech_prob: float
    """Whisper's probability that there is no speech; the least one, of several pieces."""
    avg_logprob: float
    """Mean log-probability of a token; the mean over the pieces by their length."""
    rejected: str | None
    """Why the text was taken for invented (see `audio.invented`); then `text` is empty."""
    audio_ms: int
    """Length of the sound given."""
    took_us: int
    """Time spent computing, in microseconds, without the waiting in the queue."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    no_speech_prob: float
    avg_logprob: float
    rejected: str | None
    samples: int
    took_us: int


class Recogniser:
    """The model, loaded once and shared, in a thread of its own with a short queue before it."""

    def __init__(
        self,
        folder: Path,
        *,
        language: str = "en",
        beam_size: int = 1,
        threads: int = 1,
        queue_limit: int = 8,
    ) -> None:
        """Load a Whisper model in CTranslate2's format, with its tokenizer.json, from `folder`.

        `language` is Whisper's code and is never overridden by what the sound seems to be;
        `beam_size` 5 costs 15 to 45 ms a call and repairs a word in a hundred; `threads` is for
        one call; `queue_limit` is how many calls may wait. Raises ModelError when the files, the
        language or the installed CTranslate2 will not do.
        """
        import ctranslate2  # here and not above: these cost 0.1 s and 30 MB
        import tokenizers

        _check_version(version("ctranslate2"))
        self._storage = ctranslate2.StorageView.from_array
        try:
            self._model = ctranslate2.models.Whisper(
                str(folder), device="cpu", compute_type="int8", intra_threads=threads
            )
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # both libraries raise whatever they like
            raise ModelError(f"recogniser: cannot load {folder}: {error}") from error
        if self._model.n_mels != 80:
            raise ModelError(f"recogniser: {folder} wants {self._model.n_mels} mel bands, not 80")
        self._start = self._start_tokens(language)
        self._beam_size = beam_size
        self._worker = Worker("recogniser", queue_limit=queue_limit)

    async def transcribe(
        self, pcm: NDArray[np.float32], *, final: bool, prompt: str | None = None
    ) -> Transcript:
        """Recognise sound at 16 kHz, shape [n], float32; any length, also none.

        A final goes before partials and raises Busy only when the queue is full; a partial raises
        Busy as soon as anything waits. Sound of more than 29 s is cut where it is quietest and
        each piece is a call of its own; of a partial only the last 29 s are recognised, so that
        its cost does not grow. `prompt` gives names and words to expect (100 tokens at most count).
        Cancelling drops what has not begun.
        """
        sound = pcm if final else pcm[-_LONGEST_PIECE:]
        pieces = []
        for piece in _pieces(sound.copy()):
            call = partial(self._recognise, piece, prompt)
            pieces.append(await self._worker.run(call, urgent=final))
        return _joined(pieces, audio_ms=len(pcm) * 1000 // SAMPLE_RATE)

    def warm(self) -> None:
        """Run once, blocking, so that the first turn is as fast as the later ones.

        Raises ModelError if CTranslate2 does not take what it is given: here, not in a turn.
        """
        try:
            self._recognise(np.zeros(SAMPLE_RATE, np.float32), None)
        except TypeError as error:
            raise ModelError(f"recogniser: this CTranslate2 will not do: {error}") from error

    def close(self) -> None:
        """Stop the thread; a call that runs is waited for, those that wait fail."""
        self._worker.close()

    def _recognise(self, pcm: NDArray[np.float32], prompt: str | None) -> _Piece:
        began = perf_counter_ns()
        seconds = len(pcm) / SAMPLE_RATE
        window_s = max(seconds + _PADDING_S, _SHORTEST_WINDOW_S)
        padded = np.zeros(int(window_s * SAMPLE_RATE), np.float32)
        padded[: len(pcm)] = pcm
        encoded = self._model.encode(self._storage(log_mel(padded)[None]))
        hint = self._prompt_tokens(prompt)
        most = _SPARE_TOKENS + int(_TOKENS_PER_S * seconds)
        result = self._decode(encoded, [*hint, *self._start], most)
        tokens = result.sequences_ids[0]
        text = self._tokenizer.decode(tokens).strip()
        # The score is the mean without the end of text; OpenAI's avg_logprob counts it.
        avg_logprob = float(result.scores[0]) * len(tokens) / (len(tokens) + 1)
        # After a prompt Whisper takes nearly everything for speech (noise came down from 0.6 and
        # more to 0.2), so whether there is any is asked again without one.
        asked = self._decode(encoded, self._start[:1], 1) if hint else result
        no_speech = float(asked.no_speech_prob)
        rejected = why_invented(text, Evidence(no_speech, avg_logprob, loudest_dbfs(pcm), prompt))
        took_us = (perf_counter_ns() - began) // 1000
        return _Piece("" if rejected else text, no_speech, avg_logprob, rejected, len(pcm), took_us)

    def _decode(self, encoded: Any, start: list[int], most: int) -> Any:
        """Decode at most `most` tokens after `start`; a ctranslate2 WhisperGenerationResult."""
        (result,) = self._model.generate(
            encoded,
            [start],
            beam_size=self._beam_size,
            max_length=len(start) + most,
            return_scores=True,
            return_no_speech_prob=True,
        )
        return result

    def _start_tokens(self, language: str) -> list[int]:
        names = ["<|startoftranscript|>"]
        if self._model.is_multilingual:
            names += [f"<|{language}|>", "<|transcribe|>"]
        elif language != "en":
            raise ModelError(f"recogniser: this model knows English only, not {language!r}")
        names.append("<|notimestamps|>")
        return [self._token(name) for name in names]

    def _prompt_tokens(self, prompt: str | None) -> list[int]:
        if not prompt or not prompt.strip():
            return []
        tokens = self._tokenizer.encode(" " + prompt.strip(), add_special_tokens=False).ids
        return [self._token("<|startofprev|>"), *tokens[-_LONGEST_PROMPT:]]

    def _token(self, name: str) -> int:
        token: int | None = self._tokenizer.token_to_id(name)
        if token is None:
            raise ModelError(f"recogniser: the tokenizer has no {name}")
        return token


def _check_version(installed: str) -> None:
    if installed != MEASURED_WITH:
        raise ModelError(
            f"recogniser: CTranslate2 {installed} is installed, but {MEASURED_WITH} is needed: "
            "the short window relies on how that version behaves"
        )


def _pieces(pcm: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    """The sound in pieces that fit the window, cut in the quietest tenth of a second there is."""
    while len(pcm) > _LONGEST_PIECE:
        frame = SAMPLE_RATE // 10
        frames = pcm[_EARLIEST_CUT:_LONGEST_PIECE].reshape(-1, frame)
        quietest = int(np.argmin(np.mean(np.square(frames), axis=1)))
        cut = _EARLIEST_CUT + quietest * frame + frame // 2
        yield pcm[:cut]
        pcm = pcm[cut:]
    yield pcm


def _joined(pieces: list[_Piece], audio_ms: int) -> Transcript:
    text = " ".join(piece.text for piece in pieces if piece.text)
    weights = [max(1, piece.samples) for piece in pieces]
    return Transcript(
        text=text,
        no_speech_prob=min(piece.no_speech_prob for piece in pieces),
        avg_logprob=float(np.average([piece.avg_logprob for piece in pieces], weights=weights)),
        rejected=None if text else pieces[0].rejected,
        audio_ms=audio_ms,
        took_us=sum(piece.took_us for piece in pieces),
    )

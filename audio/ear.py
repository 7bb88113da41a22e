"""The ear of one session: sound in, what the voice in it does out.

It turns a stream of samples into four events (somebody started, still speaks, paused, went on)
and keeps the sound of the utterance for whoever recognises it. It decides nothing about turns:
how long a pause must be to mean an end is the conversation's business, which then says
`close_utterance`.

    quiet --Started--> voiced --Paused--> paused --Resumed--> voiced
                       voiced, paused --close_utterance--> quiet

Pure computing, no clock and no thread: about 0.1 ms for each 32 ms of sound, so it runs on the
event loop itself. The same stream gives the same events however it is cut into pieces.
Positions are counts of samples at 16 kHz from the session's first; `Ear.position` is now. The
resampler makes them 3 ms late at most (6 ms from 8 kHz), see `audio.resample`.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from audio.edges import PHRASE, REACH, begins, ends
from audio.pcm import to_float
from audio.resample import Resampler
from audio.ring import Ring
from audio.vad import SAMPLE_RATE, WINDOW, VadModel, VoiceActivity

_PER_MS = SAMPLE_RATE // 1000

END_LAG = 50 * _PER_MS
"""How long the detector goes on hearing a voice that has ended, in samples: the median over the
test clips at the default `release` (quartiles 46 and 60 ms), the true end taken from the energy.
What is taken off where the energy itself shows no end (`audio.edges`).
`scripts/bench_hearing` measures it again."""

ONSET_LAG = 27 * _PER_MS
"""How long a voice has been sounding when the first voiced window begins: the median, likewise
(quartiles 14 and 66 ms; a soft first consonant can be 140 ms, which is what pre-roll is for)."""

_KEPT_UTTERANCES = 8


@dataclass(frozen=True, slots=True)
class EarConfig:
    """When sound counts as a voice. Durations are rounded to the detector's 32 ms windows."""

    threshold: float = 0.5
    """Probability from which a window is voiced, when the one before it was not."""
    release: float = 0.35
    """Probability below which a voice falls silent. Lower than `threshold`: the hysteresis that
    Silero's own iterator uses (threshold - 0.15), so that a wavering voice is not cut up."""
    start_ms: int = 64
    """How long a voice must last to be somebody speaking and not a click."""
    pause_ms: int = 100
    """How long silence must last to be a pause and not a stop consonant."""
    pre_roll_ms: int = 300
    """Sound kept from before the onset: the first consonants are softer than any detector hears."""
    continue_every_ms: int = 200
    """How often a voice that goes on is reported."""
    max_buffer_s: int = 60
    """Sound kept at most; the beginning of a longer utterance is forgotten."""

    def __post_init__(self) -> None:
        if not 0.0 < self.release <= self.threshold < 1.0:
            raise ValueError("it must be that 0 < release <= threshold < 1")
        if min(self.start_ms, self.pause_ms, self.continue_every_ms, self.max_buffer_s) <= 0:
            raise ValueError("start_ms, pause_ms, continue_every_ms, max_buffer_s must be positive")
        if not 0 <= self.pre_roll_ms < 1000 * self.max_buffer_s:
            raise ValueError("pre_roll_ms must fit into max_buffer_s")


_DEFAULT = EarConfig()


@dataclass(frozen=True, slots=True)
class Started:
    """Somebody began to speak at `onset`; it is certain at `sample`."""

    utterance: int
    sample: int
    onset: int


@dataclass(frozen=True, slots=True)
class Continued:
    """The voice still goes on at `sample`. Who hears none of these for long has lost the sound."""

    utterance: int
    sample: int


@dataclass(frozen=True, slots=True)
class Paused:
    """The voice stopped at `last_voiced` (the detector's lag taken off); certain at `sample`."""

    utterance: int
    sample: int
    last_voiced: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The same utterance goes on at `sample` after a pause."""

    utterance: int
    sample: int


EarEvent = Started | Continued | Paused | Resumed


class _Phase(Enum):
    QUIET = "nobody speaks"
    VOICED = "somebody speaks"
    PAUSED = "somebody spoke and may go on"
    MANUAL = "the client says where turns begin and end"


def _windows(ms: int) -> int:
    return max(1, round(ms * _PER_MS / WINDOW))


class Ear:
    """One session's hearing. Utterances are numbered from 1 and never share a number."""

    def __init__(self, model: VadModel, input_hz: int, config: EarConfig = _DEFAULT) -> None:
        """Listen to a stream of `input_hz` (any rate `Resampler` takes) with the shared `model`."""
        self._config = config
        self._resampler = Resampler(input_hz, SAMPLE_RATE)
        self._activity = VoiceActivity(model)
        self._ring = Ring(config.max_buffer_s * SAMPLE_RATE)
        self._judged = 0  # position up to which windows were judged
        self._phase = _Phase.QUIET
        self._utterance = 0  # the number given last
        self._open: int | None = None  # where the sound of the current utterance begins
        self._closed: dict[int, tuple[int, int]] = {}  # where that of the last few lies
        self._floor = 0  # sound before this position belongs to an earlier utterance
        self._run = 0  # voiced windows in a row, while quiet
        self._silent = 0  # silent windows in a row, while voiced
        self._last_voiced = 0  # end of the last voiced window
        self._next_continued = 0
        self._cut_in_speech = False

    @property
    def position(self) -> int:
        """How many samples at 16 kHz were heard so far."""
        return self._ring.end

    def push(self, pcm: NDArray[np.int16]) -> list[EarEvent]:
        """Hear the next samples, at the input rate, any number of them; shape [n], int16.

        Returns what became certain by them, in order; mostly nothing.
        """
        events: list[EarEvent] = []
        if self._cut_in_speech:
            self._cut_in_speech = False
            events.append(self._begin(self._floor, self._floor))
        heard = self._resampler.push(pcm)
        self._ring.append(heard)
        if self._phase is not _Phase.MANUAL:
            for probability in self._activity.push(heard):
                self._judged += WINDOW
                event = self._judge(probability, self._judged)
                if event is not None:
                    events.append(event)
        return events

    def audio(self, utterance: int) -> NDArray[np.float32]:
        """The sound of an utterance at 16 kHz, from the pre-roll to now; shape [n], float32.

        Of one that is over it is the sound up to where it was closed, so that who asks a moment
        too late is still answered: for the last few utterances, as far as `max_buffer_s` reaches.
        Raises LookupError for an older one, or one that never was.
        """
        if utterance == self._utterance and self._open is not None:
            start, end = self._open, self._ring.end
        elif utterance in self._closed:
            start, end = self._closed[utterance]
        else:
            raise LookupError(f"no sound is kept of utterance {utterance}")
        return to_float(self._ring.read(start, end))

    def close_utterance(self, utterance: int) -> None:
        """The utterance is over: the next voice is a new one. A number that is not the current
        one is ignored: it comes from a decision that was overtaken.

        If somebody is speaking right now, the next push starts the new utterance at once, with
        the very next sample: nothing is lost and nothing is heard twice. Otherwise its pre-roll
        may reach back into the silence, but not to the last voiced sample.
        """
        if utterance != self._utterance or self._open is None:
            return
        self._cut_in_speech = self._phase is _Phase.VOICED and self._silent == 0
        self._floor = self._ring.end if self._cut_in_speech else self._last_voiced
        self._keep(self._open)
        self._hush()

    # Manual turns: the client, not the detector, says where a turn begins and ends.

    def begin_manual(self) -> None:
        """Stop detecting; from here on sound is only collected, for `commit`."""
        self.clear()
        self._phase = _Phase.MANUAL
        self._cut_in_speech = False

    def end_manual(self) -> None:
        """Detect again, from here on. Sound collected and not committed is dropped."""
        self.clear()
        self._hush()
        self._activity.reset()
        self._judged = self._ring.end

    def clear(self) -> None:
        """Forget the sound heard so far: what comes now does not reach back over this point."""
        self.close_utterance(self._utterance)
        self._floor = self._ring.end

    @property
    def uncommitted(self) -> int:
        """Samples at 16 kHz a manual `commit` would take now, as far as they are kept."""
        return self._ring.end - max(self._floor, self._ring.start)

    def commit(self) -> int:
        """Close a manual turn with everything since the last `commit` or `clear`.

        Returns its number, for `audio`. The resampler is
        emptied, so that not even its last 3 ms are left for the next turn. Raises RuntimeError
        when turns are not manual.
        """
        if self._phase is not _Phase.MANUAL:
            raise RuntimeError("commit is for manual turns; call begin_manual first")
        self._ring.append(self._resampler.push(np.zeros(0, np.int16), last=True))
        self._utterance += 1
        self._keep(self._floor)
        self._floor = self._ring.end
        return self._utterance

    # What one judged window means, `now` being the position at its end.

    def _judge(self, probability: float, now: int) -> EarEvent | None:
        if self._phase is _Phase.QUIET:
            return self._judge_quiet(probability, now)
        if self._phase is _Phase.VOICED:
            return self._judge_voiced(probability, now)
        return self._judge_paused(probability, now)

    def _judge_quiet(self, probability: float, now: int) -> EarEvent | None:
        needed = self._config.release if self._run else self._config.threshold
        self._run = self._run + 1 if probability >= needed else 0
        if self._run < _windows(self._config.start_ms):
            return None
        return self._begin(self._voice_begin(now - self._run * WINDOW - ONSET_LAG), now)

    def _judge_voiced(self, probability: float, now: int) -> EarEvent | None:
        needed = self._config.threshold if self._silent else self._config.release
        if probability >= needed:
            self._silent = 0
            self._last_voiced = now
        else:
            self._silent += 1
            if self._silent >= _windows(self._config.pause_ms):
                self._phase = _Phase.PAUSED
                return Paused(self._utterance, now, self._voice_end(now))
        if now >= self._next_continued:
            self._next_continued += self._config.continue_every_ms * _PER_MS
            return Continued(self._utterance, now)
        return None

    def _judge_paused(self, probability: float, now: int) -> EarEvent | None:
        if probability < self._config.threshold:
            return None
        self._enter_voiced(now)
        return Resumed(self._utterance, now)

    # The detector's word, made exact by the energy nearby where that is clear.

    def _voice_begin(self, near: int) -> int:
        start = max(near - REACH, self._floor, self._ring.start)
        found = begins(self._ring.read(start, near + ONSET_LAG + 2 * WINDOW))
        return near if found is None else start + found

    def _voice_end(self, now: int) -> int:
        near = max(0, self._last_voiced - END_LAG)
        start = max(near - PHRASE, self._open or 0, self._ring.start)
        found = ends(self._ring.read(start, now))
        return near if found is None else start + found

    def _begin(self, onset: int, now: int) -> Started:
        onset = max(onset, self._floor)
        self._utterance += 1
        self._open = max(onset - self._config.pre_roll_ms * _PER_MS, self._floor)
        self._enter_voiced(now)
        return Started(self._utterance, now, onset)

    def _enter_voiced(self, now: int) -> None:
        self._phase = _Phase.VOICED
        self._silent = 0
        self._last_voiced = now
        self._next_continued = now + self._config.continue_every_ms * _PER_MS

    def _keep(self, start: int) -> None:
        """The current utterance ends here; remember where its sound lies."""
        self._closed[self._utterance] = (start, self._ring.end)
        self._closed.pop(self._utterance - _KEPT_UTTERANCES, None)
        self._open = None

    def _hush(self) -> None:
        self._phase = _Phase.QUIET
        self._run = 0

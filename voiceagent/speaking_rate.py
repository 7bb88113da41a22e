"""How fast the voice in use speaks: characters a second of its sound, over all that it has said."""

from __future__ import annotations

ASSUMED = 15.0
"""Characters a second, until the voice has spoken."""
_WEIGHT_S = 10.0
"""The assumption counts as so many seconds of speech."""
_SAMPLES_A_SECOND = 24_000


class SpeakingRate:
    """The X of the speech clock (``rhythm/speech_clock.py``)."""

    def __init__(self) -> None:
        self._characters = ASSUMED * _WEIGHT_S
        self._seconds = _WEIGHT_S

    def spoke(self, characters: int, samples: int) -> None:
        """So many characters took so many samples (24 kHz) of sound."""
        if characters > 0 and samples > 0:
            self._characters += characters
            self._seconds += samples / _SAMPLES_A_SECOND

    @property
    def characters_per_second(self) -> float:
        """Characters over trimmed seconds of audio."""
        return self._characters / self._seconds

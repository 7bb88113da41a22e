"""What a session tells whoever keeps it; see ``voiceagent.keeping``. Nothing in it may block."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voiceagent.listener_clock import ListenerClock
from voiceagent.turn_record import TurnRecord


class Keeps(Protocol):
    """Takes what happens in one session."""

    keep_text: bool
    """Also what was said."""

    def turn(self, record: TurnRecord) -> None:
        """A turn is complete."""

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """Input audio (24 kHz)."""

    def voiced(self, reply: int, text: str, pcm: NDArray[np.int16], sound: int) -> None:
        """A clause's audio (24 kHz) is handed to playout; ``sound`` samples of it are not the
        silence around the words."""

    def ended(self, clock: ListenerClock, began: int) -> None:
        """The session, which began at ``began`` (microseconds of its clock), is over."""


class KeepsNothing:
    """For a session that nobody keeps."""

    keep_text = False

    def turn(self, record: TurnRecord) -> None:
        """Forget it."""

    def heard(self, pcm: NDArray[np.int16]) -> None:
        """Forget it."""

    def voiced(self, reply: int, text: str, pcm: NDArray[np.int16], sound: int) -> None:
        """Forget it."""

    def ended(self, clock: ListenerClock, began: int) -> None:
        """Nothing to do."""

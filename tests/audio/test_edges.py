"""The moments at which a voice begins and ends, found in its energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio.edges import FRAME, begins, ends

Pcm = NDArray[np.int16]


def sound(before: int, voiced: int, after: int, *, level: float = 8_000, floor: float = 8) -> Pcm:
    """A voice (a tone) of so many samples in a quiet room, 16 kHz."""
    noise = np.random.default_rng(before + voiced + after)
    pcm = noise.normal(0, floor, before + voiced + after)
    pcm[before : before + voiced] += level * np.sin(np.arange(voiced) * 0.08)
    return pcm.astype(np.int16)


@given(st.integers(1_000, 3_000), st.integers(800, 8_000), st.integers(1_000, 3_000))
def test_edges_are_found_to_a_frame(before: int, voiced: int, after: int) -> None:
    pcm = sound(before, voiced, after)
    first, last = begins(pcm), ends(pcm)
    assert first is not None
    assert last is not None
    assert abs(first - before) <= FRAME
    assert abs(last - before - voiced) <= FRAME


def test_a_decay_is_part_of_the_voice_until_nobody_hears_it() -> None:
    pcm = sound(1_600, 8_000, 4_000).astype(np.float64)
    decay = np.exp(-np.arange(2_000) / 400)  # 25 dB in 72 ms
    pcm[9_600:11_600] += 8_000 * np.sin(np.arange(2_000) * 0.08) * decay
    end = ends(pcm.astype(np.int16))
    assert end is not None
    assert 9_600 + 900 <= end <= 9_600 + 2_000


def test_a_click_after_the_voice_is_not_its_end() -> None:
    pcm = sound(1_600, 8_000, 4_000)
    pcm[12_000:12_010] = 9_000
    end = ends(pcm)
    assert end is not None
    assert abs(end - 9_600) <= FRAME


@pytest.mark.parametrize(
    "pcm",
    [
        sound(0, 0, 8_000, floor=2_000),  # noise alone
        sound(1_600, 4_000, 1_600, level=300, floor=200),  # a voice in as much noise
        np.zeros(8_000, np.int16),
        sound(0, 500, 500),  # too short to tell
    ],
)
def test_where_nothing_stands_out_nothing_is_said(pcm: Pcm) -> None:
    assert begins(pcm) is None
    assert ends(pcm) is None

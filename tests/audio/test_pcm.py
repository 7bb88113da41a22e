import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.pcm import SILENCE_DBFS, ByteCarry, level_dbfs, loudest_dbfs, to_float, to_int16


@given(st.binary(max_size=400), st.lists(st.integers(0, 50), min_size=1, max_size=10))
def test_o09_bytes_cut_anywhere_reassemble_exactly(data: bytes, sizes: list[int]) -> None:
    carry, samples, at = ByteCarry(), [], 0
    for size in [*sizes, len(data)]:
        samples.append(carry.push(data[at : at + size]))
        at += size
    whole = len(data) & ~1
    assert np.concatenate(samples).tobytes() == data[:whole]


def test_o09_odd_chunks_of_the_report() -> None:
    data = np.arange(2880, dtype="<i2").tobytes()
    carry = ByteCarry()
    first, second = carry.push(data[:4063]), carry.push(data[4063:])
    assert (len(first), len(second)) == (2031, 849)
    assert np.concatenate([first, second]).tolist() == list(range(2880))


def test_samples_outlive_the_callers_buffer() -> None:
    buffer = bytearray(b"\x01\x00\x02\x00")
    samples = ByteCarry().push(buffer)
    buffer[:] = b"\xff\xff\xff\xff"
    assert samples.tolist() == [1, 2]


def test_every_int16_survives_being_a_float() -> None:
    every = np.arange(-32768, 32768).astype(np.int16)
    assert np.array_equal(to_int16(to_float(every)), every)


def test_too_loud_is_clipped_and_not_wrapped() -> None:
    assert to_int16(np.array([1.0, 5.0, -1.0, -5.0], np.float32)).tolist() == [
        32767,
        32767,
        -32768,
        -32768,
    ]


def test_levels() -> None:
    sine = np.sin(np.arange(16_000) / 10).astype(np.float32)
    assert level_dbfs(sine) == pytest.approx(-3.01, abs=0.02)
    assert level_dbfs(np.zeros(10, np.float32)) == SILENCE_DBFS
    assert level_dbfs(np.zeros(0, np.float32)) == SILENCE_DBFS


def test_a_short_word_is_not_made_quiet_by_silence() -> None:
    sound = np.zeros(32_000, np.float32)
    sound[16_000:17_600] = 0.1
    assert loudest_dbfs(sound) == pytest.approx(-20.0, abs=0.01)
    assert level_dbfs(sound) < -30
    assert loudest_dbfs(np.zeros(0, np.float32)) == SILENCE_DBFS

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audio.ring import Ring


@given(
    st.integers(1, 50),
    st.lists(st.integers(0, 120), max_size=12),
    st.integers(-10, 400),
    st.integers(0, 200),
)
def test_holds_the_newest_samples_under_their_own_numbers(
    capacity: int, sizes: list[int], start: int, length: int
) -> None:
    ring, stream = Ring(capacity), np.arange(sum(sizes), dtype=np.int16)
    at = 0
    for size in sizes:
        ring.append(stream[at : at + size])
        at += size
    assert ring.end == len(stream)
    assert ring.start == max(0, len(stream) - capacity)
    wanted = stream[max(start, ring.start) : max(0, start + length)]
    assert ring.read(start, start + length).tolist() == wanted.tolist()


def test_what_was_read_does_not_change_later() -> None:
    ring = Ring(4)
    ring.append(np.array([1, 2, 3], np.int16))
    read = ring.read(0, 3)
    ring.append(np.array([4, 5, 6, 7], np.int16))
    assert read.tolist() == [1, 2, 3]

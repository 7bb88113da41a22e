"""One real voice for all tests that need its sound: loading it takes half a second."""

from collections.abc import Iterator

import pytest

from audio.speak import Voice


@pytest.fixture(scope="session", name="voice")
def shared_voice() -> Iterator[Voice]:
    """The packaged voice; no weights are needed for it."""
    voice = Voice()
    voice.warm()
    yield voice
    voice.close()

"""What all tests share: the order, how long hypothesis may look, and that nothing is kept."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# No deadline: how long an example takes says more of the machine than of the code.
settings.register_profile("all", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=25)
settings.load_profile("all")

# No test writes into the user's own database; those of the store name one of their own.
os.environ.setdefault("VOICEAGENT_STORE_URL", "off")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright's own event loop runs from the first of them to the end,
    and while it runs no other can."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)

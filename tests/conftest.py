"""What all tests share: the order."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright's own event loop runs from the first of them to the end,
    and while it runs no other can."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)

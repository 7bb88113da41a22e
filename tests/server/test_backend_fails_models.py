"""Speech in, sound out, while the low-latency provider (a simulation) fails in every way."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest

from tests.kit.failing_backend import an_answer
from tests.kit.provider_twin import ANSWER, Fault, cut_after, stall_after, status
from tests.kit.real_server import plain, spoken

pytestmark = pytest.mark.models

QUESTION = "When is my next visit?"
FAULTS = {
    "refused": status(503),
    "quota": status(429, retry_after=30),
    "cut": cut_after(20),
    "stalled": stall_after(20, 30),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_l01_l02_the_listener_hears_one_complete_answer(fault: Fault) -> None:
    heard = await an_answer(spoken(QUESTION), fault)
    assert heard.complete, heard.text
    # A recogniser writes numbers and names its own way: no sentence may be missing or doubled.
    said, again = plain(ANSWER), plain(heard.recognised)
    assert SequenceMatcher(None, said, again).ratio() > 0.8, heard.recognised
    assert len(again) < 1.15 * len(said)
    assert heard.asked[1] == 1

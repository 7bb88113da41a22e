"""What tokens cost, and what the price list must say of its figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.candidate import Cost
from routing.prices import Price, cost_usd, load_prices, price_of, read_prices
from routing.providers import PROVIDERS

PRICE = Price(
    provider="p", model="m", input=2.0, cached=0.5, output=8.0, read=date(2026, 1, 1), source="s"
)
ENTRY = """
[[price]]
provider = "p"
model = "m"
input = 1.0
output = 2.0
read = 2026-01-01
source = "somewhere"
"""


def test_every_price_says_where_it_is_from_and_has_a_provider() -> None:
    prices = load_prices()
    names = {known.name for known in PROVIDERS}
    for price in prices.values():
        assert price.provider in names
        assert price.read <= date.today()
        assert len(price.source) > 20
        assert price.cached is None or price.cached <= price.input


def test_hosted_default_models_have_a_price() -> None:
    for known in PROVIDERS:
        if known.base_url is not None:
            price = price_of(known.name, known.default_model or "")
            assert price is not None
            assert price.output > 0


def test_the_embedded_model_costs_nothing_and_an_unknown_one_is_unknown() -> None:
    assert cost_usd(price_of("llama.cpp", "embedded"), 10_000, 0, 10_000) == 0.0
    for known in ("gpu", "groq", "nobody"):
        assert price_of(known, "no-such-model") is None
    assert cost_usd(None, 1, 0, 1) is None


@pytest.mark.parametrize(
    ("prompt", "cached", "completion", "usd"),
    [
        (1_000_000, 0, 0, 2.0),
        (1_000_000, 1_000_000, 0, 0.5),
        (1_000_000, 400_000, 0, 1.4),
        (0, 0, 500_000, 4.0),
        (100, 900, 0, 0.00005),  # no more can be cached than was asked
        (100, -5, 0, 0.0002),
    ],
)
def test_cost(prompt: int, cached: int, completion: int, usd: float) -> None:
    cost: Cost = partial(cost_usd, PRICE)
    assert cost(prompt, cached, completion) == pytest.approx(usd)


def test_cached_tokens_without_a_price_of_their_own_cost_as_the_others() -> None:
    price = read_prices(ENTRY)["p", "m"]
    assert cost_usd(price, 1_000_000, 1_000_000, 0) == pytest.approx(1.0)
    assert cost_usd(replace(price, cached=0.0), 1_000_000, 1_000_000, 0) == 0.0


@given(*[st.integers(0, 10**9)] * 4)
def test_more_tokens_never_cost_less(prompt: int, cached: int, completion: int, more: int) -> None:
    before = cost_usd(PRICE, prompt, cached, completion)
    after = cost_usd(PRICE, prompt + more, cached, completion + more)
    assert before is not None
    assert after is not None
    assert 0 <= before <= after


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (ENTRY + ENTRY, "two prices"),
        (ENTRY.replace("1.0", "-1.0"), "amount of money"),
        (ENTRY.replace("1.0", "true"), "amount of money"),
        (ENTRY.replace("1.0", "nan"), "amount of money"),
        (ENTRY.replace("1.0", '"1"'), "amount of money"),
        (ENTRY.replace("2026-01-01", '"2026"'), "date and a source"),
        (ENTRY.replace("somewhere", ""), "date and a source"),
        (ENTRY.replace("output = 2.0", ""), "output"),
        (ENTRY + "outptu = 1.0", "outptu"),
    ],
)
def test_a_list_that_is_wrong(wrong: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_prices(wrong)

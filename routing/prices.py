"""What tokens cost: the dated figures of ``prices.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

ANY_MODEL = "*"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    provider: str
    model: str
    """``*``: every model of the provider."""
    input: float
    output: float
    cached: float | None = None
    """Prompt tokens that the provider had already; None: they cost as much as the others."""
    read: date
    """When the figures were read."""
    source: str

    def __post_init__(self) -> None:
        for value in (self.input, self.output, self.cached or 0.0):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 <= value < 1e6
            ):
                raise ValueError(f"a price of {self.provider} {self.model} is no amount of money")
        if type(self.read) is not date or not self.source:
            raise ValueError(f"the price of {self.provider} {self.model} needs a date and a source")


def read_prices(text: str) -> Mapping[tuple[str, str], Price]:
    """The prices in TOML, by provider and model. Raises ValueError."""
    prices: dict[tuple[str, str], Price] = {}
    for entry in tomllib.loads(text).get("price", ()):
        price = _price(entry)
        if (price.provider, price.model) in prices:
            raise ValueError(f"{price.provider} {price.model} has two prices")
        prices[price.provider, price.model] = price
    return MappingProxyType(prices)


@cache
def load_prices() -> Mapping[tuple[str, str], Price]:
    """The prices that come with the application, by provider and model."""
    return read_prices(files("routing").joinpath("prices.toml").read_text(encoding="utf-8"))


def price_of(provider: str, model: str) -> Price | None:
    """The price of a model; None where none is known."""
    prices = load_prices()
    return prices.get((provider, model)) or prices.get((provider, ANY_MODEL))


def cost_usd(
    price: Price | None, prompt_tokens: int, cached_tokens: int, completion_tokens: int
) -> float | None:
    """US dollars; None where no price is known. The cached tokens are some of the prompt's.

    ``functools.partial(cost_usd, price)`` is the ``cost`` of a ``routing.candidate.Candidate``.
    """
    if price is None:
        return None
    cached = min(max(cached_tokens, 0), prompt_tokens)
    cached_price = price.input if price.cached is None else price.cached
    spent = (prompt_tokens - cached) * price.input + cached * cached_price
    return (spent + completion_tokens * price.output) / _MILLION


def _price(entry: Any) -> Price:
    try:
        return Price(**entry)
    except TypeError as error:  # a field is missing, or unknown
        raise ValueError(f"prices.toml: {error}") from None

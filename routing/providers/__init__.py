"""The providers that this application knows. One key in the environment is all it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from routing.backend_config import BackendConfig
from routing.providers.base import LaneClass, Provider
from routing.providers.cerebras import CEREBRAS
from routing.providers.gpu import GPU
from routing.providers.groq import GROQ
from routing.providers.llama_cpp import LLAMA_CPP
from routing.providers.sambanova import SAMBANOVA

__all__ = ["PROVIDERS", "Configured", "LaneClass", "Provider", "configured", "provider"]

PROVIDERS: tuple[Provider, ...] = (GROQ, CEREBRAS, SAMBANOVA, GPU, LLAMA_CPP)


@dataclass(frozen=True, slots=True)
class Configured:
    """A provider that may be used, and how it is reached."""

    provider: Provider
    config: BackendConfig


def provider(name: str) -> Provider:
    """The provider of this name. Raises KeyError."""
    return {known.name: known for known in PROVIDERS}[name]


def configured(environ: Mapping[str, str]) -> list[Configured]:
    """What the environment allows, in a fixed order.

    Raises ValueError for a variable that can not be right: it names the variable, not the value.
    """
    found = ((known, known.configured(environ)) for known in PROVIDERS)
    return [Configured(known, config) for known, config in found if config is not None]

"""What a provider is, and how the environment says that it may be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from routing.backend_config import Abilities, BackendConfig
from routing.dialect import GENERAL, Dialect

LaneClass = Literal["low_latency", "gpu", "local"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One kind of server. Holds no key."""

    name: str
    """In records, prices, decisions and logs."""
    title: str
    lane_class: LaneClass
    url_variable: str
    key_variable: str
    model_variable: str
    base_url: str | None = None
    """None: each has its own, so ``url_variable`` makes it usable; else the key does."""
    default_model: str | None = None
    """None: ``model_variable`` must be set too."""
    abilities: Abilities = field(default_factory=Abilities)
    priority_variable: str | None = None
    """Set to a whole number where the server serves by priority: that gives the ability."""
    assumed_first_ms: float
    """To the first speakable text: an assumption that counts until answers were measured."""
    dialect: Dialect = field(default=GENERAL, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """More fields of ``BackendConfig``, such as its bounds."""

    def backend_config(self, **changes: Any) -> BackendConfig:
        """How to reach it. ``changes`` are fields of ``BackendConfig``; ValueError as there."""
        fields: dict[str, Any] = {
            "name": self.name,
            "provider": self.name,
            "url": self.base_url or "",
            "model": self.default_model or "",
            "dialect": self.dialect,
            "abilities": self.abilities,
        }
        return BackendConfig(**fields | dict(self.settings) | changes)

    def configured(self, environ: Mapping[str, str]) -> BackendConfig | None:
        """How to reach it with what the environment says; None where it says nothing.

        Raises ValueError, which names the variable and never repeats its value.
        """
        key = environ.get(self.key_variable, "").strip()
        url = environ.get(self.url_variable, "").strip() or self.base_url
        if not url or (self.base_url is not None and not key):
            return None
        model = environ.get(self.model_variable, "").strip() or self.default_model
        if not model:
            raise ValueError(f"{self.model_variable} is not set: it names the model to ask for")
        changes: dict[str, Any] = {"model": model} | self._priority(environ)
        self._check(self.key_variable, {"api_key": key or None})
        self._check(self.url_variable, {"url": url})
        return self.backend_config(url=url, api_key=key or None, **changes)

    def _check(self, variable: str, fields: dict[str, Any]) -> None:
        sound = {"name": "this backend", "url": "http://localhost", "model": ""}
        try:
            BackendConfig(**sound | fields)
        except ValueError as error:
            message = f"{variable}: {error}"
        else:
            return
        raise ValueError(message)  # here, so that it does not hold on to the other's frame

    def _priority(self, environ: Mapping[str, str]) -> dict[str, Any]:
        text = environ.get(self.priority_variable or "", "").strip()
        if not text:
            return {}
        try:
            priority = int(text[:12])
        except ValueError:
            raise ValueError(f"{self.priority_variable}: a whole number is needed") from None
        return {"priority": priority, "abilities": replace(self.abilities, priority=True)}

"""The language models that settings and environment make available, and the lanes over them.

Holds no decision of its own: the decision record says which kind of turn goes to which, the
router which of those answers.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from routing.backend import Backend, BackendConfig
from routing.candidate import Candidate
from routing.errors import BackendError
from routing.prices import cost_usd, price_of
from routing.providers import PROVIDERS, LaneClass, Provider
from routing.providers.gpu import GPU
from routing.providers.llama_cpp import LLAMA_CPP
from routing.record import BackendFacts, DecisionRecord, TurnKind
from routing.router import Router
from routing.spending import Budget, Spending
from voiceagent.measurements import Measurements
from voiceagent.rhythm.speech_clock import starved_us
from voiceagent.settings import PREFIX, Settings, SettingsError

log = logging.getLogger(__name__)

OWN = "interactive"
"""The name of the server that ``interactive_url`` gives."""
HERE = "this machine"
MEASUREMENTS = "measurements.json"
"""Under the settings' ``home``: what was measured of the backends."""
CHARACTERS_PER_SECOND = 15.0
_VOICE_LEAD = 50_000
"""Microseconds from a clause's text to its sound, for the prediction of starved pauses."""
_ASSUMED_FIRST_MS = 500.0


@dataclass(frozen=True, slots=True)
class Usable:
    """A backend that may be asked, as the record sees it and as it is reached."""

    facts: BackendFacts
    config: BackendConfig
    assumed_first_ms: float

    @property
    def name(self) -> str:
        """In records, decisions and logs."""
        return self.facts.name


def usable_backends(settings: Settings, environ: Mapping[str, str] | None = None) -> list[Usable]:
    """What may be asked beside the embedded model.

    Raises SettingsError for a variable that cannot be right; it does not repeat its value.
    """
    env = dict(os.environ if environ is None else environ) | _of_settings(settings)
    found = [_own(settings)] if settings.interactive_url else []
    for provider in PROVIDERS:
        try:
            config = provider.configured(env)
        except ValueError as error:
            raise SettingsError([f"{error}."]) from None
        if config is not None:
            found.append(Usable(facts_of(provider, config), config, provider.assumed_first_ms))
    return found


def all_facts(
    settings: Settings, environ: Mapping[str, str] | None = None
) -> tuple[BackendFacts, ...]:
    """Every backend that there could be; what makes one unusable is said in it. Holds no key."""
    usable = {one.name: one.facts for one in usable_backends(settings, environ)}
    facts = [usable.pop(OWN)] if OWN in usable else []
    for provider in PROVIDERS:
        if provider is LLAMA_CPP and provider.name not in usable:
            facts.append(embedded_facts(settings))
        else:
            facts.append(usable.get(provider.name) or _unusable(provider))
    return tuple(facts)


def embedded_facts(settings: Settings) -> BackendFacts:
    """The model on this machine."""
    off = None if settings.embedded else "it is not started, since another model answers"
    return _facts(LLAMA_CPP.name, LLAMA_CPP.name, HERE, "local", "*", unusable=off)


def facts_of(provider: Provider, config: BackendConfig) -> BackendFacts:
    """A provider that is configured, as the record sees it."""
    lane_class, host = provider.lane_class, _host(config.base_url())
    priority = config.abilities.priority
    name = provider.name
    return _facts(name, name, host, lane_class, config.model, can_prioritise=priority)


def _facts(
    name: str,
    provider: str,
    host: str,
    lane_class: LaneClass,
    model: str,
    *,
    can_prioritise: bool = False,
    unusable: str | None = None,
) -> BackendFacts:
    price = price_of(provider, model)
    return BackendFacts(
        name=name,
        provider=provider,
        host=host,
        lane_class=lane_class,
        can_prioritise=can_prioritise,
        usd_per_million_input=price.input if price else None,
        usd_per_million_output=price.output if price else None,
        unusable=unusable,
    )


def _unusable(provider: Provider) -> BackendFacts:
    variable = provider.key_variable if provider.base_url else provider.url_variable
    host = _host(provider.base_url) if provider.base_url else ""
    missing = f"{variable} is not set"
    return _facts(provider.name, provider.name, host, provider.lane_class, "", unusable=missing)


def _of_settings(settings: Settings) -> dict[str, str]:
    """The settings that a provider reads as variables, wherever they came from."""
    key = settings.analysis_api_key
    values = {
        GPU.url_variable: settings.analysis_url,
        GPU.model_variable: settings.analysis_model,
        GPU.key_variable: key.get_secret_value() if key else None,
        f"{PREFIX}ANALYSIS_PRIORITY": settings.analysis_priority,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _own(settings: Settings) -> Usable:
    """The server named by ``interactive_url``: taken for low-latency, since that is its purpose."""
    key, url = settings.interactive_api_key, settings.interactive_url or ""
    config = BackendConfig(
        name=OWN,
        url=url,
        model=settings.interactive_model or "",
        api_key=key.get_secret_value() if key else None,
    )
    facts = _facts(OWN, "openai_compatible", _host(url), "low_latency", config.model)
    return Usable(facts, config, _ASSUMED_FIRST_MS)


def _host(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    return f"{f'[{host}]' if ':' in host else host}:{port}"


class Backends:
    """The backends of a running server, and a router for each kind of turn."""

    def __init__(self, settings: Settings, record: DecisionRecord, usable: list[Usable]) -> None:
        """``usable`` holds the embedded model too, where it runs. Raises SettingsError."""
        self.record = record
        budget = Budget(settings.budget_per_call_usd, settings.budget_per_day_usd)
        self.spending = Spending(budget)
        self.measurements = Measurements(settings.home / MEASUREMENTS)
        self._usable = {one.name: one for one in usable}
        self._clients = {one.name: Backend(one.config, now_us=Router.now_us) for one in usable}
        self._plan = record.plan([one.facts for one in usable])

    def router(self, kind: TurnKind) -> Router:
        """A router over the backends that the record gives to this kind of turn.

        Raises SettingsError where it gives none.
        """
        plan = self._plan.of(kind)
        if not plan.candidates:
            raise SettingsError([f"No backend can answer {kind} turns: {plan.reason}"])
        decided = ("decided", "named")
        candidates = [
            self._candidate(one.backend.name, reserve=one.role not in decided)
            for one in plan.candidates
        ]
        starved = partial(starved_us, chars_per_second=CHARACTERS_PER_SECOND, lead_us=_VOICE_LEAD)
        log.info("%s turns go to %s", kind, ", ".join(one.name for one in candidates))
        return Router(
            kind,
            candidates,
            spending=self.spending,
            starved=starved,
            on_decision=self.measurements.add,
        )

    def _candidate(self, name: str, *, reserve: bool) -> Candidate:
        one = self._usable[name]
        price = price_of(one.facts.provider, one.config.model)
        # A server of one's own costs nothing for a token.
        own = one.facts.lane_class != "low_latency" or name == OWN
        return Candidate(
            name,
            self._clients[name],
            assumed_first=round(one.assumed_first_ms * 1_000),
            continues=one.config.abilities.continues,
            cost=(lambda *_tokens: 0.0) if own and price is None else partial(cost_usd, price),
            reserve=reserve,
        )

    async def check(self) -> None:
        """Ask every backend whether it is there; raises BackendError when none is."""
        names = list(self._clients)
        checks = (client.check() for client in self._clients.values())
        results = await asyncio.gather(*checks, return_exceptions=True)
        failures = {}
        for name, result in zip(names, results, strict=True):
            if isinstance(result, BackendError):
                failures[name] = result
                log.warning("a backend cannot be asked now: %s", result)
            elif isinstance(result, BaseException):
                raise result
        if len(failures) == len(names):
            raise next(iter(failures.values()))

    async def aclose(self) -> None:
        """Close the connections, and keep what was measured."""
        self.measurements.write()
        await asyncio.gather(*(client.aclose() for client in self._clients.values()))

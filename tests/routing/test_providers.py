"""Which providers an environment allows, and that it never shows a key."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from asked import failure

from routing.backend import Backend
from routing.backend_config import Abilities, BackendConfig
from routing.providers import PROVIDERS, Provider, configured, provider
from tests.kit.llm_script import event, status
from tests.kit.llm_twin import LlmTwin
from tests.kit.virtual_time import virtual

SECRET = "sk-do-not-show-this-1234567890"
HOSTED = [known for known in PROVIDERS if known.base_url is not None]
OWN = [known for known in PROVIDERS if known.base_url is None]
BY_NAME: Any = {"ids": lambda known: getattr(known, "name", None)}


def only(environ: dict[str, str]) -> BackendConfig:
    (found,) = configured(environ)
    assert found.config.provider == found.provider.name
    assert found.config.dialect is found.provider.dialect
    return found.config


def test_an_empty_environment_allows_nothing() -> None:
    assert configured({}) == []
    blank = {v: " " for p in PROVIDERS for v in (p.key_variable, p.url_variable)}
    assert configured(blank) == []


@pytest.mark.parametrize("known", HOSTED, **BY_NAME)
def test_one_key_is_all_it_takes(known: Provider) -> None:
    config = only({known.key_variable: f" {SECRET}\n"})
    assert (config.name, config.api_key) == (known.name, SECRET)
    assert (config.url, config.model) == (known.base_url, known.default_model)
    assert config.abilities == known.abilities


@pytest.mark.parametrize("known", HOSTED, **BY_NAME)
def test_a_stand_in_and_another_model(known: Provider) -> None:
    environ = {known.url_variable: "http://127.0.0.1:9/v1", known.model_variable: "other"}
    assert configured(environ) == []  # without the key nothing is asked
    config = only(environ | {known.key_variable: SECRET})
    assert (config.url, config.model) == ("http://127.0.0.1:9/v1", "other")


@pytest.mark.parametrize("known", OWN, **BY_NAME)
def test_a_server_of_ones_own_is_named_by_its_url(known: Provider) -> None:
    assert configured({known.key_variable: SECRET}) == []
    environ = {known.url_variable: "http://gpu:8000/v1", known.model_variable: "m"}
    config = only(environ)
    assert (config.url, config.model, config.api_key) == ("http://gpu:8000/v1", "m", None)
    assert only(environ | {known.key_variable: SECRET}).api_key == SECRET


def test_all_of_them_at_once_in_a_fixed_order() -> None:
    environ = {known.key_variable: SECRET for known in HOSTED}
    environ |= {known.url_variable: "http://h/v1" for known in OWN}
    environ["VOICEAGENT_ANALYSIS_MODEL"] = "m"
    assert [found.provider for found in configured(environ)] == list(PROVIDERS)


GPU = {"VOICEAGENT_ANALYSIS_URL": "http://gpu/v1", "VOICEAGENT_ANALYSIS_MODEL": "m"}


def test_the_gpu_server_gets_a_priority_only_when_it_is_told_to() -> None:
    assert not only(GPU).abilities.priority
    config = only(GPU | {"VOICEAGENT_ANALYSIS_PRIORITY": "10"})
    assert config.priority == 10
    assert config.abilities == Abilities(priority=True, continues=True)


@pytest.mark.parametrize(
    ("environ", "variable", "hidden"),
    [
        ({"GROQ_API_KEY": f"{SECRET}\nHost: x"}, "GROQ_API_KEY", SECRET),
        ({"CEREBRAS_API_KEY": "schlüssel-" + SECRET}, "CEREBRAS_API_KEY", SECRET),
        *(
            ({"GROQ_API_KEY": SECRET, "GROQ_BASE_URL": url}, "GROQ_BASE_URL", hidden)
            for url, hidden in (
                (f"https://me:{SECRET}@host/v1", SECRET),
                (f"https://host/v1?key={SECRET}", SECRET),
                ("ftp://sekret.example", "sekret"),
                ("sekret", "sekret"),
                ("http://[sekret", "sekret"),
                ("http://host:sekret/v1", "sekret"),
                ("http://sek ret/v1", "sek ret"),
            )
        ),
        ({"VOICEAGENT_ANALYSIS_URL": "http://gpu/v1"}, "VOICEAGENT_ANALYSIS_MODEL", "gpu/v1"),
        (GPU | {"VOICEAGENT_ANALYSIS_PRIORITY": "sekret"}, "_ANALYSIS_PRIORITY", "sekret"),
    ],
)
def test_what_can_not_be_right_is_one_error_that_names_the_variable(
    environ: dict[str, str], variable: str, hidden: str
) -> None:
    with pytest.raises(ValueError, match=variable) as caught:
        configured(environ)
    chain = (caught.value, caught.value.__cause__)
    assert all(hidden not in str(error) for error in chain)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("known", PROVIDERS, **BY_NAME)
def test_no_repr_shows_the_key(known: Provider) -> None:
    environ = {
        known.key_variable: SECRET,
        known.url_variable: "http://h/v1",
        known.model_variable: "m",
    }
    assert SECRET not in repr(configured(environ)) + repr(known)


def test_no_error_and_no_log_shows_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    @virtual
    async def ask() -> None:
        async with LlmTwin() as twin:
            for known in PROVIDERS:
                config = known.backend_config(url=twin.url, model="m", api_key=SECRET)
                backend = Backend(config)
                twin.will(
                    status(401, f"Incorrect API key provided: {SECRET}"),
                    status(429, f"Rate limit reached for {SECRET}"),
                    status(410, f"{SECRET} is gone"),
                    [event({"x_groq": {"error": f"stopped {SECRET}"}})],
                )
                for _ in range(4):
                    error = await failure(backend)
                    assert SECRET not in str(error) + repr(error) + repr(backend.limits)
                sent = twin.requests[-1].headers["authorization"]
                assert sent == f"Bearer {SECRET}"
                await backend.aclose()

    ask()
    assert SECRET not in caplog.text


def test_names() -> None:
    assert len({known.name for known in PROVIDERS}) == len(PROVIDERS)
    assert provider("llama.cpp").lane_class == "local"
    with pytest.raises(KeyError):
        provider("openai")

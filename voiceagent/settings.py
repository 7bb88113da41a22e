"""The settings: one typed model, and one clear line for whatever is wrong with them.

Sources, later ones win: the defaults below, `voiceagent.toml` in the working directory (or the file
named by VOICEAGENT_CONFIG), the environment (`VOICEAGENT_` and the field's name in capitals), the
command line. Nothing unknown is let pass, since a misspelt setting that is ignored looks like one
that does not work.
"""

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic import model_validator as validates_model
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from audio.weights import default_home, model_names
from voiceagent.security import is_loopback

PREFIX = "VOICEAGENT_"
CONFIG = f"{PREFIX}CONFIG"
DEFAULT_CONFIG = "voiceagent.toml"


class SettingsError(ValueError):
    """Settings that cannot be used. `problems` holds one line for each; no secret is in any."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def _no_switch(value: object) -> object:
    if isinstance(value, bool):  # TOML's `port = true` would otherwise count as 1
        raise ValueError("a number is needed")
    return value


def _separated(value: object) -> object:
    """A list as TOML has it, or words between commas as an environment has them."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def _origin(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError("not an origin")
    return value.rstrip("/")


def _base_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError("not a base URL")
    return value.rstrip("/")


def _store_url(value: SecretStr) -> SecretStr:
    address = value.get_secret_value()
    if address in ("", "off"):
        return value
    parts = urlsplit(address)
    path = parts.path.removeprefix("/")
    if parts.scheme not in ("sqlite", "postgresql", "postgres") or not path:
        raise ValueError("not the address of a database")
    return value


def _folder(value: Path) -> Path:
    return value.expanduser().absolute()


def _accepts(text: str) -> dict[str, Any]:
    return {"accepts": text}


Number = BeforeValidator(_no_switch)
Origins = Annotated[
    tuple[Annotated[str, AfterValidator(_origin)], ...], BeforeValidator(_separated), NoDecode
]
Folder = Annotated[Path, AfterValidator(_folder)]
_ANY_FOLDER = _accepts("the path of a folder")
_TEXT = _accepts("a text that is not empty")


class Settings(BaseSettings):
    """Everything that can be set. Frozen; `load_settings` makes one with helpful errors."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        str_strip_whitespace=True,
    )

    host: str = Field(
        "127.0.0.1", min_length=1, json_schema_extra=_accepts("a name or address of this machine")
    )
    """Where the server listens. Anything but a loopback address needs a `token`."""
    port: Annotated[int, Number] = Field(
        8080, ge=0, le=65535, json_schema_extra=_accepts("a whole number from 0 (any) to 65535")
    )
    home: Folder = Field(default_factory=default_home, json_schema_extra=_ANY_FOLDER)
    """Where the weights are kept; by default the user's cache folder."""
    token: SecretStr | None = Field(
        None, min_length=1, json_schema_extra=_accepts("a secret that clients must show")
    )
    allowed_origins: Origins = Field(
        (), json_schema_extra=_accepts("origins such as https://voice.example.com, with commas")
    )
    """Further pages that may connect, beside the server's own."""
    interactive_url: Annotated[str, AfterValidator(_base_url)] | None = Field(
        None,
        json_schema_extra=_accepts(
            "the base URL of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1"
        ),
    )
    """The language model that answers. None: the embedded llama.cpp."""
    interactive_model: str | None = Field(None, min_length=1, json_schema_extra=_TEXT)
    interactive_api_key: SecretStr | None = Field(None, min_length=1, json_schema_extra=_TEXT)
    analysis_url: Annotated[str, AfterValidator(_base_url)] | None = Field(
        None,
        json_schema_extra=_accepts(
            "the base URL of an OpenAI-compatible server, such as http://127.0.0.1:8001/v1"
        ),
    )
    """A general GPU-backed server for slower analysis, and in reserve for answers."""
    analysis_model: str | None = Field(None, min_length=1, json_schema_extra=_TEXT)
    analysis_api_key: SecretStr | None = Field(None, min_length=1, json_schema_extra=_TEXT)
    analysis_priority: Annotated[int, Number] | None = Field(
        None, json_schema_extra=_accepts("a whole number, where that server serves by priority")
    )
    embedded_model: Literal["auto", "always", "never"] = Field(
        "auto", json_schema_extra=_accepts("auto, always or never")
    )
    """Run a model on this machine too? auto: unless `interactive_url` names another."""
    decision_record: Annotated[Path, AfterValidator(_folder)] | None = Field(
        None, json_schema_extra=_accepts("the path of a decision record (JSON)")
    )
    """Which kind of turn goes to which kind of backend. None: the record that comes along."""
    budget_per_call_usd: Annotated[float, Number] | None = Field(
        None, gt=0, json_schema_extra=_accepts("an amount of US dollars above 0")
    )
    budget_per_day_usd: Annotated[float, Number] | None = Field(
        None, gt=0, json_schema_extra=_accepts("an amount of US dollars above 0")
    )
    record_dir: Folder | None = Field(None, json_schema_extra=_ANY_FOLDER)
    """Where each session's events are written. None: they are not."""
    record_audio: bool = Field(False, json_schema_extra=_accepts("true or false"))
    """Also write what the microphone heard, beside the events."""
    store_url: Annotated[SecretStr, AfterValidator(_store_url)] | None = Field(
        None,
        json_schema_extra=_accepts(
            "sqlite:///PATH, postgresql://USER:PASSWORD@HOST/NAME, or off to keep nothing"
        ),
    )
    """Where sessions are kept; see `database`. None: in a SQLite file in `home`."""
    keep_days: Annotated[int, Number] = Field(
        30, ge=0, le=36_500, json_schema_extra=_accepts("a whole number of days, or 0 for ever")
    )
    """After so many days a session is deleted."""
    keep_text: bool = Field(False, json_schema_extra=_accepts("true or false"))
    """Also keep what was said, beside its rhythm."""
    keep_audio: bool = Field(False, json_schema_extra=_accepts("true or false"))
    """Also keep the sound of both sides, to be played back beside the report."""
    otel: bool = Field(False, json_schema_extra=_accepts("true or false"))
    """Send each turn to OpenTelemetry, as the OTEL_* variables say."""
    max_sessions: Annotated[int, Number] = Field(
        8, ge=1, le=1000, json_schema_extra=_accepts("a whole number from 1 to 1000")
    )
    voice_speed: Annotated[float, Number] = Field(
        1.0, ge=0.5, le=2.0, json_schema_extra=_accepts("a number from 0.5 to 2.0")
    )
    greeting: str | None = Field(
        None, min_length=1, max_length=500, json_schema_extra=_accepts("1 to 500 characters")
    )
    """What the agent says first, instead of the role's own greeting."""
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", json_schema_extra=_accepts("debug, info, warning or error")
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = InitSettingsSource(settings_cls, dict(_read_config()))
        return init_settings, env_settings, file

    @validates_model(mode="after")
    def _belong_together(self) -> "Settings":
        if self.interactive_url is None:
            for name in ("interactive_model", "interactive_api_key"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name} has no effect without interactive_url")
        elif self.interactive_model is None:
            raise ValueError("interactive_url needs interactive_model, the model's name there")
        if self.analysis_url is None and (self.analysis_model or self.analysis_api_key):
            raise ValueError("analysis_model and analysis_api_key have no effect without a URL")
        if self.analysis_url is not None and self.analysis_model is None:
            raise ValueError("analysis_url needs analysis_model, the model's name there")
        if self.record_audio and self.record_dir is None:
            raise ValueError("record_audio needs record_dir, the folder to write to")
        return self

    @property
    def database(self) -> str | None:
        """The address of the store's database, which may hold a password; None: none is kept."""
        if self.store_url is None:
            return f"sqlite:///{self.home / 'voiceagent.db'}"
        address = self.store_url.get_secret_value()
        return None if address in ("", "off") else address

    @property
    def embedded(self) -> bool:
        """Whether a language model runs here."""
        if self.embedded_model == "auto":
            return self.interactive_url is None
        return self.embedded_model == "always"

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose weights these settings need."""
        return model_names(embedded=self.embedded)

    @property
    def url(self) -> str:
        """The page's address as a browser on this machine opens it."""
        anywhere = self.host in ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound
        host = "localhost" if anywhere or is_loopback(self.host) else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def exposed(self) -> str | None:
        """What is unsafe about the address and the token, in a sentence; None: nothing."""
        if is_loopback(self.host) or self.token is not None:
            return None
        return (
            f"Listening on {self.host} lets other machines in, so a token is needed: set "
            f"{PREFIX}TOKEN to a long random text, or {PREFIX}HOST to 127.0.0.1."
        )


def load_settings(options: Mapping[str, object] | None = None) -> Settings:
    """The settings from all sources; `options` are those given on the command line, by field.

    Raises SettingsError naming every wrong or unknown setting, where it came from, and what would
    be accepted.
    """
    given = dict(options or {})
    config = _read_config()
    problems = [_unknown(name, "the environment") for name in _unknown_variables()]
    problems += [_unknown(key, str(_config_path())) for key in config if not _is_field(key)]
    if problems:
        raise SettingsError(problems)
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        raise SettingsError(_wrong(error, given, config)) from None


def _config_path() -> Path:
    return Path(os.environ.get(CONFIG) or DEFAULT_CONFIG)


def _read_config() -> dict[str, Any]:
    """The settings file. None in the working directory is fine; a named one must be there."""
    path = _config_path()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not os.environ.get(CONFIG):
            return {}
        raise SettingsError([f"{CONFIG} names {path}, and there is no such file."]) from None
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}."]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{path} is not valid TOML: {error}."]) from error


def _is_field(name: str) -> bool:
    return name in Settings.model_fields


def _unknown_variables() -> list[str]:
    return [
        name
        for name in sorted(os.environ)
        if name.upper().startswith(PREFIX)
        and name.upper() != CONFIG
        and not _is_field(name[len(PREFIX) :].lower())
    ]


def _unknown(name: str, source: str) -> str:
    """The line for a setting that does not exist, in the spelling of its source."""
    spell: Callable[[str], str] = str
    bare = name.lower()
    if name.upper().startswith(PREFIX):
        spell, bare = _variable, bare[len(PREFIX) :]  # the prefix would make all names alike
    known = list(Settings.model_fields)
    near = difflib.get_close_matches(bare, known, 1) or [full for full in known if bare in full]
    hint = f"did you mean {spell(near[0])}? " if near else ""
    listed = ", ".join(spell(field) for field in known)
    return f"{name} (in {source}) is not a setting; {hint}There are: {listed}."


def _variable(field: str) -> str:
    return f"{PREFIX}{field.upper()}"


def _wrong(
    error: ValidationError, options: Mapping[str, object], config: Mapping[str, object]
) -> list[str]:
    """A line for each value that does not fit. Values of secrets are never repeated."""
    lines = {}
    for detail in error.errors(include_url=False, include_context=False):
        if not detail["loc"]:
            lines[""] = detail["msg"].removeprefix("Value error, ") + "."
            continue
        name = str(detail["loc"][0])
        if name not in Settings.model_fields:
            lines[name] = _unknown(name, "the options")
            continue
        extra = Settings.model_fields[name].json_schema_extra
        accepted = extra["accepts"] if isinstance(extra, dict) else ""
        where, value = _origin_of(name, options, config)
        shown = "this value" if _is_secret(name, value) else repr(value)
        lines[name] = f"{where}: {shown} is not accepted; it takes {accepted}."
    return list(lines.values())


def _is_secret(name: str, value: object) -> bool:
    """Secrets by their type, and whatever someone put where a URL should be: it may be a key."""
    typed = "SecretStr" in str(Settings.model_fields[name].annotation)
    return typed or name.endswith("_url") or "@" in str(value)


def _origin_of(
    name: str, options: Mapping[str, object], config: Mapping[str, object]
) -> tuple[str, object]:
    """Which source the value in force comes from, and the value."""
    if name in options:
        return f"--{name.replace('_', '-')}", options[name]
    for variable, value in os.environ.items():
        if variable.upper() == _variable(name) and value:
            return f"{variable} (in the environment)", value
    return f"{name} (in {_config_path()})", config.get(name)

"""What the commands share: the settings, and how something wrong is said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NoReturn

import typer

from voiceagent.settings import Settings, load_settings


def fail(message: str, code: int = 1) -> NoReturn:
    """End with the message, every line of it marked as an error."""
    for line in message.splitlines():
        typer.echo(f"error: {line}", err=True)
    raise typer.Exit(code)


def settings_with(options: Mapping[str, object] | None = None) -> Settings:
    """The settings, `options` (by field; None means not given) before all other sources.

    The weights folder is handed on in the environment, where `audio`, which knows no settings, and
    the processes that are started find it. Raises SettingsError.
    """
    given = {name: value for name, value in (options or {}).items() if value is not None}
    settings = load_settings(given)
    os.environ["VOICEAGENT_HOME"] = str(settings.home)
    return settings

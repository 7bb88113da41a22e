"""What the server needs, checked one by one; whatever is wrong comes with its remedy."""

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from audio import weights
from audio.weights_files import CHANGE_PLACE, readable_size
from voiceagent.security import is_loopback
from voiceagent.settings import Settings, SettingsError

if TYPE_CHECKING:
    from routing.backend_config import BackendConfig

NEEDED_PYTHON = (3, 11)
BACKEND_WITHIN_S = 2.0
NATIVE = ("numpy", "scipy", "tokenizers", "onnxruntime", "ctranslate2", "xllamacpp", "hibari")
"""Packages with native code: these can be installed and yet not load."""

MEMORY_EMBEDDED = 3_200_000_000
"""All processes together with the embedded language model: this project's own goal."""
MEMORY_REMOTE = 1_200_000_000
"""The same less the language model, which takes 2 GB."""


@dataclass(frozen=True)
class Check:
    """One line: what was looked at, what was found, and what to do where it is not `ok`."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


def examine(settings: Settings, *, verify: bool = False) -> list[Check]:
    """All checks. With `verify` every weight file is hashed again. Changes nothing."""
    return [
        check_python(),
        check_packages(),
        *check_weights(settings, verify=verify),
        check_disk(settings),
        check_memory(settings),
        check_port(settings),
        check_safety(settings),
        *check_backends(settings),
        check_browser(settings),
    ]


def check_python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    remedy = "install Python 3.11 or newer and delete .venv, then run scripts/run"
    return Check("Python", sys.version_info[:2] >= NEEDED_PYTHON, found, remedy)


def check_packages() -> Check:
    """Every required package is installed in the pinned version, and native code loads."""
    wrong = [problem for line in _requirements() if (problem := _package_problem(line))]
    wrong = wrong or [problem for name in NATIVE if (problem := _load_problem(name))]
    if wrong:
        remedy = "run scripts/run, which installs what the lock file names"
        if any("libgomp" in problem for problem in wrong):
            remedy = "install the system's libgomp (Debian, Ubuntu: apt-get install libgomp1)"
        return Check("packages", False, "; ".join(wrong), remedy)
    return Check("packages", True, f"{len(_requirements())} installed, native code loads")


def _requirements() -> list[str]:
    try:
        listed = importlib.metadata.requires("voiceagent") or []
    except importlib.metadata.PackageNotFoundError:
        return ["voiceagent"]
    return [line for line in listed if "extra ==" not in line]


def _package_problem(requirement: str) -> str | None:
    match = re.match(r"([A-Za-z0-9._-]+)\s*(?:==\s*([^;,\s]+))?", requirement)
    assert match is not None, requirement
    name, pinned = match.groups()
    try:
        found = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return f"{name} is not installed"
    return f"{name} is {found}, not {pinned}" if pinned and found != pinned else None


def _load_problem(name: str) -> str | None:
    try:
        importlib.import_module(name)
    except Exception as error:
        return f"{name} does not load ({error})"
    return None


def check_weights(settings: Settings, *, verify: bool) -> list[Check]:
    checks = []
    for status in weights.status(settings.models, verify=verify):
        licence = weights.licence_of(status.file)
        found: str = status.state
        if status.state == "ok":
            found = f"{readable_size(status.file.size)}, {licence}{', verified' if verify else ''}"
        checks.append(
            Check(status.file.path, status.state == "ok", found, "run `voiceagent fetch`")
        )
    return checks


def check_disk(settings: Settings) -> Check:
    """Room for what is still to be fetched, or for recordings where everything is there."""
    folder = _existing(settings.home)
    free = shutil.disk_usage(folder).free
    needed = max(weights.space_needed(settings.models), 100_000_000)
    found = f"{readable_size(free)} free in {folder}, {readable_size(needed)} needed"
    if not os.access(folder, os.W_OK):
        return Check("disk", False, f"{folder} cannot be written", CHANGE_PLACE)
    return Check("disk", free >= needed, found, f"free some space, or {CHANGE_PLACE}")


def _existing(path: Path) -> Path:
    return next(p for p in (path, *path.parents) if p.exists())


def check_memory(settings: Settings) -> Check:
    """Total memory: what is free now changes with every program that is opened."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = MEMORY_EMBEDDED if settings.embedded else MEMORY_REMOTE
    remedy = "set VOICEAGENT_INTERACTIVE_URL and _MODEL to a language model elsewhere"
    found = f"{readable_size(total)}, {readable_size(needed)} needed"
    return Check("memory", total >= needed, found, remedy)


def check_port(settings: Settings) -> Check:
    name = f"port {settings.port}"
    remedy = "stop the program that uses it, or set VOICEAGENT_PORT to another"
    try:
        with socket.create_server((settings.host, settings.port)):
            return Check(name, True, f"free on {settings.host}")
    except OSError as error:
        if _answers_as_ours(settings):
            return Check(name, True, "a voiceagent is running there")
        return Check(name, False, f"{settings.host}: {error.strerror}", remedy)


def _answers_as_ours(settings: Settings) -> bool:
    import httpx

    try:
        answer = httpx.get(f"{settings.url}readyz", timeout=BACKEND_WITHIN_S)
        return "ready" in answer.json()
    except (httpx.HTTPError, ValueError, TypeError):
        return False


def check_safety(settings: Settings) -> Check:
    if settings.exposed:
        return Check("access", False, "open to other machines without a token", settings.exposed)
    who = "clients with the token" if settings.token else "pages and programs on this machine"
    return Check("access", True, f"only {who}")


def check_backends(settings: Settings) -> list[Check]:
    """The decision record, and each backend that it may use; its server within two seconds."""
    from routing.record import RecordError, load_record
    from voiceagent.backends import Usable, all_facts, usable_backends

    try:
        load_record(settings.decision_record)
        usable = {one.name: one for one in usable_backends(settings)}
    except (RecordError, SettingsError) as error:
        return [Check("language model", False, str(error), "mend it, then start again")]
    checks = []
    for facts in all_facts(settings):
        found: Usable | None = usable.get(facts.name)
        if found is not None:
            checks.append(_check_server(found.name, found.config))
        elif facts.unusable is None:
            here = "embedded llama.cpp (its package and weights: see above)"
            checks.append(Check(facts.name, True, here))
        else:
            checks.append(Check(facts.name, True, f"not used: {facts.unusable}"))
    return checks


def _check_server(name: str, config: "BackendConfig") -> Check:
    import httpx

    headers = {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}
    url = f"{config.base_url()}/models"
    try:
        answer = httpx.get(url, headers=headers, timeout=BACKEND_WITHIN_S)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        remedy = "check its URL, and that the server runs"
        return Check(name, False, f"{url}: {error or type(error).__name__}", remedy)
    if answer.status_code in (401, 403):
        return Check(name, False, f"{url} refuses the key", "check the key in the environment")
    ok = answer.status_code < 500 and answer.status_code != 404
    return Check(name, ok, f"{url} answers {answer.status_code}", "check its URL")


def check_browser(settings: Settings) -> Check:
    """A hint more than a check: browsers give the microphone only to a secure context."""
    if is_loopback(settings.host):
        return Check("browser", True, f"open {settings.url}")
    hint = "open it through https (a proxy in front): else browsers withhold the microphone"
    return Check("browser", True, hint)


def show(checks: list[Check], *, as_json: bool) -> None:
    """Print the checks to stdout, as lines for people or as JSON for programs."""
    if as_json:
        import json

        body = {"ok": all(check.ok for check in checks), "checks": [asdict(c) for c in checks]}
        typer.echo(json.dumps(body, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = ("✓", "green") if check.ok else ("✗", "red")
        line = Text.assemble(mark, f" {check.name:<{width}}  {check.found}")
        if not check.ok:
            line.append(f"  → {check.remedy}", "yellow")
        console.print(line)

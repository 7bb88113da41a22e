"""Which model files there are, from what they are joined, and how the right ones are known.

The facts are in `weights.toml` beside this file; here they get types. Everything is frozen.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Needed = Literal["always", "embedded", "tests"]


class WeightsError(RuntimeError):
    """Model files are missing, damaged or cannot be fetched. The message is one clear sentence
    or two, with the remedy, fit to be shown to whoever started the program."""


class SourceError(WeightsError):
    """This source did not serve the file; another one may."""


Arrived = Callable[[str, int], None]
"""Told (what, bytes of it that have arrived so far), from any thread."""


@dataclass(frozen=True)
class Wheel:
    """A package that is downloaded as data. `size` in bytes; `sha256` of the wheel itself."""

    project: str
    version: str
    size: int
    sha256: str

    @property
    def filename(self) -> str:
        return f"{self.project.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True)
class Part:
    """One piece of a model file: a member of a wheel."""

    wheel: Wheel
    member: str


@dataclass(frozen=True)
class WeightFile:
    """One file of a model: its parts joined in order. `size` in bytes, `hub` or None."""

    model: str
    name: str
    size: int
    sha256: str
    parts: tuple[Part, ...]
    hub: str | None

    @property
    def path(self) -> str:
        """Where it lies below the weights folder, e.g. "whisper-base/model.bin"."""
        return f"{self.model}/{self.name}"

    @property
    def partial(self) -> str:
        """The name under which it grows while it is not fetched in wheels."""
        return f"{self.model}-{self.name}.partial"

    @property
    def wheels(self) -> tuple[Wheel, ...]:
        return tuple(dict.fromkeys(part.wheel for part in self.parts))


@dataclass(frozen=True)
class Model:
    """A model and its files. `licence_text` says where the text of the licence is found."""

    name: str
    role: str
    needed: Needed
    licence: str
    licence_text: str
    files: tuple[WeightFile, ...]


Manifest = Mapping[str, Model]


def parse_manifest(text: str) -> dict[str, Model]:
    """Types for the manifest's TOML. Raises KeyError or TypeError where a fact is missing."""
    data = tomllib.loads(text)
    wheels = {project: Wheel(project, **facts) for project, facts in data["wheels"].items()}
    return {name: _model(name, facts, wheels) for name, facts in data["models"].items()}


def _model(name: str, facts: dict[str, Any], wheels: Mapping[str, Wheel]) -> Model:
    return Model(
        name=name,
        role=facts["role"],
        needed=facts["needed"],
        licence=facts["licence"],
        licence_text=facts["licence_text"],
        files=tuple(_file(name, file, about, wheels) for file, about in facts["files"].items()),
    )


def _file(model: str, name: str, facts: dict[str, Any], wheels: Mapping[str, Wheel]) -> WeightFile:
    return WeightFile(
        model=model,
        name=name,
        size=facts["size"],
        sha256=facts["sha256"],
        parts=tuple(Part(wheels[part["wheel"]], part["member"]) for part in facts["parts"]),
        hub=facts.get("hub"),
    )


@cache
def default_manifest() -> Mapping[str, Model]:
    """The manifest that ships with this package."""
    return parse_manifest(files("audio").joinpath("weights.toml").read_text(encoding="utf-8"))


def wheels_of(wanted: Iterable[WeightFile]) -> tuple[Wheel, ...]:
    """The wheels from which `wanted` are made, each once, in order."""
    return tuple(dict.fromkeys(wheel for file in wanted for wheel in file.wheels))

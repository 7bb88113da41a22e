"""A real PostgreSQL for tests: its own folder, a free port of 127.0.0.1, stopped at the end.

Needs PostgreSQL's programs, on the PATH or where Debian has them. It refuses to run as root, so
then it runs as the user ``postgres`` that its package makes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_USER = "voiceagent"


class PostgresMissing(Exception):
    """Its programs are not on this machine."""


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty server's database, such as ``postgresql://me@127.0.0.1:1/postgres``.

    Raises PostgresMissing; CalledProcessError with its output where it does not start.
    """
    folder = Path(tempfile.mkdtemp(prefix="voiceagent-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        data, log = folder / "data", folder / "log"
        _run("initdb", "--pgdata", data, "--username", _USER, "--auth", "trust", "--no-sync")
        port = _free_port()
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        _run("pg_ctl", "start", "--wait", "--pgdata", data, "--log", log, "--options", options)
        try:
            yield f"postgresql://{_USER}@127.0.0.1:{port}/postgres"
        finally:
            _run("pg_ctl", "stop", "--wait", "--pgdata", data, "--mode", "immediate")
    finally:
        shutil.rmtree(folder)


def _run(program: str, *args: str | Path) -> None:
    command = [_found(program), *map(str, args)]
    if os.geteuid() == 0:
        command = ["runuser", "--user", "postgres", "--", *command]
    # Not a pipe: the server would keep it open.
    with tempfile.TemporaryFile("w+") as said:
        ended = subprocess.run(
            command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd="/", timeout=60
        )
        said.seek(0)
        if ended.returncode:
            raise subprocess.CalledProcessError(ended.returncode, command, said.read())


def _found(program: str) -> str:
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), *os.get_exec_path()]
    path = shutil.which(program, path=os.pathsep.join(map(str, reversed(places))))
    if path is None:
        raise PostgresMissing(f"{program} is not here; install PostgreSQL")
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

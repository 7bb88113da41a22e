"""Checking a model's file before a session depends on it."""

import hashlib
from pathlib import Path


class ModelError(RuntimeError):
    """A model cannot be used: its file is missing, damaged or of another version, or the library
    that runs it is not the one this code was measured with. Raised at start-up, never in a turn.
    """


def check_model_file(path: Path, sha256: str, what: str) -> None:
    """Make sure that `path` is exactly the file this code was written for.

    A model that is changed without notice can change its inputs and thresholds with it, so an
    unexpected file is an error and not a warning. Raises ModelError naming `what` and the remedy.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{what}: cannot read {path} ({error.strerror})") from error
    if found != sha256:
        raise ModelError(
            f"{what}: {path} is damaged or another version (sha256 {found[:12]}…, expected "
            f"{sha256[:12]}…); delete it and fetch it again"
        )

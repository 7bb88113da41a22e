"""The package as it would be shipped: with its data, the page and the licence."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import sys, hatchling.build as build; build.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, check=True)
    (path,) = folder.glob("voiceagent-*.whl")
    return zipfile.ZipFile(path)


def files(folder: str, *, as_folder: str) -> set[str]:
    found = (ROOT / folder).rglob("*")
    return {
        f"{as_folder}/{path.relative_to(ROOT / folder)}"
        for path in found
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


@pytest.mark.parametrize(
    ("folder", "as_folder"),
    [
        ("voiceagent", "voiceagent"),
        ("audio", "audio"),
        ("routing", "routing"),
        ("web", "voiceagent/web"),
    ],
)
def test_code_data_and_page_are_shipped(
    wheel: zipfile.ZipFile, folder: str, as_folder: str
) -> None:
    expected = files(folder, as_folder=as_folder)
    assert expected
    assert expected <= set(wheel.namelist())


def test_nothing_else_is_shipped(wheel: zipfile.ZipFile) -> None:
    top = {name.split("/")[0] for name in wheel.namelist()}
    assert top == {"voiceagent", "audio", "routing", "voiceagent-0.1.0.dist-info"}


def test_the_licence_is_shipped_and_is_the_one_named(wheel: zipfile.ZipFile) -> None:
    about = wheel.read("voiceagent-0.1.0.dist-info/METADATA").decode()
    assert "License-Expression: Apache-2.0" in about
    text = wheel.read("voiceagent-0.1.0.dist-info/licenses/LICENSE").decode()
    assert text == (ROOT / "LICENSE").read_text()
    assert "Apache License" in text.splitlines()[1]
    assert "Version 2.0, January 2004" in text.splitlines()[2]

"""The lock files: pinned, hashed, complete, and silent about where packages come from."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins(lock: str) -> dict[str, str]:
    """The pinned version of each package."""
    found = re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / lock).read_text(), re.M)
    assert len(dict(found)) == len(found), "another version on another Python"
    return dict(found)


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in requirements}


@pytest.mark.parametrize("lock", LOCKS)
def test_d05_every_package_is_pinned_with_hashes(lock: str) -> None:
    entries = (ROOT / lock).read_text().replace("\\\n", " ").splitlines()
    assert len(entries) > 30
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+ ", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_place(lock: str) -> None:
    assert not re.search(r"://|file:|--(?!hash=)", (ROOT / lock).read_text())


def test_the_locks_hold_what_the_project_asks_for() -> None:
    needed = names(PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["build"])
    assert needed <= set(pins("requirements.lock"))
    for_tests = names(PROJECT["project"]["optional-dependencies"]["dev"])
    assert needed | for_tests <= set(pins("requirements-dev.lock"))


def test_exact_requirements_are_locked_as_asked() -> None:
    for line in PROJECT["project"]["dependencies"]:
        if "==" in line:
            name, version = line.split("==")
            assert pins("requirements.lock")[name] == version


def test_tests_run_with_the_versions_that_serve() -> None:
    run, develop = (pins(lock) for lock in LOCKS)
    assert {name: develop.get(name) for name in run} == run


def test_the_realtime_client_of_the_tests_is_not_needed_to_serve() -> None:
    assert "openai" not in pins("requirements.lock")


def test_d06_the_package_refuses_an_old_python() -> None:
    assert PROJECT["project"]["requires-python"] == ">=3.11"

"""scripts/run, scripts/test and .ci/run on machines unlike this one (see standin.py)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from standin import Project, make_project

PIP = "ERROR: No matching distribution found for av==18.1.0"
FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def the_error(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a start that failed."""
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def test_first_start_makes_the_environment_from_the_lock_and_serves(project: Project) -> None:
    ended = project.start("scripts/run", "--port", "8081")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == "voiceagent serve --port 8081"
    install = next(call for call in project.calls if "--require-hashes" in call)
    assert install.endswith(f"-r {project.root}/requirements.lock")
    assert "--only-binary :all:" in install


def test_second_start_asks_python_nothing(project: Project) -> None:
    project.start("scripts/run")
    ended = project.start("scripts/run", "--host", "localhost")
    assert ended.stdout == "voiceagent serve --host localhost\n"
    assert project.calls == []


def test_a_changed_lock_is_installed_into_the_same_environment(project: Project) -> None:
    project.start("scripts/run")
    with (project.root / "requirements.lock").open("a") as lock:
        lock.write("\n")
    project.start("scripts/run")
    assert project.installs() == 1
    assert not any("-m venv" in call for call in project.calls)
    project.start("scripts/run")
    assert project.calls == []


def test_a_moved_project_gets_a_new_environment(project: Project, tmp_path: Path) -> None:
    project.start("scripts/run")
    moved = Project(tmp_path / "moved", project.path, project.log)
    shutil.move(project.root, moved.root)
    ended = moved.start("scripts/run")
    assert any("-m venv" in call for call in moved.calls)
    assert ended.stdout.splitlines()[-1] == "voiceagent serve"


def test_d06_an_old_python_is_refused_in_one_sentence(project: Project) -> None:
    error = the_error(project.start("scripts/run", OLD="yes"))
    assert error.startswith("error: Python 3.11 or newer is needed and was not found; install it")


def test_d06_no_python_is_one_sentence(project: Project) -> None:
    (project.path / "python3").unlink()
    assert "Python 3.11 or newer is needed" in the_error(project.start("scripts/run"))


def test_another_python_can_be_named(project: Project) -> None:
    other = project.root / "my python"
    (project.path / "python3").rename(other)
    ended = project.start("scripts/run", PYTHON=str(other))
    assert ended.returncode == 0
    assert project.calls[0].startswith("my python ")


def test_a_missing_venv_module_names_the_package_to_install(project: Project) -> None:
    error = the_error(project.start("scripts/run", NO_VENV="No module named ensurepip"))
    assert "run `apt-get install python3.11-venv` as root" in error


def test_a_python_that_can_make_environments_is_preferred(project: Project) -> None:
    other = project.path / "python3.12"
    shutil.copy(project.path / "python3", other)
    first = (project.path / "python3").read_text()
    (project.path / "python3").write_text(first.replace('fails "${STANDIN_NO_VENV:-}"', "exit 1"))
    assert project.start("scripts/run").returncode == 0
    assert any(call.startswith("python3.12 -m venv") for call in project.calls)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (PIP, "A package is not to be had for this system or index"),
        (FULL, "The disk is full: free some space"),
        (
            f"WARNING: Retrying after connection broken by x\n{PIP}",
            "could not be reached; check the",
        ),
        ("ERROR: one\nERROR: the other", "failed (ERROR: the other)"),
        ("something unexpected", "(see the log)"),
    ],
)
def test_a_failed_install_is_one_sentence_and_is_tried_again(
    project: Project, said: str, told: str
) -> None:
    assert told in the_error(project.start("scripts/run", PIP_SAYS=said))
    assert project.start("scripts/run").stdout.splitlines()[-1] == "voiceagent serve"


def test_a_missing_library_of_the_system_is_one_sentence(project: Project) -> None:
    said = "ImportError: libgomp.so.1: cannot open shared object file"
    error = the_error(project.start("scripts/run", NO_LIBRARY=said))
    assert "run `apt-get install libgomp1` as root" in error


def test_a_start_that_was_killed_does_not_block_the_next(project: Project) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    turn = project.root / ".venv" / ".preparing"
    turn.mkdir(parents=True)
    (turn / "pid").write_text(f"{ended.pid}\n")
    assert project.start("scripts/run").returncode == 0
    assert not turn.exists()


def test_two_first_starts_take_turns(project: Project) -> None:
    turn = project.root / ".venv" / ".preparing"
    turn.mkdir(parents=True)
    (turn / "pid").write_text(f"{os.getpid()}\n")
    tools = project.path / "sleep"
    tools.unlink()
    tools.write_text(f"#!/bin/bash\nrm -r '{turn}'\n")  # the other ends while this one waits
    tools.chmod(0o755)
    ended = project.start("scripts/run")
    assert "Another start is preparing the environment; waiting for it." in ended.stdout
    assert ended.returncode == 0


def test_help_needs_no_environment(project: Project) -> None:
    ended = project.start("scripts/run", "--help")
    assert "--record DIR" in ended.stdout
    assert project.calls == []
    assert not (project.root / ".venv").exists()


# scripts/test and .ci/run


def test_fast_suite_checks_and_tests_without_weights_or_browser(project: Project) -> None:
    ended = project.start("scripts/test", "fast", "--", "-x", "-k", "two words")
    assert ended.returncode == 0
    asked = [call.removeprefix("python ") for call in project.calls if "-m pip" not in call]
    assert asked[-4:] == [
        "-m ruff check .",
        "-m ruff format --check .",
        "-m mypy",
        "-m pytest --hypothesis-profile fast -m not models and not browser and not postgres "
        "-n auto --dist worksteal -x -k two words",
    ]
    assert "fetch" not in ended.stdout


def test_the_environment_for_tests_serves_too(project: Project) -> None:
    project.start("scripts/test", "fast")
    assert project.start("scripts/run").stdout == "voiceagent serve\n"
    assert project.calls == []


def test_the_environment_to_run_lacks_what_tests_need(project: Project) -> None:
    project.start("scripts/run")
    project.start("scripts/test", "fast")
    assert project.installs() == 1


@pytest.mark.parametrize("facts", [{"RUFF": "1"}, {"PYTEST": "1"}, {"RUFF": "1", "PYTEST": "1"}])
def test_any_failure_fails_and_the_tests_run_all_the_same(
    project: Project, facts: dict[str, str]
) -> None:
    ended = project.start("scripts/test", "fast", **facts)
    assert ended.returncode == 1
    assert "3 passed" in ended.stdout


def test_unknown_suite_is_one_sentence(project: Project) -> None:
    assert "There is no suite called quick" in the_error(project.start("scripts/test", "quick"))
    assert project.calls == []


def stand_in_for(project: Project, *programs: str) -> None:
    for program in programs:
        (project.path / program).write_text("#!/bin/bash\n")
        (project.path / program).chmod(0o755)


def test_all_fetches_every_weight(project: Project) -> None:
    stand_in_for(project, "chromium", "initdb")
    ended = project.start("scripts/test")
    assert "voiceagent fetch --all" in ended.stdout
    assert project.calls[-1] == "python -m pytest"


def test_without_chromium_and_apt_it_says_how(project: Project) -> None:
    (project.path / "id").write_text("#!/bin/bash\necho 1000\n")
    (project.path / "id").chmod(0o755)
    error = the_error(project.start("scripts/test", "all"))
    assert "`sudo apt-get install chromium`" in error
    assert "`scripts/test fast`" in error


@pytest.mark.parametrize("code", ["0", "1", "5"])
def test_ci_ends_with_pytests_line_and_its_code(project: Project, code: str) -> None:
    stand_in_for(project, "chromium", "initdb")
    ended = project.start(".ci/run", PYTEST=code)
    assert ended.returncode == int(code)
    assert ended.stdout.splitlines()[-1] == "===== 3 passed in 0.01s ====="

"""A copy of the project's scripts among stand-ins for Python and its packages: simulations that say
what a Python would say on a machine unlike this one, and write down what they were asked."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = (
    *("awk", "basename", "bash", "cat", "chmod", "cmp", "cp", "cut", "dirname", "env", "grep"),
    *("mkdir", "mktemp", "rm", "sed", "sleep", "tail", "tee"),
)

PYTHON = r"""#!/bin/bash
# Stand-in for a Python. STANDIN_* say what kind; every call is a line in the log.
echo "$(basename "$0") $*" >>"$STANDIN_LOG"
fails() { [ -z "$1" ] || { echo "$1" >&2; exit 1; }; }
case "$*" in
*version_info\ \<*) [ -z "${STANDIN_OLD:-}" ] || exit 1 ;;
*"import ensurepip"*) fails "${STANDIN_NO_VENV:-}" ;;
*"import onnxruntime"*) fails "${STANDIN_NO_LIBRARY:-}" ;;
*"print(\"python"*) echo python3.11 ;;
--version) echo Python 3.11.2 ;;
"-m venv"*)
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    ;;
"-m pip install"*" -e "*)
    printf '#!/bin/bash\necho "voiceagent $*"\n' >"$(dirname "$0")/voiceagent"
    chmod +x "$(dirname "$0")/voiceagent"
    ;;
"-m pip install"*) fails "${STANDIN_PIP_SAYS:-}" ;;
"-m pytest"*)
    echo "===== 3 passed in 0.01s ====="
    exit "${STANDIN_PYTEST:-0}"
    ;;
"-m ruff"*) exit "${STANDIN_RUFF:-0}" ;;
esac
"""


@dataclass
class Project:
    """The project's scripts in a folder of their own, and the PATH they see."""

    root: Path
    path: Path
    log: Path

    def start(self, script: str, *args: str, **facts: str) -> subprocess.CompletedProcess[str]:
        """Run a script; `facts` are what the stand-ins are told, e.g. OLD="yes"."""
        told = {f"STANDIN_{name}": value for name, value in facts.items() if name != "PYTHON"}
        named = {"PYTHON": facts["PYTHON"]} if "PYTHON" in facts else {}
        environment = {"PATH": str(self.path), "STANDIN_LOG": str(self.log), **told, **named}
        self.log.write_text("")
        return subprocess.run(
            [str(self.root / script), *args],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @property
    def calls(self) -> list[str]:
        """What the stand-ins were asked in the last start."""
        return self.log.read_text().splitlines()

    def installs(self) -> int:
        return sum("--require-hashes" in call for call in self.calls)


def make_project(folder: Path) -> Project:
    root, path = folder / "a project", folder / "bin"
    shutil.copytree(
        ROOT / "scripts", root / "scripts", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / ".ci", root / ".ci")
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / name, root)
    path.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None, tool
        (path / tool).symlink_to(found)
    (path / "python3").write_text(PYTHON)
    os.chmod(path / "python3", 0o755)
    return Project(root, path, folder / "log")

"""What runs without the tests' packages: every import of it comes with the run lock."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = {"voiceagent", "routing", "audio"}
LOCKED = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements.lock").read_text(), re.M))


def imported(code: str) -> set[str]:
    """The top-level modules that this code imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - OURS - set(sys.stdlib_module_names)


def missing(modules: set[str]) -> set[str]:
    """Those of no package in the run lock."""
    owners = packages_distributions()
    known = {
        module
        for module in modules
        if {name.lower().replace("_", "-") for name in owners.get(module, [])} & LOCKED
    }
    return modules - known


def test_the_program_imports_only_what_the_run_lock_installs() -> None:
    code = [path.read_text() for package in OURS for path in (ROOT / package).rglob("*.py")]
    modules = set().union(*map(imported, code))
    assert {"numpy", "httpx"} <= modules
    assert missing(modules) == set()
    assert missing({"soxr"}) == {"soxr"}  # a package of the tests is seen to be one


def test_the_start_checks_only_what_the_run_lock_installs() -> None:
    script = (ROOT / "scripts/env.sh").read_text()
    (line,) = re.findall(r"said=\S+ -c '(import [^']*)'", script)
    assert "onnxruntime" in imported(line)
    assert missing(imported(line)) == set()

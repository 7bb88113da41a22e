"""The cut of the code, read from its syntax: imports point one way, and what is pure stays so."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("voiceagent", "routing", "audio")

PURE = (
    "voiceagent.conversation",
    "voiceagent.rhythm",
    "voiceagent.playout",
    "voiceagent.playout_clock",
    "voiceagent.playout_pauses",
)
"""No I/O, no clock, no await, and nothing imported that has them."""

PURE_LIBRARIES = {
    *("__future__", "abc", "bisect", "collections", "dataclasses", "enum", "functools", "heapq"),
    *("itertools", "math", "operator", "re", "statistics", "string", "types", "typing"),
    *("unicodedata", "numpy"),
}
IMPURE_BUILTINS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}

NEVER = {
    "audio": ("voiceagent", "routing"),
    "routing": ("voiceagent", "audio"),
    "voiceagent.field_service": ("voiceagent.session", "voiceagent.transports"),
    "voiceagent.realtime": ("voiceagent.session", "voiceagent.transports", "routing"),
    "voiceagent.transports": ("voiceagent.session", "voiceagent.engine", "routing"),
    "voiceagent.session": ("voiceagent.realtime", "voiceagent.transports", "voiceagent.engine"),
}
"""Whose modules may not import whose. Pure packages have a stricter rule of their own."""

TOP = (
    "voiceagent.server",
    "voiceagent.cli",
    "voiceagent.doctor",
    "voiceagent.caller",
    "voiceagent.__main__",
)
"""What starts the program: imported by nothing else in it."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the project by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def imports(module: str) -> frozenset[str]:
    """All that a module imports anywhere in it; of a package's submodule, that submodule."""
    found: set[str] = set()
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import in line {node.lineno}"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules() else str(node.module))
    return frozenset(found)


def within(name: str, *areas: str) -> bool:
    return any(name == area or name.startswith(f"{area}.") for area in areas)


def reachable(start: str) -> set[str]:
    """The project's modules that importing `start` imports, itself among them."""
    seen, todo = set(), [start]
    while todo:
        module = todo.pop()
        if module in modules() and module not in seen:
            seen.add(module)
            todo += imports(module)
    return seen


def test_the_project_is_found() -> None:
    assert {"voiceagent.conversation.turn", "audio.vad", "routing"} <= set(modules())


@pytest.mark.parametrize("area", NEVER)
def test_imports_point_one_way(area: str) -> None:
    against = [
        f"{module} imports {imported}"
        for module in modules()
        if within(module, area)
        for imported in imports(module)
        if within(imported, *NEVER[area])
    ]
    assert against == []


def test_what_starts_the_program_is_imported_by_nothing_below_it() -> None:
    against = [
        f"{module} imports {imported}"
        for module in modules()
        if not within(module, *TOP)
        for imported in imports(module)
        if within(imported, *TOP)
    ]
    assert against == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " → ".join([*path[path.index(module) :], module])
        if module not in done and module in modules():
            for imported in sorted(imports(module)):
                walk(imported, (*path, module))
            done.add(module)

    for module in modules():
        walk(module, ())


def pure_modules() -> list[str]:
    """The pure packages and all of the project that they import."""
    roots = [module for module in modules() if within(module, *PURE)]
    return sorted(set().union(*(reachable(root) for root in roots)))


@pytest.mark.parametrize("module", pure_modules())
def test_pure_modules_do_no_io_and_wait_for_nothing(module: str) -> None:
    libraries = {name.split(".")[0] for name in imports(module) if name not in modules()}
    assert libraries <= PURE_LIBRARIES
    for node in ast.walk(modules()[module]):
        assert not isinstance(
            node, ast.Await | ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Global
        ), f"line {node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in IMPURE_BUILTINS, f"{node.func.id} in line {node.lineno}"


def test_pure_modules_know_only_each_other() -> None:
    assert all(
        within(module, *PURE, "audio.phrases", "audio.boundaries", "audio.boundary_words")
        for module in pure_modules()
    ), pure_modules()

"""`voiceagent record check` and `record explain` as their user sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.routing.record.records import SIX
from voiceagent.record_command import HOSTED, OWN, app, available_backends

KEY = "gsk_0123456789secret"
VARIABLES = [variable for _, variable in (*HOSTED.values(), *OWN.values())]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, arguments, env={"NO_COLOR": "1", "COLUMNS": "80"})
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_the_built_in_record_passes_without_any_key() -> None:
    code, out, _ = run("check")
    assert code == 0
    assert "warning class_not_available  architecture_decision\n" in out
    assert out.endswith("field_service_voice_assistant.json: 3 warnings\n")


def test_it_is_clean_with_a_key_and_a_gpu_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    monkeypatch.setenv("VOICEAGENT_ANALYSIS_URL", "https://gpu.example/v1")
    assert run("check") == (0, "field_service_voice_assistant.json: nothing to mend\n", "")
    assert json.loads(run("check", "--json")[1])["findings"] == []
    code, out, _ = run("explain")
    assert code == 0
    assert "Interactive turns go to groq, and when that fails to llama.cpp, then analysis." in out
    assert (
        "  1. analysis on gpu.example:443. It offers a general GPU-backed model, as decided" in out
    )
    assert "  not usable: cerebras (CEREBRAS_API_KEY is not set)\n" in out


def test_errors_end_with_code_1(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(SIX | {"lanes": {"interactive": {"backends": ["groq"]}}}))
    code, out, _ = run("check", str(path))
    assert code == 1
    assert "error   lane_without_backend  lanes.interactive.backends\n" in out
    code, out, _ = run("check", str(path), "--json")
    assert code == 1
    assert json.loads(out)["findings"][0]["code"] == "lane_without_backend"


@pytest.mark.parametrize("command", ["check", "explain"])
def test_an_unreadable_record_is_one_line(tmp_path: Path, command: str) -> None:
    path = tmp_path / "r.json"
    path.write_text("{")
    code, out, err = run(command, str(path))
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {path}: is not JSON (")
    assert err.count("\n") == 1
    code, out, err = run(command, str(path), "--json")
    assert (code, err) == (1, "")
    assert "is not JSON" in str(json.loads(out))


def test_measurements_are_told_and_checked(tmp_path: Path) -> None:
    path, times = tmp_path / "r.json", tmp_path / "times.json"
    path.write_text(json.dumps(SIX | {"workload": {"latency_target_ms": 450}}))
    entry = {"first_speakable_p50_ms": 500, "first_speakable_p95_ms": 900, "n": 60}
    times.write_text(json.dumps({"llama.cpp": entry | {"measured_on": "2020-01-01"}}))
    code, out, _ = run("check", str(path), "--measurements", str(times))
    assert code == 1
    assert "latency_target_missed" in out
    code, out, _ = run("explain", str(path), "--measurements", str(times))
    assert code == 0
    assert "p50 500 ms, p95 900 ms, n 60, 2020-01-01 (not today); price not known" in out


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", [KEY, f"http://{KEY}@h/v1", f"http://h:{KEY}/", f"http://[{KEY}"])
def test_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    shown = [
        run(command, *option) for command in ("check", "explain") for option in ((), ("--json",))
    ]
    assert all(code == 0 for code, _, _ in shown)
    assert KEY not in str(shown)
    assert KEY not in repr(available_backends())


@pytest.mark.parametrize(
    ("url", "host", "unusable"),
    [
        ("http://H.example:8000/v1", "h.example:8000", None),
        ("https://h.example", "h.example:443", None),
        ("http://[::1]:9/v1", "[::1]:9", None),
        (" ", "", "VOICEAGENT_ANALYSIS_URL is not set"),
        ("ftp://h", "", "VOICEAGENT_ANALYSIS_URL is not an http or https address"),
        ("h.example:8000", "", "VOICEAGENT_ANALYSIS_URL is not an http or https address"),
        ("http://h:x", "", "VOICEAGENT_ANALYSIS_URL is not an http or https address"),
        ("http://u:p@h", "", "VOICEAGENT_ANALYSIS_URL holds a user name or password"),
    ],
)
def test_an_own_server_is_an_address_of_the_environment(
    url: str, host: str, unusable: str | None
) -> None:
    backends = {item.name: item for item in available_backends({"VOICEAGENT_ANALYSIS_URL": url})}
    analysis = backends["analysis"]
    assert (analysis.host, analysis.unusable, analysis.lane_class) == (host, unusable, "gpu")
    usable = {name for name, item in backends.items() if item.unusable is None}
    assert usable == {"llama.cpp"} | ({"analysis"} if unusable is None else set())

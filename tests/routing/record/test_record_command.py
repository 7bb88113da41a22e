"""`voiceagent record check` and `record explain` as their user sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from routing.providers import PROVIDERS
from tests.routing.record.records import SIX
from voiceagent.backends import all_facts
from voiceagent.record_command import app
from voiceagent.settings import SettingsError, load_settings

KEY = "gsk_0123456789secret"
VARIABLES = sorted(
    {variable for one in PROVIDERS for variable in (one.key_variable, one.url_variable)}
)
GPU = {"VOICEAGENT_ANALYSIS_MODEL": "m", "VOICEAGENT_ANALYSIS_URL": "https://gpu.example/v1"}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("VOICEAGENT_HOME", str(tmp_path))


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
    for name, value in GPU.items():
        monkeypatch.setenv(name, value)
    assert run("check") == (0, "field_service_voice_assistant.json: nothing to mend\n", "")
    assert json.loads(run("check", "--json")[1])["findings"] == []
    code, out, _ = run("explain")
    assert code == 0
    assert "Interactive turns go to groq, and when that fails to llama.cpp, then gpu." in out
    assert "  1. gpu on gpu.example:443. It offers a general GPU-backed model, as decided" in out
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
    assert "p50 500 ms, p95 900 ms, n 60, 2020-01-01 (not today); 0 USD in" in out


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", [KEY, f"http://{KEY}@h/v1", f"http://h:{KEY}/", f"http://[{KEY}"])
def test_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    for name, sound in GPU.items():
        monkeypatch.setenv(name, sound)
    monkeypatch.setenv(variable, value)
    shown = [
        run(command, *option) for command in ("check", "explain") for option in ((), ("--json",))
    ]
    assert all(code in (0, 2) for code, _, _ in shown)
    assert KEY not in str(shown)
    try:
        facts = repr(all_facts(load_settings()))
    except SettingsError as error:
        facts = str(error)
    assert KEY not in facts


def test_what_the_server_measured_here_is_told(tmp_path: Path) -> None:
    entry = {"first_speakable_p50_ms": 500, "first_speakable_p95_ms": 900, "n": 60}
    measured = {"llama.cpp": entry | {"measured_on": "2020-01-01"}, "gone": entry}
    measured["gone"] = measured["llama.cpp"]
    (tmp_path / "measurements.json").write_text(json.dumps(measured))
    code, out, _ = run("explain")
    assert code == 0
    assert "p50 500 ms, p95 900 ms, n 60" in out


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://H.example:8000/v1", "h.example:8000"),
        ("https://h.example", "h.example:443"),
        ("http://[::1]:9/v1", "[::1]:9"),
    ],
)
def test_an_own_server_is_an_address(monkeypatch: pytest.MonkeyPatch, url: str, host: str) -> None:
    for name, value in (GPU | {"VOICEAGENT_ANALYSIS_URL": url}).items():
        monkeypatch.setenv(name, value)
    backends = {item.name: item for item in all_facts(load_settings())}
    assert backends["gpu"].host == host
    usable = {name for name, item in backends.items() if item.unusable is None}
    assert usable == {"llama.cpp", "gpu"}


@pytest.mark.parametrize("url", ["ftp://h", "h.example:8000", "http://h:x", "http://u:p@h"])
def test_an_address_that_is_none_is_a_wrong_setting(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    for name, value in (GPU | {"VOICEAGENT_ANALYSIS_URL": url}).items():
        monkeypatch.setenv(name, value)
    code, out, err = run("check")
    assert (code, out) == (2, "")
    assert "VOICEAGENT_ANALYSIS_URL" in err

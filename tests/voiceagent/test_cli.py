"""The command: what it says and how it ends when something is wrong, and what doctor sees."""

import importlib.metadata
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from audio import weights
from audio.weights import WeightsError
from voiceagent import cli, doctor
from voiceagent.progress import ProgressBar, ProgressLines, progress_on
from voiceagent.settings import Settings, load_settings

NO_WEIGHTS = ("missing", "run `voiceagent fetch`")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but an empty home, in a working directory without a settings file."""
    for name in [name for name in os.environ if name.upper().startswith("VOICEAGENT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("VOICEAGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Grows by the settings of each server that is started, by a stand-in for the server."""
    started: list[Settings] = []
    server = ModuleType("voiceagent.server")
    server.serve = started.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "voiceagent.server", server)
    monkeypatch.setattr(weights, "ensure", lambda names, progress: None)
    return started


@contextmanager
def listening() -> Iterator[int]:
    """A port of this machine that somebody uses."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.app, list(args))


def the_error(result: Result, code: int) -> str:
    """The one line of a run that ended with `code`."""
    assert result.exit_code == code, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


# serve


def test_serve_hands_the_settings_on(served: list[Settings], tmp_path: Path) -> None:
    result = run("serve", "--port", "0", "--host", "localhost", "--record", "calls")
    assert result.exit_code == 0, result.output
    (settings,) = served
    assert (settings.host, settings.port) == ("localhost", 0)
    assert (settings.record_dir, settings.record_audio) == (tmp_path / "calls", False)


def test_what_is_not_given_comes_from_elsewhere(served: list[Settings]) -> None:
    Path("voiceagent.toml").write_text('port = 0\nrecord_dir = "calls"\nrecord_audio = true\n')
    assert run("serve").exit_code == 0
    assert served[0].record_audio


def test_the_home_of_the_settings_file_is_where_weights_are_sought(
    served: list[Settings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("VOICEAGENT_HOME")
    Path("voiceagent.toml").write_text('port = 0\nhome = "elsewhere"\n')
    assert run("serve").exit_code == 0
    assert weights.weights_dir() == tmp_path / "elsewhere/weights"


def test_a_busy_port_is_one_sentence_before_any_model(served: list[Settings]) -> None:
    with listening() as port:
        error = the_error(run("serve", "--port", str(port)), 1)
    assert error == (
        f"error: Port {port} on 127.0.0.1 is in use by another program; "
        "choose another with --port or VOICEAGENT_PORT."
    )
    assert served == []


def test_a_host_that_is_not_ours_is_one_sentence(served: list[Settings]) -> None:
    arguments = ("serve", "--port", "0", "--host", "192.0.2.1")  # reserved for documentation
    error = the_error(CliRunner(env={"VOICEAGENT_TOKEN": "t"}).invoke(cli.app, arguments), 1)
    assert error.startswith("error: Cannot listen on 192.0.2.1 port 0 (")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--port", "eighty"), "--port: 'eighty' is not accepted"),
        (("--record-audio",), "record_audio needs record_dir"),
        (("--host", "0.0.0.0"), "lets other machines in, so a token is needed"),
        (("--port", "0", "--open"), "--open needs to know the port"),
    ],
)
def test_wrong_options_are_one_sentence(
    served: list[Settings], args: tuple[str, ...], told: str
) -> None:
    assert told in the_error(run("serve", *args), 2)
    assert served == []


@pytest.mark.parametrize("command", [["serve"], ["fetch"], ["doctor"], ["call", "x.wav"]])
def test_wrong_settings_are_a_line_each(
    monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("VOICEAGENT_PROT", "1")
    Path("voiceagent.toml").write_text("hots = 1\n")
    result = run(*command)
    assert result.exit_code == 2
    assert [line.split()[1] for line in result.stderr.splitlines()] == ["VOICEAGENT_PROT", "hots"]


def test_d03_weights_that_are_not_right_end_the_start(
    served: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(names: object, progress: object) -> None:
        raise WeightsError("whisper-base/model.bin came out wrong.")

    monkeypatch.setattr(weights, "ensure", damaged)
    error = the_error(run("serve", "--port", "0"), 1)
    assert error == "error: whisper-base/model.bin came out wrong."
    assert served == []


def test_a_server_that_cannot_load_is_one_sentence(
    served: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "voiceagent.server", None)  # importing it fails
    assert "`voiceagent doctor`" in the_error(run("serve", "--port", "0"), 1)


def test_an_interrupted_fetch_says_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(names: object, progress: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "ensure", interrupted)
    assert "what has arrived is kept" in the_error(run("fetch"), 130)


def test_fetch_takes_what_the_settings_need_or_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(weights, "ensure", lambda names, progress: asked.append(names))
    run("fetch")
    run("fetch", "--all")
    assert asked == [weights.model_names(), weights.model_names(tests=True)]


# The other commands


def test_every_command_is_listed_and_loads() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for name in ("serve", "fetch", "doctor", "call", "replay"):
        assert name in result.output
        assert run(name, "--help").exit_code == 0
    assert "Not available" not in result.output


def test_a_command_that_cannot_load_spares_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "voiceagent.caller", None)  # importing it fails
    assert run("--help").exit_code == 0
    assert "`voiceagent call` cannot load" in the_error(run("call"), 1)


def test_fetch_and_doctor_do_not_import_what_may_be_broken() -> None:
    code = "import sys, voiceagent.cli; print([m for m in sys.modules if m in sys.argv[1:]])"
    heavy = ["numpy", "scipy", "onnxruntime", "ctranslate2", "xllamacpp", "fastapi"]
    ended = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"


def test_d06_the_installed_package_asks_for_a_new_enough_python() -> None:
    assert importlib.metadata.metadata("voiceagent")["Requires-Python"] == ">=3.11"


# doctor


def checks(settings: Settings | None = None) -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.examine(settings or load_settings())}


def test_doctor_names_each_missing_file_with_its_remedy() -> None:
    found = checks()
    for name in ("whisper-base/model.bin", "qwen2.5-coder-1.5b/model.gguf"):
        assert not found[name].ok
        assert (found[name].found, found[name].remedy) == NO_WEIGHTS
    result = run("doctor")
    assert result.exit_code == 1
    assert re.search(r"✗ whisper-base/model.bin +missing +→ run `voiceagent fetch`", result.output)
    assert re.search(r"✓ Python +3\.", result.output)


def test_doctor_speaks_json() -> None:
    result = run("doctor", "--json")
    said = json.loads(result.stdout)
    assert result.exit_code == 1
    assert said["ok"] is False
    assert {"name", "ok", "found", "remedy"} == set(said["checks"][0])


def test_doctor_changes_nothing(tmp_path: Path) -> None:
    run("doctor")
    assert not (tmp_path / "home").exists()


def test_doctor_says_who_is_at_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BACKEND_WITHIN_S", 0.01)  # the other program never answers
    with listening() as port:
        check = doctor.check_port(load_settings({"port": port}))
    assert not check.ok
    assert "VOICEAGENT_PORT" in check.remedy


def test_doctor_sees_an_open_door() -> None:
    check = doctor.check_safety(load_settings({"host": "0.0.0.0"}))
    assert not check.ok
    assert "VOICEAGENT_TOKEN" in check.remedy
    assert doctor.check_safety(load_settings({"host": "0.0.0.0", "token": "t"})).ok


@contextmanager
def http_server(status: int) -> Iterator[tuple[int, list[str | None]]]:
    """An HTTP server that answers `status`; yields its port and the keys it is shown."""
    keys: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers.get("Authorization"))
            body = b'{"ready": true}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_port, keys
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "ok", "told"),
    [(200, True, "answers 200"), (401, False, "refuses the key"), (404, False, "answers 404"),
     (503, False, "answers 503")],
)  # fmt: skip
def test_doctor_asks_the_language_model(status: int, ok: bool, told: str) -> None:
    with http_server(status) as (port, keys):
        url = f"http://127.0.0.1:{port}/v1"
        options = {"interactive_url": url, "interactive_model": "m", "interactive_api_key": "k"}
        check = doctor.check_backends(load_settings(options))[0]
    assert (check.name, check.ok) == ("interactive", ok)
    assert told in check.found
    assert keys == ["Bearer k"]


def test_doctor_sees_that_nobody_answers() -> None:
    options = {"interactive_url": "http://127.0.0.1:9/v1", "interactive_model": "m"}
    check = doctor.check_backends(load_settings(options))[0]
    assert not check.ok
    assert "check its URL" in check.remedy


def test_doctor_says_which_backends_are_used_and_why_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_secret")
    monkeypatch.setenv("GROQ_BASE_URL", "http://127.0.0.1:9/v1")
    found = {check.name: check for check in doctor.check_backends(load_settings({}))}
    assert not found["groq"].ok
    assert found["cerebras"].found == "not used: CEREBRAS_API_KEY is not set"
    assert found["llama.cpp"].ok
    assert "gsk_secret" not in str(found)


def test_doctor_names_what_is_wrong_with_a_decision_record(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    record.write_text("{")
    (check,) = doctor.check_backends(load_settings({"decision_record": record}))
    assert not check.ok
    assert "record.json" in check.found


def test_doctor_knows_a_running_server() -> None:
    with http_server(200) as (port, _):
        check = doctor.check_port(load_settings({"port": port}))
    assert (check.ok, check.found) == (True, "a voiceagent is running there")


def test_doctor_sees_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(".")._replace(free=10**9)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: usage)
    check = doctor.check_disk(load_settings())
    assert not check.ok
    assert "VOICEAGENT_HOME" in check.remedy


@pytest.mark.parametrize(
    ("error", "remedy"),
    [("libgomp.so.1: cannot open", "apt-get install libgomp1"), ("broken", "run scripts/run")],
)
def test_doctor_sees_native_code_that_does_not_load(
    monkeypatch: pytest.MonkeyPatch, error: str, remedy: str
) -> None:
    def broken(name: str) -> None:
        raise ImportError(error)

    monkeypatch.setattr(doctor.importlib, "import_module", broken)
    check = doctor.check_packages()
    assert not check.ok
    assert error in check.found
    assert remedy in check.remedy


def test_doctor_sees_a_package_in_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ["numpy==0.1", "absent-package>=1", "playwright>=1; extra == 'dev'"]
    monkeypatch.setattr(doctor.importlib.metadata, "requires", lambda name: listed)
    check = doctor.check_packages()
    assert re.fullmatch(r"numpy is .*, not 0\.1; absent-package is not installed", check.found)


def test_the_microphone_hint_depends_on_where_the_page_is_opened() -> None:
    assert "http://localhost:" in doctor.check_browser(load_settings()).found
    exposed = load_settings({"host": "0.0.0.0", "token": "t"})
    assert "https" in doctor.check_browser(exposed).found


# Progress


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere() -> None:
    assert isinstance(progress_on(Console(force_terminal=True)), ProgressBar)
    assert isinstance(progress_on(Console(force_terminal=False)), ProgressLines)


def test_the_bar_shows_what_is_said_and_how_far_it_is() -> None:
    console = Console(force_terminal=True, record=True, width=100)
    bar = ProgressBar(console)
    bar.say("Fetching [1] things")
    bar.begin(2_000_000)
    bar.advance(1_000_000)
    bar.end()
    said = console.export_text()
    assert "Fetching [1] things" in said
    assert "1.0/2.0 MB" in said


def test_lines_come_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("voiceagent.progress.time.monotonic", lambda: now)
    console = Console(force_terminal=False, record=True)
    lines = ProgressLines(console)
    lines.begin(2_000_000)
    for second in range(12):
        now = float(second)
        lines.advance(second * 100_000)
    lines.end()
    assert console.export_text().splitlines() == [
        "  25 % (500 kB of 2 MB)",
        "  50 % (1 MB of 2 MB)",
    ]

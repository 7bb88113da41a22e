"""Settings: their sources, and the one line that each wrong one gets."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from voiceagent.settings import Settings, SettingsError, load_settings

SECRET = "correct horse battery staple"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without a setting, and a working directory without a file."""
    for name in [name for name in os.environ if name.upper().startswith("VOICEAGENT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def problems(options: dict[str, object] | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(options)
    return caught.value.problems


def test_defaults_serve_this_machine_only() -> None:
    settings = load_settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert settings.token is None
    assert settings.exposed is None
    assert settings.embedded
    assert settings.url == "http://localhost:8080/"
    assert "qwen2.5-coder-1.5b" in settings.models


def test_later_sources_win(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("voiceagent.toml").write_text('host = "::1"\nport = 1\nmax_sessions = 3\n')
    monkeypatch.setenv("VOICEAGENT_PORT", "2")
    monkeypatch.setenv("VOICEAGENT_MAX_SESSIONS", "2")
    settings = load_settings({"max_sessions": 1})
    assert (settings.host, settings.port, settings.max_sessions) == ("::1", 2, 1)
    assert settings.url == "http://localhost:2/"


def test_the_file_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "voiceagent.toml").write_text("port = 1\n")
    (tmp_path / "other.toml").write_text("port = 2\n")
    monkeypatch.setenv("VOICEAGENT_CONFIG", str(tmp_path / "other.toml"))
    assert load_settings().port == 2


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_TOKEN", "")
    monkeypatch.setenv("VOICEAGENT_PORT", "")
    assert load_settings().token is None


@pytest.mark.parametrize(
    "value", ["https://a.example, http://b:81/", "https://a.example,http://b:81"]
)
def test_origins_from_the_environment_are_separated(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("VOICEAGENT_ALLOWED_ORIGINS", value)
    assert load_settings().allowed_origins == ("https://a.example", "http://b:81")


def test_origins_from_the_file_are_a_list() -> None:
    Path("voiceagent.toml").write_text('allowed_origins = ["https://a.example"]\n')
    assert load_settings().allowed_origins == ("https://a.example",)


def test_a_remote_language_model_needs_no_weights_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_INTERACTIVE_URL", "http://127.0.0.1:8000/v1/")
    monkeypatch.setenv("VOICEAGENT_INTERACTIVE_MODEL", "m")
    settings = load_settings()
    assert settings.interactive_url == "http://127.0.0.1:8000/v1"
    assert not settings.embedded
    assert "qwen2.5-coder-1.5b" not in settings.models


def test_paths_start_at_the_user_and_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    settings = load_settings({"home": "~/weights", "record_dir": "calls"})
    assert settings.home == tmp_path / "me/weights"
    assert settings.record_dir == tmp_path / "calls"


# What is wrong


@pytest.mark.parametrize(
    ("name", "value", "accepts"),
    [
        ("port", "eighty", "a whole number from 0 (any) to 65535"),
        ("port", "65536", "a whole number"),
        ("port", "-1", "a whole number"),
        ("port", "80.5", "a whole number"),
        ("max_sessions", "0", "from 1 to 1000"),
        ("voice_speed", "5", "a number from 0.5 to 2.0"),
        ("voice_speed", "nan", "a number from 0.5 to 2.0"),
        ("record_audio", "perhaps", "true or false"),
        ("log_level", "loud", "debug, info, warning or error"),
        ("greeting", "x" * 501, "1 to 500 characters"),
        ("greeting", "   ", "1 to 500 characters"),
        ("interactive_url", "localhost:8000", "such as http://127.0.0.1:8000/v1"),
        ("interactive_url", "ftp://host/v1", "the base URL"),
        ("allowed_origins", "voice.example.com", "origins such as https://"),
        ("allowed_origins", "*", "origins such as https://"),
        ("allowed_origins", "https://a.example/path", "origins such as https://"),
    ],
)
def test_a_wrong_variable_is_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, accepts: str
) -> None:
    variable = f"VOICEAGENT_{name.upper()}"
    monkeypatch.setenv(variable, value)
    (line,) = problems()
    # Where a URL should be someone may have put a key.
    shown = "this value" if name.endswith("_url") else repr(value)
    assert line.startswith(f"{variable} (in the environment): {shown} is not accepted; it takes ")
    assert accepts in line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("port = true", "port (in voiceagent.toml): True is not accepted; it takes a whole number"),
        ('port = "x"', "port (in voiceagent.toml): 'x' is not accepted"),
        ("voice_speed = []", "voice_speed (in voiceagent.toml): [] is not accepted"),
        ("home = 3", "home (in voiceagent.toml): 3 is not accepted; it takes the path of a folder"),
        ("allowed_origins = 3", "allowed_origins (in voiceagent.toml): 3 is not accepted"),
        ("prot = 1", "prot (in voiceagent.toml) is not a setting; did you mean port? There are: "),
        ("[server]\nport = 1", "server (in voiceagent.toml) is not a setting"),
        ("VOICE_SPEED = 1.0", "VOICE_SPEED (in voiceagent.toml) is not a setting; did you mean v"),
        ("port =", "voiceagent.toml is not valid TOML: "),
        ("port = 1\nport = 2", "voiceagent.toml is not valid TOML: "),
    ],
)
def test_a_wrong_file_is_one_line(text: str, expected: str) -> None:
    Path("voiceagent.toml").write_text(text)
    (line,) = problems()
    assert line.startswith(expected)


def test_a_file_that_is_not_text_is_one_line() -> None:
    Path("voiceagent.toml").write_bytes(b"\xff\xfe\x00")
    (line,) = problems()
    assert line.startswith("voiceagent.toml is not valid TOML: ")


def test_a_folder_in_the_place_of_the_file_is_one_line() -> None:
    Path("voiceagent.toml").mkdir()
    assert problems() == ["voiceagent.toml cannot be read: Is a directory."]


def test_a_named_file_must_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_CONFIG", "none.toml")
    assert problems() == ["VOICEAGENT_CONFIG names none.toml, and there is no such file."]


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("VOICEAGENT_PROT", "did you mean VOICEAGENT_PORT? "),
        ("voiceagent_hots", "did you mean VOICEAGENT_HOST? "),
        ("VOICEAGENT_API_KEY", "did you mean VOICEAGENT_ANALYSIS_API_KEY? "),
        ("VOICEAGENT_ZZZZZZ", ""),
    ],
)
def test_an_unknown_variable_is_one_line_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, variable: str, near: str
) -> None:
    monkeypatch.setenv(variable, SECRET)
    (line,) = problems()
    start = f"{variable} (in the environment) is not a setting; {near}There are: VOICEAGENT_HOST, "
    assert line.startswith(start)
    assert SECRET not in line


def test_each_problem_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_PROT", "1")
    Path("voiceagent.toml").write_text("hots = 1\n")
    assert [line.split()[0] for line in problems()] == ["VOICEAGENT_PROT", "hots"]
    monkeypatch.delenv("VOICEAGENT_PROT")
    Path("voiceagent.toml").write_text('port = "x"\nlog_level = "x"\n')
    assert [line.split()[0] for line in problems()] == ["port", "log_level"]


def test_the_command_line_is_named_as_such() -> None:
    (line,) = problems({"record_audio": "perhaps"})
    assert line.startswith("--record-audio: 'perhaps' is not accepted")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"interactive_url": "http://h/v1"}, "interactive_url needs interactive_model"),
        ({"interactive_model": "m"}, "interactive_model has no effect without interactive_url"),
        ({"interactive_api_key": SECRET}, "interactive_api_key has no effect without"),
        ({"record_audio": True}, "record_audio needs record_dir"),
    ],
)
def test_settings_that_need_each_other(options: dict[str, object], expected: str) -> None:
    (line,) = problems(options)
    assert line.startswith(expected)
    assert SECRET not in line


# Safety


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "voice.example.com"])
def test_other_machines_are_let_in_only_with_a_token(host: str) -> None:
    exposed = load_settings({"host": host}).exposed
    assert exposed is not None
    assert "VOICEAGENT_TOKEN" in exposed
    assert load_settings({"host": host, "token": SECRET}).exposed is None


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings({"token": SECRET})
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings.model_dump())
    Path("voiceagent.toml").write_text(f'token = ["{SECRET}"]\n')
    (line,) = problems()
    assert line.startswith("token (in voiceagent.toml): this value is not accepted")
    assert SECRET not in line
    Path("voiceagent.toml").unlink()
    monkeypatch.setenv("VOICEAGENT_INTERACTIVE_URL", f"http://me:{SECRET}@host/v1")
    (line,) = problems()
    assert SECRET not in line


@limits(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(Settings.model_fields)),
    value=st.one_of(st.text(max_size=30), st.integers(), st.floats(), st.booleans(), st.none()),
)
def test_any_value_is_taken_or_refused_in_one_line(name: str, value: object) -> None:
    try:
        load_settings({name: value})
    except SettingsError as error:
        (line,) = error.problems
        assert name.replace("_", "-") in line.replace("_", "-")
        assert "\n" not in line

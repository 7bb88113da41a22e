"""The settings of the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from voiceagent.settings import Settings, SettingsError, load_settings


def test_sessions_are_kept_in_a_file_at_home_without_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOICEAGENT_STORE_URL", raising=False)
    found = Settings(home=tmp_path)
    assert found.database == f"sqlite:///{tmp_path}/voiceagent.db"
    assert (found.keep_days, found.keep_text, found.keep_audio) == (30, False, False)


@pytest.mark.parametrize("off", ["off", ""])
def test_the_store_can_be_off(off: str) -> None:
    assert load_settings({"store_url": off}).database is None


def test_the_address_is_a_secret() -> None:
    address = "postgresql://me:s3cret@127.0.0.1/name"
    found = load_settings({"store_url": address})
    assert found.database == address
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize("address", ["mysql://me:s3cret@host/x", "s3cret", "sqlite://", "on"])
def test_another_address_is_refused_in_one_line_without_it(address: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load_settings({"store_url": address})
    (line,) = raised.value.problems
    assert "sqlite:///PATH" in line
    assert "s3cret" not in line

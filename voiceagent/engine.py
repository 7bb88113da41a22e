"""The shared models of one server: loaded once, warmed, and given to every session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date

from audio.endpoint import TurnModel, load_turn_model
from audio.speak import Voice
from audio.transcribe import Recogniser
from audio.vad import VadModel
from routing.embedded import EmbeddedServer
from routing.errors import BackendError
from routing.prompt_file import prepare_prompt
from routing.providers.llama_cpp import LLAMA_CPP
from routing.record import load_record
from routing.router import Router
from voiceagent.backends import Backends, Usable, embedded_facts, usable_backends
from voiceagent.conversation.rules import Script
from voiceagent.field_service.role import load_role
from voiceagent.parts import Parts
from voiceagent.roles import script_of
from voiceagent.settings import Settings

log = logging.getLogger(__name__)

LOADING, WARM = "loading", "warm"
_PARTS = ("speech detection", "recogniser", "turn model", "voice", "language model")


class Engine:
    """Loads every model in the background; ``ready`` is True when each has run once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._weights = settings.home / "weights"
        self._status = dict.fromkeys(_PARTS, LOADING)
        self._server: EmbeddedServer | None = None
        self._backends: Backends | None = None
        self._router: Router | None = None
        self._recogniser: Recogniser | None = None
        self._turn_model: TurnModel | None = None
        self._voice: Voice | None = None
        self._vad: VadModel | None = None
        self._parts: Parts | None = None
        self._day = date.today()
        self._prepare: Callable[[], Awaitable[None]] | None = None
        self._preparing: asyncio.Future[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether sessions can be served."""
        return self._parts is not None

    @property
    def parts(self) -> Parts:
        """What sessions are made of. Raises RuntimeError before ``ready``."""
        if self._parts is None:
            raise RuntimeError("the models are still loading")
        if date.today() != self._day:  # the prompt names the day
            self._day = date.today()
            role = load_role()
            script = script_of(role, self._settings.greeting)
            self._parts = replace(self._parts, script=script, vocabulary=role.vocabulary)
        return self._parts

    def status(self) -> dict[str, str]:
        """Each part as ``loading``, ``warm`` or ``failed: why``."""
        return dict(self._status)

    async def start(self) -> None:
        """Load and warm everything; a part that fails is named in ``status`` and raised."""
        self._day = date.today()
        role = load_role()
        script = script_of(role, self._settings.greeting)
        pool = ThreadPoolExecutor(2, thread_name_prefix="loading")
        try:
            # The language model reads a gigabyte: it starts first, and the others load beside it.
            async with asyncio.TaskGroup() as group:
                group.create_task(self._load("language model", lambda: self._load_language(script)))
                for name, load in (
                    ("speech detection", self._load_vad),
                    ("voice", self._load_voice),
                    ("recogniser", self._load_recogniser),
                    ("turn model", self._load_turn_model),
                ):
                    group.create_task(self._load(name, self._in_thread(pool, load)))
        except* Exception as failed:
            raise failed.exceptions[0] from None
        finally:
            pool.shutdown(wait=False)
        self._parts = self._assemble(script, role.vocabulary)
        log.info("all models are warm")

    async def stop(self) -> None:
        """Release the models and end the language model's process."""
        self._parts = None
        if self._preparing:
            self._preparing.cancel()
        if self._backends:
            await self._backends.aclose()
        if self._server:
            await self._server.stop()
        for part in (self._recogniser, self._turn_model, self._voice):
            if part:
                part.close()

    # --- loading -------------------------------------------------------------------------------

    async def _load(self, name: str, load: Callable[[], Awaitable[None]]) -> None:
        try:
            await load()
        except Exception as error:
            self._status[name] = f"failed: {error}"
            raise
        except asyncio.CancelledError:
            self._status[name] = "not loaded, since another part failed"
            raise
        self._status[name] = WARM

    @staticmethod
    def _in_thread(
        pool: ThreadPoolExecutor, load: Callable[[], None]
    ) -> Callable[[], Awaitable[None]]:
        loop = asyncio.get_running_loop()
        return lambda: loop.run_in_executor(pool, load)

    def _load_vad(self) -> None:
        self._vad = VadModel()
        self._vad.warm()

    def _load_recogniser(self) -> None:
        self._recogniser = Recogniser(self._weights / "whisper-base")
        self._recogniser.warm()

    def _load_turn_model(self) -> None:
        self._turn_model = load_turn_model(self._weights)
        if self._turn_model:
            self._turn_model.warm()

    def _load_voice(self) -> None:
        self._voice = Voice()
        self._voice.warm()

    async def _load_language(self, script: Script) -> None:
        settings = self._settings
        usable = usable_backends(settings)
        record = load_record(settings.decision_record)
        if settings.embedded and LLAMA_CPP.name not in [one.name for one in usable]:
            server = await self._start_server(script)
            here = embedded_facts(settings)
            usable.append(Usable(here, server.backend_config(), LLAMA_CPP.assumed_first_ms))
        self._backends = Backends(settings, record, usable)
        self._router = self._backends.router("interactive")
        await self._backends.check()

    async def _start_server(self, script: Script) -> EmbeddedServer:
        """The model on this machine, with the prompt read."""
        prompts = self._settings.home / "prompts"
        prompts.mkdir(parents=True, exist_ok=True, mode=0o700)
        system = [{"role": "system", "content": script.system}]
        model = self._weights / "qwen2.5-coder-1.5b" / "model.gguf"
        server = EmbeddedServer(model, prompts=prompts, on_change=self._changed)
        self._server = server
        self._prepare = lambda: prepare_prompt(server, system, prompts)
        await server.start()
        await self._prepare()
        return server

    def _changed(self, ready: bool) -> None:
        """A language model that was started again knows nothing: prepare it as at the start."""
        if ready and self._server and self._server.restarts and self._prepare:
            self._preparing = asyncio.ensure_future(self._prepare_again(self._prepare))

    @staticmethod
    async def _prepare_again(prepare: Callable[[], Awaitable[None]]) -> None:
        try:
            await prepare()
        except BackendError as error:  # it only makes the next answer late
            log.warning("the prompt could not be read ahead: %s", error)

    def _assemble(self, script: Script, vocabulary: str | None) -> Parts:
        if not (self._vad and self._recogniser and self._voice and self._router):
            raise RuntimeError("a part is missing")
        return Parts(
            vad=self._vad,
            recogniser=self._recogniser,
            voice=self._voice,
            router=self._router,
            turn_model=self._turn_model,
            script=script,
            vocabulary=vocabulary,
            speed=self._settings.voice_speed,
        )

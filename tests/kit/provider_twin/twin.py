"""A simulation of one provider's server, over a real socket. See the package's docstring."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from routing.backend_config import BackendConfig
from tests.kit.llm_script import Script
from tests.kit.llm_twin import LlmTwin
from tests.kit.llm_wire import Request
from tests.kit.provider_twin.faults import Fault
from tests.kit.provider_twin.playing import ANSWER, script_of, still_to_say
from tests.kit.provider_twin.profiles import PROFILES, Profile

Answer = str | Callable[[dict[str, Any]], str]
KEY = "a-key-of-the-twin"


class ProviderTwin:
    """Speaks a provider's dialect on a schedule, with a fault at will."""

    def __init__(
        self,
        profile: str | Profile,
        *,
        fault: Fault | None = None,
        answer: Answer = ANSWER,
        repeats_prefix: bool = False,
        seed: int = 0,
        port: int = 0,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        """``answer``: the text, or a function of the request's body.

        ``repeats_prefix``: asked to go on, it begins anew, as some models do. ``seed`` fixes the
        jitter of each request; ``sleep`` passes its time.
        """
        self.profile = PROFILES[profile] if isinstance(profile, str) else profile
        self._answer, self._repeats, self._seed = answer, repeats_prefix, seed
        self._fault = fault
        self._listens = False
        self.server = LlmTwin(sleep=sleep)
        self.server.port = port
        self.server.always(self._script)

    @property
    def fault(self) -> Fault | None:
        """What goes wrong with the requests from now on. Answers under way are not changed."""
        return self._fault

    @fault.setter
    def fault(self, fault: Fault | None) -> None:
        refused = _refuses(self._fault)
        self._fault = fault
        if self._listens and refused != _refuses(fault):
            if refused:
                self.server.listen_again()
            else:
                self.server.refuse()

    @property
    def url(self) -> str:
        """The base URL."""
        return self.server.url

    @property
    def requests(self) -> list[Request]:
        """What it was asked, in order."""
        return self.server.requests

    def backend_config(self, **changes: Any) -> BackendConfig:
        """A backend of this provider that leads here."""
        fields = {"name": self.profile.name, "url": self.url, "model": "simulated", "api_key": KEY}
        return self.profile.provider.backend_config(**fields | changes)

    async def start(self) -> None:
        """Listen."""
        await self.server.start()
        self._listens = True
        if _refuses(self._fault):
            self.server.refuse()

    async def stop(self) -> None:
        """Stop, and break every connection."""
        self._listens = False
        await self.server.stop()

    async def __aenter__(self) -> ProviderTwin:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    def _script(self, body: dict[str, Any]) -> Script:
        answer = self._answer if isinstance(self._answer, str) else self._answer(body)
        if not self._repeats:
            answer = still_to_say(self.profile, body, answer)
        dice = random.Random(f"{self.profile.name}:{self._seed}:{len(self.requests)}")
        return script_of(self.profile, self._fault, body, answer, dice)


def _refuses(fault: Fault | None) -> bool:
    return fault is not None and fault.kind == "refuse"

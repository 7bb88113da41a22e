"""How the embedded llama.cpp server is run. Passed to the child process as one line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaOptions:
    """Settings of the child; the defaults were measured with ``scripts/bench_llm``."""

    model: Path
    """A GGUF file."""
    api_key: str = field(repr=False)
    port: int = 0
    """0: any free port."""
    threads: int = 2
    """Threads that compute; never more than the machine's cores."""
    context: int = 4096
    """Tokens that one conversation may hold, with its answer."""
    slots: int = 2
    """Answers that are computed side by side, each with its own prompt cache."""
    ubatch: int = 512
    """Prompt tokens computed at once."""
    cache_ram_mib: int = 256
    """Memory for the prompts of conversations that have no slot at the moment."""

    prompts: Path | None = None
    """Where the server may keep what it made of a prompt (see ``prompt_file``); None: nowhere."""
    spin: int | None = 1000
    """How long a thread spins before it sleeps at a barrier (GOMP_SPINCOUNT; None: OpenMP's own).

    OpenMP's default spins through a thread's whole time slice when something else has the other
    core: SmolLM2 on two cores then paused for up to 2.4 s between two tokens, against 0.3 s with
    this, which costs about a tenth of the pace on a quiet machine.
    """

    def to_line(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self), default=str) + "\n"

    @classmethod
    def from_line(cls, line: str) -> LlamaOptions:
        """What ``to_line`` made."""
        values = json.loads(line)
        prompts = values["prompts"]
        paths = {"model": Path(values["model"]), "prompts": Path(prompts) if prompts else None}
        return cls(**values | paths)

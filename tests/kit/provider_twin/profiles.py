"""How each provider's twin behaves. The shapes are the providers'; the speeds are made up.

The speeds are chosen near published ones so that what is built on them sees realistic sizes. They
are no measurements, and whatever is timed with them is a simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from routing.providers import PROVIDERS, Provider, provider

Json = dict[str, Any]


@dataclass(frozen=True)
class Taken:
    """What one simulated answer used: tokens, and seconds by the twin's own schedule."""

    prompt: int
    completion: int
    first_s: float
    writing_s: float

    def usage(self) -> Json:
        """As every provider tells it."""
        counts = {"prompt_tokens": self.prompt, "completion_tokens": self.completion}
        return counts | {"total_tokens": self.prompt + self.completion}

    def times(self) -> Json:
        """As Groq and Cerebras name them, in seconds."""
        waited, whole = 0.1 * self.first_s, self.first_s + self.writing_s
        times = {"queue_time": waited, "prompt_time": self.first_s - waited}
        return times | {"completion_time": self.writing_s, "total_time": whole}


def no_fields(_taken: Taken) -> Json:
    """Nothing more than the usage."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One provider's behaviour."""

    name: str
    first_s: float
    """Seconds to the first token."""
    tokens_per_s: float
    tokens_per_chunk: int = 1
    jitter: float = 0.1
    """Sigma of the log-normal factor on every time; 0: none."""
    bursts: float = 0.0
    """The share of tokens that wait for the rest of a batch: eight times the usual gap."""
    role: Json = field(default_factory=lambda: {"role": "assistant", "content": ""})
    """The delta of the first chunk."""
    usage_with_finish: bool = False
    """The usage comes in the chunk with the finish reason; else in one of its own after it."""
    usage_fields: Callable[[Taken], Json] = no_fields
    """More fields of the ``usage``."""
    event_fields: Callable[[Taken], Json] = no_fields
    """More fields of the event with the usage."""
    finish_fields: Callable[[Taken], Json] = no_fields
    """More fields of the event with the finish reason."""
    headers: Mapping[str, str] = field(default_factory=dict)
    spent_headers: Mapping[str, str] = field(default_factory=dict)
    """Those of a 429 for a spent quota."""
    busy: Json = field(default_factory=dict)
    spent: Json = field(default_factory=dict)
    wraps_errors: bool = True
    continues: Literal["always", "when asked", "never"] = "never"
    """Does it go on with a last message of the assistant?"""

    @property
    def provider(self) -> Provider:
        """The provider that it simulates."""
        by_folder_name = {known.name.replace(".", "_"): known for known in PROVIDERS}
        return by_folder_name.get(self.name) or provider(self.name)

    def error_body(self, code: int, *, spent: bool = False) -> Json:
        """The body of an error answer."""
        error = {"message": f"simulated error {code}", "type": "server_error", "param": None}
        error |= {"code": None} | ((self.spent if spent else self.busy) if code == 429 else {})
        return {"error": error} if self.wraps_errors else error


def _plain_headers(requests_reset: str, tokens_reset: str, left: int = 990) -> Mapping[str, str]:
    return {
        "x-ratelimit-limit-requests": "14400",
        "x-ratelimit-remaining-requests": "14370",
        "x-ratelimit-reset-requests": requests_reset,
        "x-ratelimit-limit-tokens": "18000",
        "x-ratelimit-remaining-tokens": str(left),
        "x-ratelimit-reset-tokens": tokens_reset,
    }


def _cerebras_headers(left: int) -> Mapping[str, str]:
    return {
        "x-ratelimit-limit-requests-day": "14400",
        "x-ratelimit-remaining-requests-day": "14379",
        "x-ratelimit-reset-requests-day": "33011.382867",
        "x-ratelimit-limit-tokens-minute": "60000",
        "x-ratelimit-remaining-tokens-minute": str(left),
        "x-ratelimit-reset-tokens-minute": "11.382867",
    }


GROQ = Profile(
    name="groq",
    first_s=0.15,
    tokens_per_s=500,
    finish_fields=lambda taken: {
        "x_groq": {"id": "req_simulated", "usage": taken.usage() | taken.times()}
    },
    usage_fields=Taken.times,
    headers=_plain_headers("2m59.56s", "7.66s"),
    spent_headers=_plain_headers("2m59.56s", "7.66s", left=0),
    busy={"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"},
    spent={"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"},
    continues="always",
)

CEREBRAS = Profile(
    name="cerebras",
    first_s=0.2,
    tokens_per_s=1700,
    tokens_per_chunk=2,
    role={"role": "assistant"},
    usage_with_finish=True,
    event_fields=lambda taken: {"time_info": taken.times()},
    headers=_cerebras_headers(59_000),
    spent_headers=_cerebras_headers(0),
    busy={
        "message": "We're experiencing high traffic right now! Please try again soon.",
        "type": "too_many_requests_error",
        "param": "queue",
        "code": "queue_exceeded",
    },
    spent={
        "message": "Tokens per minute limit exceeded",
        "type": "too_many_tokens_error",
        "param": "quota",
        "code": "token_quota_exceeded",
    },
    wraps_errors=False,
)

SAMBANOVA = Profile(
    name="sambanova",
    first_s=0.35,
    tokens_per_s=700,
    tokens_per_chunk=4,
    usage_fields=lambda taken: {
        "is_last_response": True,
        "time_to_first_token": taken.first_s,
        "total_latency": taken.first_s + taken.writing_s,
        "completion_tokens_per_sec": taken.completion / (taken.first_s + taken.writing_s or 1),
    },
    headers={
        "x-ratelimit-limit-requests": "240",
        "x-ratelimit-remaining-requests": "239",
        "x-ratelimit-reset-requests": "41",
        "x-ratelimit-limit-requests-day": "48000",
        "x-ratelimit-remaining-requests-day": "47999",
        "x-ratelimit-reset-requests-day": "4h17m",
    },
    busy={"message": "Too many requests in flight", "type": "rate_limit", "code": "queue_full"},
    spent={
        "message": "Rate limit exceeded",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    },
)

GPU = Profile(
    name="gpu",
    first_s=0.8,
    tokens_per_s=40,
    jitter=0.35,
    bursts=0.08,
    busy={"message": "Too many requests", "type": "rate_limit_error", "code": 429},
    spent={"message": "Quota", "type": "insufficient_quota", "code": "insufficient_quota"},
    continues="when asked",
)

LLAMA_CPP = Profile(
    name="llama_cpp",
    first_s=0.6,
    tokens_per_s=30,
    role={"role": "assistant", "content": None},
    event_fields=lambda taken: {
        "timings": {
            "prompt_n": taken.prompt,
            "prompt_ms": taken.first_s * 1000,
            "predicted_n": taken.completion,
            "predicted_ms": taken.writing_s * 1000,
            "predicted_per_second": taken.completion / (taken.writing_s or 1),
        }
    },
    busy={"message": "Too many requests", "type": "unavailable_error", "code": 429},
    spent={"message": "Too many requests", "type": "unavailable_error", "code": 429},
    continues="always",
)

PROFILES = {known.name: known for known in (GROQ, CEREBRAS, SAMBANOVA, GPU, LLAMA_CPP)}

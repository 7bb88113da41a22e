"""Simulations of the providers' servers, scripted, with faults. They are not the providers.

    async with ProviderTwin("groq", fault=cut_after(20), answer="Next Tuesday at four.") as twin:
        backend = Backend(twin.backend_config())
        ...
        twin.fault = None           # for the requests from now on
        twin.requests[0].body       # what it was asked

Profiles: groq, cerebras, sambanova, gpu (a busy batch: uneven), llama_cpp. The shapes of chunks,
headers and errors are the providers'; speeds are made up. Asked with the beginning of its answer
as the last message of the assistant, a twin sends the rest, where its provider would.
"""

from tests.kit.provider_twin.faults import (
    Fault,
    cut_after,
    empty,
    error_in_stream,
    garbage,
    late,
    parse_fault,
    refuse,
    stall_after,
    status,
)
from tests.kit.provider_twin.playing import ANSWER, tokens_of
from tests.kit.provider_twin.profiles import PROFILES, Profile
from tests.kit.provider_twin.twin import KEY, ProviderTwin

__all__ = [
    "ANSWER",
    "KEY",
    "PROFILES",
    "Fault",
    "Profile",
    "ProviderTwin",
    "cut_after",
    "empty",
    "error_in_stream",
    "garbage",
    "late",
    "parse_fault",
    "refuse",
    "stall_after",
    "status",
    "tokens_of",
]

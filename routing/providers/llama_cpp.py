"""llama.cpp: the embedded default (see ``routing.embedded``), or a llama-server of one's own."""

from routing.backend_config import Abilities
from routing.dialect import Dialect
from routing.providers.base import Provider
from routing.server_timing import llama_timing

DIALECT = Dialect(name="llama.cpp", read_timing=llama_timing)
"""It goes on with a last message of the assistant without being told to."""

LLAMA_CPP = Provider(
    name="llama.cpp",
    title="llama.cpp",
    lane_class="local",
    url_variable="LLAMA_CPP_BASE_URL",
    key_variable="LLAMA_CPP_API_KEY",
    model_variable="LLAMA_CPP_MODEL",
    default_model="default",  # a llama-server has one model, and does not look at the name
    abilities=Abilities(prefill=True, continues=True),
    assumed_first_ms=800,
    dialect=DIALECT,
    settings={
        # It closes the connection after each stream without saying so.
        "keep_alive_s": 0.0,
        "first_content_s": 20.0,
        "prefill_s": 60.0,
        "extra_body": {"cache_prompt": True},
    },
)

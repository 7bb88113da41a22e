"""A general GPU-backed server: vLLM, SGLang, or anything OpenAI-compatible, wherever it runs."""

from routing.backend_config import Abilities
from routing.dialect import Dialect
from routing.providers.base import Provider

DIALECT = Dialect(
    name="gpu",
    running_usage=True,
    # vLLM and SGLang would otherwise begin a new message after the assistant's.
    continuing={"continue_final_message": True, "add_generation_prompt": False},
)

GPU = Provider(
    name="gpu",
    title="GPU server",
    lane_class="gpu",
    url_variable="VOICEAGENT_ANALYSIS_URL",
    key_variable="VOICEAGENT_ANALYSIS_API_KEY",
    model_variable="VOICEAGENT_ANALYSIS_MODEL",
    # vLLM refuses a priority unless it was started with ``--scheduling-policy priority``.
    priority_variable="VOICEAGENT_ANALYSIS_PRIORITY",
    abilities=Abilities(continues=True),
    assumed_first_ms=1000,
    dialect=DIALECT,
    settings={"first_content_s": 30.0, "between_chunks_s": 10.0},
)

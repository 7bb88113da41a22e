"""Cerebras: wafer-scale processors, hosted."""

from routing.backend_config import Abilities
from routing.dialect import BUSY, SPENT, Dialect
from routing.providers.base import Provider
from routing.server_timing import cerebras_timing

DIALECT = Dialect(
    name="cerebras",
    meanings={
        "queue_exceeded": BUSY,
        "token_quota_exceeded": SPENT,
        "request_quota_exceeded": SPENT,
    },
    limit_names={
        "requests-minute": ("requests", "minute"),
        "requests-hour": ("requests", "hour"),
        "requests-day": ("requests", "day"),
        "tokens-minute": ("tokens", "minute"),
        "tokens-hour": ("tokens", "hour"),
        "tokens-day": ("tokens", "day"),
    },
    read_timing=cerebras_timing,
    # The quota is charged this many in advance, so it must be the small number of a spoken answer.
    max_tokens_name="max_completion_tokens",
    by_model={"gpt-oss": {"reasoning_effort": "low"}},
)

CEREBRAS = Provider(
    name="cerebras",
    title="Cerebras",
    lane_class="low_latency",
    base_url="https://api.cerebras.ai/v1",
    url_variable="CEREBRAS_BASE_URL",
    key_variable="CEREBRAS_API_KEY",
    model_variable="CEREBRAS_MODEL",
    default_model="gpt-oss-120b",
    abilities=Abilities(),
    assumed_first_ms=350,
    dialect=DIALECT,
    settings={"first_content_s": 5.0},
)

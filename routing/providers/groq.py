"""Groq: language processing units, hosted."""

from routing.backend_config import Abilities
from routing.dialect import BUSY, Dialect
from routing.providers.base import Provider
from routing.server_timing import groq_timing

DIALECT = Dialect(
    name="groq",
    # 498: the flex tier is full for the moment. A 429 comes with Retry-After.
    meanings={498: BUSY, "capacity_exceeded": BUSY},
    # Here "requests" counts the day and "tokens" the minute.
    limit_names={"requests": ("requests", "day"), "tokens": ("tokens", "minute")},
    read_timing=groq_timing,
    max_tokens_name="max_completion_tokens",
    by_model={"gpt-oss": {"reasoning_effort": "low"}},
)

GROQ = Provider(
    name="groq",
    title="Groq",
    lane_class="low_latency",
    base_url="https://api.groq.com/openai/v1",
    url_variable="GROQ_BASE_URL",
    key_variable="GROQ_API_KEY",
    model_variable="GROQ_MODEL",
    default_model="openai/gpt-oss-120b",
    abilities=Abilities(continues=True),
    assumed_first_ms=300,
    dialect=DIALECT,
    settings={"first_content_s": 5.0},
)

"""SambaNova: reconfigurable dataflow units, hosted. It sends several tokens in one chunk."""

from routing.backend_config import Abilities
from routing.dialect import BUSY, NO_SUCH_MODEL, SPENT, Dialect
from routing.providers.base import Provider
from routing.server_timing import sambanova_timing

DIALECT = Dialect(
    name="sambanova",
    meanings={
        "queue_full": BUSY,
        "insufficient_quota": SPENT,
        "model_deprecated": NO_SUCH_MODEL,
        410: NO_SUCH_MODEL,
    },
    limit_names={"requests": ("requests", "minute"), "requests-day": ("requests", "day")},
    read_timing=sambanova_timing,
    by_model={"gpt-oss": {"reasoning_effort": "low"}},
)

SAMBANOVA = Provider(
    name="sambanova",
    title="SambaNova",
    lane_class="low_latency",
    base_url="https://api.sambanova.ai/v1",
    url_variable="SAMBANOVA_BASE_URL",
    key_variable="SAMBANOVA_API_KEY",
    model_variable="SAMBANOVA_MODEL",
    default_model="gpt-oss-120b",
    abilities=Abilities(),
    assumed_first_ms=450,
    dialect=DIALECT,
    settings={"first_content_s": 5.0},
)

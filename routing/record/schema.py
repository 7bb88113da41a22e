"""The record's JSON Schema, which stands in ``docs/decision-record.schema.json``.

``python -m routing.record.schema`` prints it.
"""

from __future__ import annotations

import json
import sys

from routing.record.model import DecisionRecord


def schema_text() -> str:
    """The JSON Schema as the file holds it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **DecisionRecord.model_json_schema(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())

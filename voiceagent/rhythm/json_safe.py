"""Results as plain data that JSON can carry: null and a reason for what is unknown, no NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from voiceagent.rhythm.values import Unknown


def plain(result: object) -> object:
    """Dicts, lists, strings, numbers, booleans and None, fit for ``json.dumps(allow_nan=False)``.

    An `Unknown` becomes None; where it stands in a dataclass or a mapping as ``x``, its reason
    stands beside it as ``x_reason``. A float that is not finite is None as well. Sets are sorted by
    their text. Raises TypeError for what is no result.
    """
    if isinstance(result, Enum):
        return plain(result.value)
    if result is None or isinstance(result, str | bool | int):
        return result
    if isinstance(result, float):
        return result if math.isfinite(result) else None
    if isinstance(result, Unknown):
        return None
    if isinstance(result, Mapping):
        return _named({str(plain(key)): value for key, value in result.items()})
    if is_dataclass(result) and not isinstance(result, type):
        return _named({item.name: getattr(result, item.name) for item in fields(result)})
    if isinstance(result, tuple) and hasattr(result, "_asdict"):
        return _named(result._asdict())
    if isinstance(result, list | tuple):
        return [plain(item) for item in result]
    if isinstance(result, set | frozenset):
        return [plain(item) for item in sorted(result, key=str)]
    raise TypeError(f"no result: {type(result).__name__}")


def _named(items: Mapping[str, object]) -> dict[str, object]:
    written: dict[str, object] = {}
    for name, value in items.items():
        written[name] = plain(value)
        if isinstance(value, Unknown):
            written[f"{name}_reason"] = value.reason
        elif isinstance(value, float) and not math.isfinite(value):
            written[f"{name}_reason"] = "not a finite number"
    return written

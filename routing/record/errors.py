"""What is wrong with a record, in one line."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable

_MESSAGE_LIMIT = 700
_SHOWN_LIMIT = 60


class RecordError(Exception):
    """A decision record, or a file of measurements, that cannot be used.

    ``str(error)`` is one line that names the file and the field and can be printed anywhere.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(text: str, limit: int = _MESSAGE_LIMIT) -> str:
    """``text`` without control characters, line ends and lone surrogates, at most ``limit`` long.

    A lone surrogate (possible in a file name and in JSON) becomes ``?``.
    """
    text = text[: 4 * limit].encode("utf-8", "replace").decode("utf-8")
    flat = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029\s]+", " ", text).strip()
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def shown(value: object) -> str:
    """A value as JSON in an error: quoted where it is text, cut where it is long."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        value = one_line(value, _SHOWN_LIMIT)
    return one_line(json.dumps(value, ensure_ascii=False), _SHOWN_LIMIT + 20)


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that a misspelt one was probably meant to be. Long words are not compared."""
    close = difflib.get_close_matches(word[:80].lower(), list(known), n=1, cutoff=likeness)
    return close[0] if close else None

"""HTML and SVG elements as text in which everything that was given as text is escaped."""

from __future__ import annotations

import html
import re

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What no document may contain."""

_EMPTY = frozenset({"meta", "br", "source", "col"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """``text`` for the inside of an element or of a quoted attribute."""
    return text if isinstance(text, Markup) else Markup(html.escape(_NO_TEXT.sub("�", text)))


def join(*children: str) -> Markup:
    """Children one after the other."""
    return Markup("".join(escaped(child) for child in children))


def tag(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """An element; ``class_`` is its class, ``a_b`` the attribute a-b, None leaves one out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")


def _value(value: str | float) -> str:
    return escaped(value) if isinstance(value, str) else f"{round(value, 2):g}"

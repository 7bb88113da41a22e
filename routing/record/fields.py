"""How every part of a record is read: strictly, and only what is known."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints
from pydantic_core import PydanticCustomError


class Part(BaseModel):
    """A part of a record: unchangeable, no unknown fields, no value turned into another type."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


def _readable(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is blank")
    if not all(char.isprintable() or unicodedata.category(char) == "Zs" for char in text):
        raise PydanticCustomError("unprintable", "holds line ends or control characters")
    return text


Text = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_readable)]
"""One line of 1 to 500 characters."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_readable)]
"""A name of 1 to 100 characters."""

"""Safety answers: rules on the recognised words that answer before any model is asked.

The rules, their answers and what was decided about doubtful cases are in ``safety.toml``.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

_GAP = 4
_LEFT_OUT = "_"
"""Stands where a harmless phrase was: no sign contains it, and a gap may."""


@dataclass(frozen=True, slots=True)
class SafetyAnswer:
    """What to say at once, and the rule that says so (for the log and the page)."""

    rule: str
    text: str


class SafetyRulesError(ValueError):
    """A pattern in the rules cannot be read."""


class _Rule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    signs: tuple[str, ...]
    harmless: tuple[str, ...] = ()
    answer: str


class _Rules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    words: dict[str, tuple[str, ...]]
    rule: tuple[_Rule, ...]


def spoken_words(text: str) -> str:
    """Lower case, no accents, apostrophes dropped, every other mark a space: what rules match."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(mark for mark in plain if not unicodedata.combining(mark))
    plain = re.sub("['\u2019\u2018`]", "", plain)
    return " ".join(re.findall(r"[^\W_]+", plain))


def compile_rules(toml: str) -> Callable[[str], SafetyAnswer | None]:
    """A function from what was said to a safety answer, or None, by the rules in ``toml``.

    Raises `SafetyRulesError` for a pattern that cannot be read, and pydantic's ValidationError for
    a missing or unknown field.
    """
    rules = _Rules.model_validate(tomllib.loads(toml))
    table = [
        (
            SafetyAnswer(rule.id, rule.answer),
            _any_of(rule.signs, rules.words),
            _any_of(rule.harmless, rules.words),
        )
        for rule in rules.rule
    ]

    def answer(text: str) -> SafetyAnswer | None:
        sentences = [spoken_words(part) for part in re.split(r"[.?!;\n]", text)]
        for found, signs, harmless in table:
            # A phrase is harmless within one sentence only: "... is hot. Water is ..." is not
            # about hot water.
            rest = (harmless.sub(_LEFT_OUT, said) if harmless else said for said in sentences)
            if signs and signs.search(" ".join(filter(None, rest))):
                return found
        return None

    return answer


@cache
def _shipped() -> Callable[[str], SafetyAnswer | None]:
    return compile_rules(files(__package__).joinpath("safety.toml").read_text(encoding="utf-8"))


def safety_answer(text: str) -> SafetyAnswer | None:
    """The answer to give at once when ``text`` tells of a danger, else None."""
    return _shipped()(text)


def _any_of(
    patterns: tuple[str, ...], words: Mapping[str, tuple[str, ...]]
) -> re.Pattern[str] | None:
    if not patterns:
        return None
    return re.compile(r"\b(?:" + "|".join(_regex(p, words) for p in patterns) + r")\b")


def _regex(pattern: str, words: Mapping[str, tuple[str, ...]]) -> str:
    parts: list[str] = []
    joint = ""
    for term in pattern.split():
        if gap := re.fullmatch(r"\.\.(\d*)", term):
            if not parts:
                raise SafetyRulesError(f"{pattern!r} begins with a gap")
            joint = rf"(?: \w+){{0,{int(gap[1] or _GAP)}}} "
            continue
        parts.append(joint + _term(term, pattern, words))
        joint = " "
    if joint != " ":
        raise SafetyRulesError(f"{pattern!r} is empty or ends with a gap")
    return "".join(parts)


def _term(term: str, pattern: str, words: Mapping[str, tuple[str, ...]]) -> str:
    if group := re.fullmatch(r"<(\w+)>", term):
        if group[1] not in words:
            raise SafetyRulesError(f"{pattern!r} names the unknown group <{group[1]}>")
        return "(?:" + "|".join(_regex(phrase, {}) for phrase in words[group[1]]) + ")"
    if not re.fullmatch(r"[a-z0-9]+\*?(?:\|[a-z0-9]+\*?)*", term):
        raise SafetyRulesError(f"{term!r} in {pattern!r} is not a word, a group or a gap")
    return "(?:" + term.replace("*", r"\w*") + ")"

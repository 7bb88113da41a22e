"""The small vocabulary that maps a decision's text to lanes.

A decision is one or more sentences (ended by ``.`` or ``;``). Each names one class of backend and
one or more kinds of turn, joined by "and", "or" or a comma. The order of the words is free; every
word must be known. So a "not", an "except" or a "from" is never read over, and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import TypeVar

from routing.record.backends import LaneClass, TurnKind
from routing.record.errors import nearest, shown

KINDS: Mapping[TurnKind, tuple[str, ...]] = {
    "interactive": (
        *("interactive", "conversational", "conversation", "conversations", "chat", "chats"),
        *("live", "real time", "realtime", "voice turn", "voice turns", "voice call"),
        *("voice calls", "spoken turn", "spoken turns"),
    ),
    "analysis": ("analysis", "analyses", "analytical", "analytics"),
    "batch": ("batch", "batches", "batch analysis", "batch analyses", "bulk", "overnight"),
    "long_context": (
        *("long context", "long contexts", "long context analysis", "long context review"),
        *("long document", "long documents", "long input", "long inputs"),
    ),
}
"""Words for a kind of turn."""

CLASSES: Mapping[LaneClass, tuple[str, ...]] = {
    "low_latency": (
        *("low latency", "lower latency", "lowest latency", "ultra low latency"),
        *("fast", "faster", "fastest"),
    ),
    "gpu": ("gpu", "gpus"),
    "local": ("local", "locally", "on device", "embedded", "llamacpp", "this machine"),
}
"""Words for a class of backend. ``external`` has none: it is declared in ``lanes``."""

_NOUNS = (
    "turn turns task tasks job jobs work workload workloads request requests question questions "
    "query queries call calls reply replies answer answers response responses traffic "
    "user users customer customers inference model models backend backends server servers "
    "provider providers service services hardware lane lanes endpoint endpoints machine machines "
    "infrastructure llm llms node nodes serving processing capacity"
)
_VERBS = (
    "route routes routed send sends sent use uses used go goes run runs give given keep kept "
    "put serve serves served handle handled answered do done direct assign assigned fall falls "
    "back fallback is are be should must will shall"
)
_OTHERS = (
    "a an all any the our every to for on onto in with by at via through as then general purpose "
    "backed based powered slow slower deep deeper heavy heavier longer running background"
)
FILLERS = frozenset(chain(*(words.split(" ") for words in (_NOUNS, _VERBS, _OTHERS))))
"""Words that may stand anywhere and decide nothing."""

JOINERS = frozenset({"and", "or", "plus", ","})
_SILENT = frozenset("()'\"‘’“”:")  # noqa: RUF001 - the marks people type
_PROVIDERS = frozenset({"groq", "cerebras", "sambanova", "vllm", "sglang"})

EXAMPLES = (
    "route interactive turns to low-latency inference",
    "use general GPU-backed model for slower analysis tasks",
)
UNDERSTOOD = (
    f'what is understood is like "{EXAMPLES[0]}": a kind of turn (interactive, analysis, batch, '
    "long-context) and a class of backend (low-latency, GPU, local)"
)


_Named = TypeVar("_Named", TurnKind, LaneClass)


class NotUnderstood(ValueError):
    """A decision's text that does not map to lanes; the message says why and what would."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{shown(text)} is not understood ({why}); {UNDERSTOOD}")


def _phrases(table: Mapping[_Named, tuple[str, ...]]) -> dict[tuple[str, ...], _Named]:
    return {tuple(words.split()): name for name, phrases in table.items() for words in phrases}


_KIND_OF = _phrases(KINDS)
_CLASS_OF = _phrases(CLASSES)
_LONGEST = max(map(len, chain(_KIND_OF, _CLASS_OF)))
_WORD = re.compile("\\w+(?:['\u2019]\\w+)*|[^\\w\\s]")
_BETWEEN_WORDS = re.compile("(?<=\\w)[-_/\u2010\u2011](?=\\w)")
"""Hyphens of three kinds, underscores and slashes part words."""
_TELLING = frozenset(chain(*_KIND_OF, *_CLASS_OF))


@lru_cache(maxsize=64)
def understand(text: str) -> Mapping[TurnKind, LaneClass]:
    """Which kinds of turn a decision sends to which class, in the order of the text.

    Raises NotUnderstood.
    """
    decided: dict[TurnKind, LaneClass] = {}
    for sentence in re.split(r"[;.](?=\s|$)", text.casefold().replace("llama.cpp", "llamacpp")):
        words = [word for word in _words(sentence) if word not in _SILENT]
        if not words:
            continue
        kinds, lane_class = _read(text, words)
        for kind in kinds:
            if decided.setdefault(kind, lane_class) != lane_class:
                raise NotUnderstood(text, f"{_said(kind)} turns go to two classes")
    if not decided:
        raise NotUnderstood(text, "it names no kind of turn")
    return MappingProxyType(decided)


def _words(sentence: str) -> list[str]:
    return _WORD.findall(_BETWEEN_WORDS.sub(" ", sentence))


def _read(text: str, words: list[str]) -> tuple[list[TurnKind], LaneClass]:
    """One sentence: its kinds and its class."""
    kinds: list[TurnKind] = []
    classes: list[LaneClass] = []
    joined, at = True, 0
    while at < len(words):
        kind, lane_class, length = _phrase_at(words, at)
        if kind is not None:
            if kinds and kind != kinds[-1] and not joined:
                why = f'"{_said(kinds[-1])}" and "{_said(kind)}" need an "and" between them'
                raise NotUnderstood(text, why)
            kinds.append(kind)
            joined = False
        elif lane_class is not None:
            classes.append(lane_class)
        elif words[at] in JOINERS:
            joined = True
        elif words[at] not in FILLERS:
            raise NotUnderstood(text, _unknown(words[at]))
        at += length
    if len(set(classes)) > 1:
        raise NotUnderstood(text, "one sentence names two classes of backend")
    if not classes or not kinds:
        missing = "class of backend" if kinds else "kind of turn"
        raise NotUnderstood(text, f"it names no {missing}")
    return kinds, classes[0]


def _phrase_at(words: list[str], at: int) -> tuple[TurnKind | None, LaneClass | None, int]:
    """The longest phrase that begins at a word, and how many words it takes."""
    for length in range(_LONGEST, 0, -1):
        phrase = tuple(words[at : at + length])
        if len(phrase) == length and phrase in _KIND_OF:
            return _KIND_OF[phrase], None, length
        if len(phrase) == length and phrase in _CLASS_OF:
            return None, _CLASS_OF[phrase], length
    return None, None, 1


def _unknown(word: str) -> str:
    if word in _PROVIDERS:
        return f'a backend like "{word}" is named under lanes, in backends'
    if word in _TELLING:
        return f"the word {shown(word)} out of its place"
    # Only what is nearly the same: the words for "all but" must not become "all put".
    meant = nearest(word, _TELLING, likeness=0.8)
    return f"unknown word {shown(word)}" + (f', perhaps "{meant}"' if meant else "")


def _said(kind: TurnKind) -> str:
    return kind.replace("_", "-")

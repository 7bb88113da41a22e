"""The pronunciation table: words that no rule says right.

A TOML file with one table `[words]`; a key is the word as written, its value what is spoken for it,
or phonemes between slashes in the alphabet of the voice (misaki's English symbols). A key in small
letters matches any case, any other key only as it is written.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from audio.speakable.token import Reading

MAX_ENTRIES = 10_000
MAX_LENGTH = 100
_CHUNK = re.compile(r"[^\s,;:!?()\"]+")


class PronunciationError(ValueError):
    """The table cannot be used; the message says why."""


class Pronunciations:
    """Words and what is spoken for them."""

    def __init__(self, words: dict[str, str]) -> None:
        if len(words) > MAX_ENTRIES:
            raise PronunciationError(f"more than {MAX_ENTRIES} words")
        for word, said in words.items():
            _check(word, said)
        self._words = dict(words)

    def read(self, text: str, at: int) -> Reading | None:
        """The entry for the word at `at`, without a period or possessive ending behind it."""
        found = _CHUNK.match(text, at, at + MAX_LENGTH)
        if found is None:
            return None
        chunk = found.group()
        bare = chunk.rstrip(".'…")
        owned = bare[:-2] if bare.endswith("'s") else ""
        for word in (chunk, bare, owned):
            said = self._words.get(word) or self._words.get(word.lower())
            if not word or said is None:
                continue
            after = text[at + len(word) : at + len(word) + 1]
            if not after.isalnum():
                return _reading(at + len(word), word, said, "'s" if word == owned else "")
        return None


def load_pronunciations(path: Path) -> Pronunciations:
    """Read a table. Raises `PronunciationError` if it is none, OSError if it cannot be read."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PronunciationError(f"{path.name}: {error}") from error
    words = content.get("words", {})
    if set(content) - {"words"} or not isinstance(words, dict):
        raise PronunciationError(f"{path.name}: expected one table [words]")
    return Pronunciations(words)


@lru_cache(maxsize=1)
def default_pronunciations() -> Pronunciations:
    """The table that comes with the package."""
    return load_pronunciations(Path(__file__).parent.parent / "pronunciations.toml")


def _check(word: object, said: object) -> None:
    if not isinstance(word, str) or not isinstance(said, str):
        raise PronunciationError(f"{word!r}: expected text")
    if not word.strip() or any(c.isspace() for c in word) or not said.strip(" /"):
        raise PronunciationError(f"{word!r}: one word, and something to say for it")
    if max(len(word), len(said)) > MAX_LENGTH:
        raise PronunciationError(f"{word!r}: longer than {MAX_LENGTH} characters")
    if not _phonemes(said) and re.search(r"[^\w' ,-]|_|\d", said):
        raise PronunciationError(f"{word!r}: {said!r} holds signs that cannot be spoken")


def _phonemes(said: str) -> str:
    return said[1:-1] if len(said) > 2 and said[0] == said[-1] == "/" else ""


def _reading(end: int, word: str, said: str, ending: str) -> Reading:
    phonemes = _phonemes(said)
    if not phonemes:
        return Reading(end + len(ending), said + ending)
    letters = "".join(c for c in word if c.isalnum())
    return Reading(end + len(ending), letters + ending, phonemes + _possessive(phonemes, ending))


def _possessive(phonemes: str, ending: str) -> str:
    """How an "'s" sounds behind these phonemes."""
    if not ending:
        return ""
    if phonemes[-1] in "szʃʒʧʤ":
        return "ᵻz"
    return "s" if phonemes[-1] in "ptkfθ" else "z"

"""Spoken words into the phonemes of the voice, remembering which token each one belongs to.

hibari's own text normaliser is not used: what it would be given is words already (`speakable`), and
it would lose the way back from a sample to the source text. Its tokenizer, tagger, lexicon and
out-of-vocabulary model are used as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audio.speakable import Token

MAX_PHONEMES = 400
"""Symbols given to the model at once. It was trained on up to 510; hibari itself stops at 400."""
MAX_WORD = 32
"""Letters of a word that are looked up at once."""

_MARKS = ",:;….!?"


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of phonemes that is never cut: one spoken word, or a mark."""

    token: int
    """Index of the token it speaks."""
    symbols: str
    space: bool
    """Whether a space follows."""

    @property
    def is_mark(self) -> bool:
        """Whether it is only heard as a pause."""
        return all(c in _MARKS for c in self.symbols)


class Phonemes:
    """Grapheme to phoneme conversion for one voice. Not thread-safe; about 0.3 s to load."""

    def __init__(self, british: bool = False) -> None:
        from hibari.g2p import G2P  # here and not above: it loads 30 MB of dictionaries
        from hibari.g2p.token import Tok

        self._g2p = G2P(british=british)
        self._tok = Tok

    def units(self, tokens: Sequence[Token]) -> list[Unit]:
        """The units of all tokens in order; a token that cannot be pronounced has none."""
        pieces = list(self._pieces(tokens))
        if not pieces:
            return []
        tags = self._g2p.tagger([text for text, *_ in pieces])
        toks = [
            self._tok(text, "NN" if given else tag, space, phonemes=given or None)
            for (text, space, _, given), tag in zip(pieces, tags, strict=True)
        ]
        # Words are joined only across pieces without a space between them, and every token ends
        # with one: so counting the spaces says which token a result belongs to.
        owners = [owner for _, space, owner, _ in pieces if space]
        units, at = [], 0
        for word in self._g2p.phonemize_tokens(toks):
            symbols = (word.phonemes or "").strip()
            if symbols:
                units.append(Unit(owners[at], symbols, bool(word.whitespace)))
            at += bool(word.whitespace)
        return units

    def _pieces(self, tokens: Sequence[Token]) -> Iterator[tuple[str, str, int, str]]:
        """(text, space behind it, index of its token, phonemes if given) for hibari's tagger."""
        for index, token in enumerate(tokens):
            spoken = token.spoken.replace(" o clock", " o'clock")  # one word in the lexicon
            if token.phonemes:
                word = spoken.rstrip(_MARKS)
                mark = spoken[len(word) :]
                yield word or "x", "" if mark else " ", index, token.phonemes
                if mark:
                    yield mark, " ", index, ""
                continue
            split: list[tuple[str, str]] = self._g2p.tokenizer(_letters_apart(_short_words(spoken)))
            for at, (text, space) in enumerate(split):
                yield text, space if at + 1 < len(split) else " ", index, ""


def _short_words(spoken: str) -> list[str]:
    """The dictionary search takes the cube of a word's parts ("X-X-X-..."): no word may be long."""
    words = []
    for word in spoken.split(" "):
        parts = [word] if len(word) <= MAX_WORD else word.replace("-", " ").split()
        for part in parts:
            words += [part[at : at + MAX_WORD] for at in range(0, len(part), MAX_WORD)]
    return words


def _letters_apart(words: list[str]) -> str:
    """The letter A in "A C" is its name, not the article: written so that the lexicon says so."""
    if len(words) == 1:
        return words[0]
    return " ".join("eh" if w.rstrip(_MARKS) == "A" else w for w in words)


def chunks(units: Sequence[Unit], limit: int = MAX_PHONEMES) -> list[list[Unit]]:
    """Cut a long sequence at word edges, behind a mark where one stands in the last third."""
    done: list[list[Unit]] = []
    current: list[Unit] = []
    length = 0
    for unit in _short(units, limit):
        cost = len(unit.symbols) + unit.space
        if current and length + cost > limit:
            keep = _cut(current, limit)
            done.append(current[:keep])
            current = current[keep:]
            length = sum(len(u.symbols) + u.space for u in current)
        current.append(unit)
        length += cost
    if current:
        done.append(current)
    return done


def _cut(units: Sequence[Unit], limit: int) -> int:
    """How many units to give to the first chunk; a mark stays with its word."""
    length, best = 0, 0
    for at, unit in enumerate(units, 1):
        length += len(unit.symbols) + unit.space
        if unit.is_mark and 3 * length > 2 * limit:
            best = at
    if best:
        return best
    return max((at for at in range(1, len(units)) if units[at - 1].space), default=len(units))


def _short(units: Sequence[Unit], limit: int) -> Iterator[Unit]:
    """A single endless word is the only thing cut inside."""
    for unit in units:
        symbols = unit.symbols
        while len(symbols) + 1 > limit:
            yield Unit(unit.token, symbols[: limit - 1], False)
            symbols = symbols[limit - 1 :]
        yield Unit(unit.token, symbols, unit.space)


def identifiers(units: Sequence[Unit], vocabulary: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Model input of a chunk: symbol ids between two pads, and the unit of each (-1: no word)."""
    ids, of = [0], [-1]
    for index, unit in enumerate(units):
        for symbol in unit.symbols:
            if symbol in vocabulary:
                ids.append(int(vocabulary[symbol]))
                of.append(-1 if unit.is_mark or symbol == " " else index)
        if unit.space and index + 1 < len(units):
            ids.append(int(vocabulary[" "]))
            of.append(-1)
    return [*ids, 0], [*of, -1]

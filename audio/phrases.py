"""Text from a language model, token by token, into clauses that can be spoken on their own.

Pure: no I/O, no clock. The caller decides when to wait no longer (`take`).
"""

from __future__ import annotations

import re

from audio.boundaries import (
    LOOKAHEAD,
    Kind,
    Undecided,
    boundaries,
    breath_at,
    can_cut,
    leans_on_next,
    word_edges,
)

FIRST_CLAUSE_WORDS = 2
"""The first clause may be short: it ends the silence after the person's turn."""
LATER_CLAUSE_WORDS = 4
"""Later clauses are longer: a voice given two words at a time loses the melody of the sentence."""
MAX_CLAUSE = 200
"""Characters after which a clause is cut at a word edge (about 13 s of speech at 15 a second)."""
MAX_WORD = 1000
"""Characters without any white space after which even a word is cut, so that memory is bounded."""
_CLAUSE_MARKS = ",;:()\u2013\u2014"
_ENDLESS_WORD = re.compile(rf"\s*\S{{0,{MAX_WORD}}}\s?|\s{{{MAX_WORD}}}")


def count_words(text: str) -> int:
    """Words with something to say in them (a lone dash or a markdown sign is none)."""
    return sum(any(c.isalnum() for c in chunk) for chunk in text.split())


def mark_between(text: str, end: int, start: int) -> Kind | None:
    """What ends between two words, of which one ends at `end` and the next begins at `start`.

    None in mid-phrase. The period of an abbreviation ends nothing.
    """
    between = text[end:start]
    for found in boundaries(text, final=True, line_start=True):
        if end < found.cut <= start:
            return found.kind
        if found.cut > start:
            break
    return Kind.CLAUSE if any(mark in between for mark in _CLAUSE_MARKS) else None


def first_sentence(text: str) -> int:
    """How many characters the first sentence has, without the space behind it."""
    for found in boundaries(text, final=True, line_start=True):
        if found.kind is Kind.SENTENCE and count_words(text[: found.cut]):
            return len(text[: found.cut].rstrip())
    return len(text.rstrip())


class PhraseSplitter:
    """Text deltas in, speakable clauses out.

    The clauses joined are exactly the input, and are the same however it is cut into deltas. A
    sentence end always closes a clause, so no clause holds more than one sentence; a comma, colon,
    semicolon or dash closes it when it has enough words.
    """

    def __init__(self) -> None:
        self.pending = ""
        """Text not given out yet."""
        self._first = True
        self._line_start = True

    def push(self, delta: str) -> list[str]:
        """Add text; return the clauses that have certainly ended (often none)."""
        self.pending += delta
        return self._split(final=False)

    def take(self, min_words: int) -> str | None:
        """Give out what stands, because waiting longer would be heard as a pause.

        The cut is at a word edge, never inside a number, preferably where a speaker would breathe
        (before a conjunction or preposition). None if fewer than `min_words` whole words stand.
        What is behind the cut stays pending.
        """
        edges = [e for e in word_edges(self.pending) if can_cut(self.pending, e)]
        edges = [e for e in edges if count_words(self.pending[:e]) >= max(1, min_words)]
        if not edges:
            return None
        return self._emit(_best_edge(self.pending, edges))

    def flush(self) -> list[str]:
        """The text has ended: return the rest, which may be several clauses or none."""
        clauses = self._split(final=True)
        if self.pending:
            clauses.append(self._emit(len(self.pending)))
        return clauses

    def _split(self, *, final: bool) -> list[str]:
        clauses = []
        while self.pending:
            cut = self._next_cut(final)
            if cut is None:
                break
            clauses.append(self._emit(cut))
        return clauses

    def _next_cut(self, final: bool) -> int | None:
        """Length of the first clause of the pending text, None while it is not known."""
        window = self.pending[: MAX_CLAUSE + LOOKAHEAD]
        ends_here = final and len(window) == len(self.pending)
        try:
            for found in boundaries(window, final=ends_here, line_start=self._line_start):
                if found.cut > MAX_CLAUSE:
                    break
                if self._closes(window[: found.cut], found.kind):
                    return found.cut
        except Undecided:
            if len(window) < MAX_CLAUSE + LOOKAHEAD:
                return None
        if len(self.pending) < MAX_CLAUSE + LOOKAHEAD and not (
            final and len(self.pending) > MAX_CLAUSE
        ):
            return None
        return self._forced_cut(window, final)

    def _closes(self, clause: str, kind: Kind) -> bool:
        words = count_words(clause)
        if kind is Kind.SENTENCE:
            return words >= 1
        return words >= (FIRST_CLAUSE_WORDS if self._first else LATER_CLAUSE_WORDS)

    def _forced_cut(self, window: str, final: bool) -> int | None:
        """Cut an overlong clause at a word edge; one endless word is cut only at `MAX_WORD`."""
        edges = word_edges(window[:MAX_CLAUSE])
        if edges:
            return _best_edge(window, [e for e in edges if can_cut(window, e)] or edges)
        word = _ENDLESS_WORD.match(self.pending)
        if word is None or (word.end() == len(self.pending) < MAX_WORD and not final):
            return None
        return word.end()

    def _emit(self, cut: int) -> str:
        clause, self.pending = self.pending[:cut], self.pending[cut:]
        self._first = self._first and count_words(clause) == 0
        self._line_start = clause.endswith("\n")
        return clause


def _best_edge(text: str, edges: list[int]) -> int:
    """The latest breathing place that still gives out half; else the latest bearable edge."""
    late = [e for e in edges if 2 * e >= edges[-1]]
    breaths = [e for e in late if breath_at(text, e)]
    bearable = [e for e in late if not leans_on_next(text, e)]
    return (breaths or bearable or edges)[-1]

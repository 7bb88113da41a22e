"""What must never be spoken even when it spans clauses: reasoning, code, tool calls, bare JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HIDDEN_TAGS = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|tool_calls?|"
    "tool_response|tool_use|tool_result|function_calls?|functions?|function_results?|tools?|"
    "invoke|parameter|script|style"
)
_OPEN = re.compile(
    rf"(?P<fence>`{{3,}}|~{{3,}})"
    rf"|<(?P<tag>{_HIDDEN_TAGS})\b[^<>]*(?P<selfclosed>/)?(?:>|$)"
    rf"|</(?P<stray>{_HIDDEN_TAGS})\s*>"
    r"|(?P<rest>\[TOOL_CALLS?\]|<\|(?:python_tag|tool_call(?:s_begin)?|plugin)\|>)"
    r"|(?P<special><\|[^|<>\s]{1,40}\|>)"
    r"|(?P<comment><!--)"
    r"|(?P<call>\b[A-Za-z_]\w*\((?=\s*(?:[{\"\[]|\w+\s*=)))"
    r"|(?P<json>\{(?=\s*(?:[\"'{}]|$)))",
    re.IGNORECASE,
)
_JSON_GOES_ON = re.compile(r"\s*(?:[\"'{}\[\]]|$)")
_PAIRS = {"(": ")", "{": "}", "[": "]"}


@dataclass(slots=True)
class _Nesting:
    """Inside JSON or a call: the brackets still open, and whether a string is."""

    closing: list[str]
    quote: str = ""
    escaped: bool = False
    doubtful: bool = False
    """Only a "{" at the end of a clause has been seen."""

    def skip(self, text: str, at: int) -> int | None:
        """Index behind the last closing bracket, None if it is not in `text`."""
        for i in range(at, len(text)):
            char = text[i]
            if self.escaped:
                self.escaped = False
            elif char == "\\":
                self.escaped = bool(self.quote)
            elif self.quote:
                if char == self.quote:
                    self.quote = ""
            elif char == '"':
                self.quote = char
            elif char in _PAIRS:
                self.closing.append(_PAIRS[char])
            elif char == self.closing[-1]:
                self.closing.pop()
                if not self.closing:
                    return i + 1
        return None


class HiddenBlocks:
    """Finds the hidden stretches of each clause of one reply. A block still open at the end of the
    reply stays hidden; the next reply starts with a new object and so is not muted by it."""

    def __init__(self) -> None:
        self._until: re.Pattern[str] | None = None
        self._nesting: _Nesting | None = None
        self._rest = False

    def hide(self, clause: str) -> list[tuple[int, int]]:
        """Stretches `[start, end)` of the clause that are not spoken, in order."""
        hidden: list[tuple[int, int]] = []
        at = self._resume(clause, hidden)
        while at < len(clause):
            found = _OPEN.search(clause, at)
            if found is None:
                break
            if found["stray"]:
                hidden = [
                    (0, found.end())
                ]  # the opening tag was in the prompt: all before is hidden
                at = found.end()
                continue
            end = self._enter(clause, found)
            hidden.append((found.start(), end))
            at = end
        return hidden

    def _resume(self, clause: str, hidden: list[tuple[int, int]]) -> int:
        """Go on with the block that the clause before has left open."""
        nesting = self._nesting
        if nesting is not None and nesting.doubtful:
            nesting.doubtful = False
            if clause and not _JSON_GOES_ON.match(clause):
                self._nesting = None
        end = self._leave(clause, 0)
        if end:
            hidden.append((0, end))
        return end

    def _enter(self, clause: str, found: re.Match[str]) -> int:
        """Note what was opened; return where the hidden stretch ends in this clause."""
        at = found.end()
        if found["special"] or found["selfclosed"]:
            return at
        if found["rest"]:
            self._rest = True
        elif found["fence"]:
            mark = found["fence"]
            self._until = re.compile(re.escape(mark[0]) + f"{{{len(mark)},}}")
        elif found["tag"]:
            self._until = re.compile(rf"</{re.escape(found['tag'])}\s*>", re.IGNORECASE)
        elif found["comment"]:
            self._until = re.compile(r"-->")
        else:
            closing = ")" if found["call"] else "}"
            self._nesting = _Nesting([closing], doubtful=not clause[at:].strip())
        return self._leave(clause, at)

    def _leave(self, clause: str, at: int) -> int:
        """End of the open block in this clause: its own end, or the end of the clause."""
        if self._rest:
            return len(clause)
        if self._until is not None:
            found = self._until.search(clause, at)
            if found is None:
                return len(clause)
            self._until = None
            return found.end()
        if self._nesting is not None:
            end = self._nesting.skip(clause, at)
            if end is None:
                return len(clause)
            self._nesting = None
            return end
        return at

"""What was said, as the model is told it: of a reply, only the words that were heard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voiceagent.playout import PlayoutLedger

_DROP = 8


@dataclass(slots=True)
class Item:
    """One entry. A reply's text is read from its ledger, so later reports correct it."""

    id: str
    role: str
    text: str = ""
    ledger: PlayoutLedger | None = None

    def content(self) -> str:
        """The text that counts: what was written, or what was heard."""
        return self.text if self.ledger is None else self.ledger.heard_text()


class History:
    """The conversation's items in order."""

    def __init__(self, limit: int, characters: int = 8_000) -> None:
        self._limit, self._characters = limit, characters
        self.items: list[Item] = []

    def add(self, item: Item) -> None:
        """Append; over the limit the oldest leave, a block at a time."""
        self.items.append(item)
        if len(self.items) > self._limit + _DROP:
            del self.items[:_DROP]

    def find(self, item_id: str) -> Item | None:
        """The item with this id, or None."""
        return next((item for item in self.items if item.id == item_id), None)

    def remove(self, item_id: str) -> bool:
        """Forget an item; False when there is none."""
        item = self.find(item_id)
        if item is not None:
            self.items.remove(item)
        return item is not None

    def messages(self, system: str, draft: str = "") -> tuple[dict[str, Any], ...]:
        """Chat messages: the system prompt, the items, and ``draft`` as a further user message.

        Neighbours of one role are joined and empty ones left out: chat templates want turns.
        """
        said = [("system", system), *self._recent(), ("user", draft)]
        messages: list[dict[str, Any]] = []
        for role, text in said:
            if not text.strip():
                continue
            if messages and messages[-1]["role"] == role != "system":
                messages[-1]["content"] += " " + text
            else:
                messages.append({"role": role, "content": text})
        return tuple(messages)

    def _recent(self) -> list[tuple[str, str]]:
        """The newest items that fit into the bound, and of one too long its end."""
        recent: list[tuple[str, str]] = []
        left = self._characters
        for item in reversed(self.items):
            text = item.content()[-left:] if left else ""
            left -= len(text)
            recent.append((item.role, text))
        return recent[::-1]

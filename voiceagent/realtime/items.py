"""The order of a conversation's items, as the client was told of it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Literal

from voiceagent.realtime import server_events as out
from voiceagent.realtime.server_events import ServerEvent

Kind = Literal["text", "audio"]
_REMEMBERED = 1_024


class Items:
    """Which items there are, the newest last."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[str, Kind] = OrderedDict()

    @property
    def last(self) -> str | None:
        """The newest item: what comes next follows it."""
        return next(reversed(self._kinds), None)

    def kind(self, item_id: str) -> Kind | None:
        """Whether an item was typed ("text") or spoken ("audio"); None for one not known."""
        return self._kinds.get(item_id)

    def add(self, item_id: str, kind: Kind) -> str | None:
        """Append; returns the item that it follows."""
        previous = self.last
        self._kinds[item_id] = kind
        if len(self._kinds) > _REMEMBERED:
            self._kinds.popitem(last=False)
        return previous

    def add_whole(self, item: dict[str, Any], kind: Kind) -> list[ServerEvent]:
        """Append an item that is complete from the start: the events that say so."""
        previous = self.add(item["id"], kind)
        return [out.item_event("added", item, previous), out.item_event("done", item, previous)]

    def remove(self, item_id: str) -> None:
        """The item was deleted."""
        self._kinds.pop(item_id, None)

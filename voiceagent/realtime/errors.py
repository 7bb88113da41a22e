"""The one error that a client's fault can become."""

from __future__ import annotations


class ProtocolError(Exception):
    """A client event that cannot be carried out; answered with one ``error`` event.

    ``code`` is stable, ``param`` the path of the offending field, ``event_id`` the client's own id
    of the event, where it gave one. The session goes on.
    """

    def __init__(
        self, message: str, *, code: str, param: str | None = None, event_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.code, self.param, self.event_id = message, code, param, event_id

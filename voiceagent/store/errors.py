"""How a store can fail, in sentences that are safe to show: no address, no password."""


class StoreError(Exception):
    """The store cannot be used as it is set; the message says what to do."""


class StoreUnavailable(StoreError):
    """The database does not answer now, or cannot be read."""

"""Evenness and pauses, from numbers. Pure: knows nothing of sockets, models or clocks."""

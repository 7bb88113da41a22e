"""Evenness and pauses, from numbers. Pure: knows nothing of sockets, models or clocks.

Times go in as integer microseconds of one monotonic clock (`..._us`), results come out in
milliseconds (`..._ms`) or without a unit. What cannot be known is an `Unknown` with its reason
(see `values`), never 0, -1 or NaN.
"""

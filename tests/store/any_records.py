"""Any records that the contract allows, for hypothesis."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from voiceagent.rhythm.pauses import Cause, Place
from voiceagent.turn_record import (
    Anchor,
    ArrivalRecord,
    CostRecord,
    PauseRecord,
    SessionRecord,
    TurnRecord,
)

whole = st.integers(-(2**63), 2**63 - 1)
real = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
perhaps_whole, perhaps_text = st.none() | whole, st.none() | text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | real | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(text, json_values, max_size=4)
moments = st.datetimes(
    datetime(1900, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC), allow_imaginary=False
)


def some(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(strategy, max_size=4).map(tuple)


pauses = st.builds(
    PauseRecord, whole, whole, st.sampled_from(Place), st.sampled_from(Cause), whole, whole, whole
)
costs = st.builds(
    CostRecord, text, text, text, whole, whole, whole, st.booleans(), st.none() | real
)
_BY_NAME = {
    "number": whole,
    "kind": st.sampled_from(["spoken", "typed", "unasked", "dropped"]),
    "parts": some(st.tuples(text, whole)),
    "pauses": some(pauses),
    "arrivals": some(st.builds(ArrivalRecord, whole, whole, perhaps_whole)),
    "decision": st.none() | json_objects,
    "costs": some(costs),
    "anchors": some(st.builds(Anchor, whole, whole)),
    "cushion_ms": st.none() | real,
}
_BY_TYPE = {
    "int": whole,
    "int | None": perhaps_whole,
    "str | None": perhaps_text,
    "bool": st.booleans(),
}
turns = st.builds(
    TurnRecord,
    **{
        name: _BY_NAME[name] if name in _BY_NAME else _BY_TYPE[str(field.type)]
        for name, field in TurnRecord.__dataclass_fields__.items()
    },
)
sessions = st.builds(
    SessionRecord,
    id=text,
    started_at=moments,
    ended_at=st.none() | moments,
    transport=text,
    reports_playout=st.booleans(),
    version=text,
    characters_per_second=real,
    details=json_objects,
)

"""What a playout report tells of a reply's rhythm: its first sound, its pauses, its end."""

from __future__ import annotations

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.reply import Reply
from voiceagent.playout_pauses import HeardPause

_JUMP = 500_000
"""Microseconds by which the offset of two clocks does not drift between two reports."""


def measure(reply: Reply, event: ev.Played) -> list[act.Action]:
    """Take the report into the reply's ledger; returns what follows from it."""
    if event.heard_at is None:
        return []
    clock = reply.ledger.clock
    offset = event.offset - reply.shift
    if clock.began and abs(offset - reply.offset) > _JUMP:  # the listener's clock began anew
        reply.shift += offset - reply.offset
        offset = reply.offset
    reply.offset, reply.uplink, reply.cushion = offset, event.uplink, event.cushion
    reply.measured = event.measured
    samples = min(event.samples, reply.ledger.total)
    # Dry at the end of a complete reply: a player that is only estimated cannot tell it apart.
    kind = "stopped" if event.kind == "underrun" and reply.over else event.kind
    clock.report(kind, samples, event.heard_at + reply.shift, event.stretched)
    out: list[act.Action] = []
    if clock.began and "sounded" not in reply.marks:
        out.append(_sounded(reply, event.measured))
    out += [_pause(reply, pause, event.measured) for pause in reply.pauses.finished()]
    return out + _told_of_end(reply)


def settle(reply: Reply) -> list[act.Action]:
    """Nobody will report on the reply any more: it ended where it was last known to be."""
    reply.ledger.clock.end(reply.ledger.played)
    return _told_of_end(reply)


def _told_of_end(reply: Reply) -> list[act.Action]:
    ended = reply.ledger.clock.ended_us
    if ended is None or reply.stopped:
        return []
    reply.stopped = True
    return [_stopped(reply, ended + reply.offset, reply.measured)]


def _sounded(reply: Reply, measured: bool) -> act.ReplySounded:
    ledger = reply.ledger
    # Nothing sounds before it was handed over.
    at = max(ledger.clock.at(0) + reply.offset, reply.marks["released"])
    audible = max(at, ledger.clock.at(ledger.first_audible) + reply.offset)
    reply.mark("sounded", at)
    reply.mark("audible", audible)
    gap = None if reply.last_voiced is None else audible - reply.last_voiced
    parts = reply.parts()
    return act.ReplySounded(
        reply.id, reply.item, gap, measured, parts, at, audible, reply.last_voiced
    )


def _pause(reply: Reply, pause: HeardPause, measured: bool) -> act.PauseHeard:
    return act.PauseHeard(
        reply.id,
        reply.item,
        pause.sample,
        pause.at_us + reply.offset,
        pause.duration_us,
        pause.place,
        pause.cause,
        pause.underrun_us,
        pause.stretched_us,
        measured,
    )


def _stopped(reply: Reply, at: int, measured: bool) -> act.ReplyStopped:
    ledger, offset = reply.ledger, reply.offset
    return act.ReplyStopped(
        reply.id,
        reply.item,
        at,
        tuple((sample, heard + offset) for sample, heard in ledger.clock.anchors),
        ledger.played,
        len(ledger.clock.stops),
        reply.cushion,
        at - reply.cut_by[1] if reply.cut_by else None,
        measured,
    )

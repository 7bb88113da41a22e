"""Playout reports into a reply: what is told of them, also where the listener's clock jumps."""

from __future__ import annotations

from voiceagent.conversation import actions as act
from voiceagent.conversation import events as ev
from voiceagent.conversation.measuring import measure, settle
from voiceagent.conversation.reply import Reply
from voiceagent.playout import Piece

SECOND = 1_000_000
OFFSET = 60 * SECOND
"""Our clock less the listener's."""


def a_reply(text: str = "It is fine, and it will be.") -> Reply:
    """A reply of six seconds that was handed over at 70 s."""
    reply = Reply(1, "item_1")
    reply.ledger.add(Piece(text, 6 * 24_000, ()))
    reply.committed, reply.released = True, 1
    reply.marks["released"] = 70 * SECOND
    return reply


def played(seconds: float, kind: ev.PlayoutKind, at: int, offset: int = OFFSET) -> ev.Played:
    """The listener's clock reads ``at``."""
    return ev.Played(at + offset, 1, int(seconds * 24_000), kind, at, offset, measured=True)


def test_a_clock_that_begins_anew_in_mid_reply_moves_nothing() -> None:
    reply = a_reply()
    reply.ledger.play_to(0)
    measure(reply, played(0, "started", 10 * SECOND))
    reply.ledger.play_to(24_000)
    measure(reply, played(1, "underrun", 11 * SECOND))
    # A microphone joins: the listener's clock reads 0 at our 71.5 s.
    measure(reply, played(1, "playing", 500_000, OFFSET + int(11.5 * SECOND)))
    reply.ledger.play_to(72_000)
    told = measure(reply, played(3, "playing", 2_500_000, OFFSET + int(11.5 * SECOND)))
    (pause,) = [one for one in told if isinstance(one, act.PauseHeard)]
    assert (pause.at, pause.duration) == (71 * SECOND, 1 * SECOND)
    (stopped,) = [one for one in settle(reply) if isinstance(one, act.ReplyStopped)]
    assert stopped.at == 74 * SECOND
    assert stopped.anchors == ((0, 70 * SECOND), (24_000, 72 * SECOND))


def test_the_end_is_told_once() -> None:
    reply = a_reply()
    measure(reply, played(0, "started", 10 * SECOND))
    reply.ledger.play_to(48_000)
    told = measure(reply, played(2, "flushed", 12 * SECOND))
    assert [type(one) for one in told] == [act.ReplyStopped]
    assert settle(reply) == []


def test_a_reply_of_which_nothing_was_heard_has_no_end() -> None:
    assert settle(a_reply()) == []

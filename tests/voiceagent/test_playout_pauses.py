"""What a listener heard of a reply, when, and with which pauses, from the ledger alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.conversation.events import PlayoutKind, WordSpan
from voiceagent.playout import Piece, PlayoutLedger, Silence
from voiceagent.playout_pauses import HeardPause, PauseFinder
from voiceagent.rhythm.pauses import Cause, Place

MS = 24
"""Samples a millisecond."""
EACH = 60 * MS
"""Samples a character."""


def spoken(text: str, silent_ms: int = 0, *, timed: bool = True, bridges: bool = False) -> Piece:
    """A clause at 60 ms a character, with so much silence of its own behind it."""
    words = tuple(
        WordSpan(*word.span(), word.start() * EACH, word.end() * EACH)
        for word in re.finditer(r"\S*\w\S*", text)
    )
    sound = len(text.rstrip()) * EACH
    samples = sound + silent_ms * MS
    silences = ((sound, samples),) if silent_ms else ()
    return Piece(text, samples, words if timed else (), silences, bridges)


class Player:
    """Plays a ledger's samples on a clock of its own that began anywhere."""

    def __init__(self, *pieces: Piece, began_us: int = 7_000_000) -> None:
        self.ledger = PlayoutLedger()
        self.finder = PauseFinder(self.ledger)
        self.found: list[HeardPause] = []
        self.now, self.sample, self.stretched = began_us, 0, 0
        self.began = began_us
        for piece in pieces:
            self.ledger.add(piece)
        self.report("started")

    def report(self, kind: PlayoutKind) -> None:
        self.ledger.play_to(self.sample)
        self.ledger.clock.report(kind, self.sample, self.now, self.stretched)
        self.found += self.finder.finished()

    def play(self, ms: int, every: int = 100) -> Player:
        """Sound goes on for so long, reported each 100 ms."""
        for step in [every] * (ms // every) + ([ms % every] if ms % every else []):
            self.now += step * 1_000
            self.sample += step * MS
            self.report("playing")
        return self

    def dry(self, ms: int) -> Player:
        """Nothing to play for so long."""
        self.report("underrun")
        self.now += ms * 1_000
        self.report("playing")
        return self

    def stretch(self, ms: int) -> Player:
        """The player adds so much silence."""
        self.now += ms * 1_000
        self.stretched += ms * MS
        self.report("playing")
        return self

    @property
    def only(self) -> HeardPause:
        (pause,) = self.found
        return pause


TEXT = "Your boiler, sir, is fine. It is old."


def at(text: str) -> int:
    """Milliseconds at which a part of TEXT has ended."""
    return (TEXT.index(text) + len(text)) * 60


@pytest.mark.parametrize(
    ("after", "place"),
    [
        ("Your boi", Place.WORD),
        ("Your", Place.PHRASE),
        ("Your boiler,", Place.CLAUSE),
        ("Your boiler, sir, is", Place.PHRASE),
        ("is fine.", Place.SENTENCE),
    ],
)
def test_an_underrun_has_its_place_in_the_text(after: str, place: Place) -> None:
    player = Player(spoken(TEXT)).play(at(after)).dry(420).play(200)
    pause = player.only
    assert (pause.place, pause.cause) == (place, Cause.UNDERRUN)
    assert pause.duration_us == pause.underrun_us == 420_000
    assert pause.at_us == player.began + at(after) * 1_000


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("I called Dr. Smith today", Place.PHRASE),
        ("It costs, say, much", Place.CLAUSE),
        ("Wait \u2014 I see", Place.CLAUSE),
        ("Really? I see", Place.SENTENCE),
    ],
)
def test_the_place_is_read_as_the_voice_reads_it(text: str, place: Place) -> None:
    stop = re.search(r"Dr\.|costs,|\u2014|Really\?", text)
    assert stop is not None
    assert Player(spoken(text)).play(stop.end() * 60).dry(300).play(100).only.place is place


def test_silence_at_a_seam_is_one_pause_with_the_underrun_in_it() -> None:
    first, second = spoken("It is fine. ", 330), spoken("But old.", 0)
    player = Player(first, second).play(11 * 60 + 330).dry(500).play(100)
    pause = player.only
    assert (pause.place, pause.cause) == (Place.SENTENCE, Cause.UNDERRUN)
    assert (pause.duration_us, pause.underrun_us) == (830_000, 500_000)
    assert pause.sample == 11 * EACH
    assert pause.at_us == player.began + 11 * 60_000


def test_silence_of_the_voice_is_authored() -> None:
    player = Player(spoken("It is fine, ", 150), spoken("But old.", 0)).play(1_000)
    pause = player.only
    assert (pause.place, pause.cause) == (Place.CLAUSE, Cause.AUTHORED)
    assert (pause.duration_us, pause.underrun_us) == (150_000, 0)


def test_a_clause_cut_in_mid_phrase_pauses_inside_a_phrase() -> None:
    player = Player(spoken("It will cost you "), spoken("forty dollars.")).play(16 * 60)
    assert player.dry(260).play(100).only.place is Place.PHRASE


def test_silence_that_was_announced_is_bridging() -> None:
    player = Player(spoken("Let me check that. ", 330, bridges=True), spoken("It is fine."))
    player.play(18 * 60 + 330).dry(1_350).play(100)
    assert (player.only.cause, player.only.duration_us) == (Cause.BRIDGING, 1_680_000)


def test_what_the_player_added_belongs_to_the_pause() -> None:
    player = Player(spoken("It is fine, ", 200), spoken("But it is old.", 0))
    player.play(11 * 60 + 200).stretch(60).play(300).dry(80).play(200)
    first, second = player.found
    assert (first.cause, first.duration_us, first.stretched_us) == (Cause.AUTHORED, 260_000, 60_000)
    # What comes later is later by as much.
    assert second.at_us == player.began + (11 * 60 + 200 + 60 + 300) * 1_000


def test_o14_silence_before_and_after_the_words_is_no_pause() -> None:
    lead = Piece("Yes. ", 400 * MS, (WordSpan(0, 4, 100 * MS, 300 * MS),), ((0, 100 * MS),))
    tail = Piece("", 500 * MS, (), ((0, 500 * MS),))
    player = Player(lead, tail).play(900)
    player.report("stopped")
    assert player.found == []
    assert player.ledger.first_audible == 100 * MS


def test_m10_the_first_audible_sample_is_behind_the_leading_silence() -> None:
    player = Player(Piece("Yes.", 400 * MS, (), ((0, 150 * MS),)))
    clock = player.ledger.clock
    assert clock.at(player.ledger.first_audible) - clock.at(0) == 150_000


def test_an_underrun_at_the_end_is_the_end() -> None:
    player = Player(spoken("It is fine.")).play(11 * 60)
    player.report("underrun")
    player.now += 900_000
    player.report("stopped")
    assert player.found == []
    assert player.ledger.clock.ended_us == player.began + 11 * 60_000


def test_without_word_timings_the_characters_say_where() -> None:
    player = Player(spoken(TEXT, timed=False)).play(at("Your boi")).dry(200).play(100)
    assert player.only.place is Place.WORD
    player = Player(spoken(TEXT, timed=False)).play(at("Your boiler,")).dry(200).play(100)
    assert player.only.place is Place.CLAUSE


def test_o15_a_sentence_that_comes_four_seconds_late_is_one_long_pause() -> None:
    player = Player(spoken("It is fine. ", 330)).play(11 * 60 + 330)
    player.report("underrun")
    player.now += 4_000_000
    player.ledger.add(spoken("But old."))
    player.report("playing")
    player.play(300)
    assert player.only.duration_us == 4_330_000


def test_reports_that_go_back_or_come_after_the_end_change_nothing() -> None:
    player = Player(spoken(TEXT)).play(500)
    before = player.ledger.clock.anchors
    player.ledger.clock.report("playing", 5, player.now + 9_000_000)
    player.report("flushed")
    player.ledger.clock.report("playing", 20_000, player.now + 9_000_000)
    assert player.ledger.clock.anchors == before
    assert player.ledger.clock.ended_us == player.now


def test_a_stretch_is_believed_as_far_as_time_has_passed() -> None:
    player = Player(spoken("It is fine, ", 100), spoken("But it is old.", 0)).play(11 * 60 + 100)
    player.stretched += 86_400 * 24_000  # a day, it says
    player.play(300)
    assert player.only.duration_us <= 120_000


def test_a_player_that_stops_without_end_is_not_followed_without_end() -> None:
    player = Player(spoken(TEXT * 40))
    for _ in range(5_000):
        player.sample += 1
        player.dry(1)
    assert len(player.ledger.clock.stops) <= 1_024
    assert len(player.ledger.clock.anchors) <= 1_024
    player.report("flushed")
    assert player.ledger.clock.ended_us == player.now


def test_a_touching_silence_is_one_silence() -> None:
    ledger = PlayoutLedger()
    ledger.add(spoken("One, ", 100))
    ledger.add(Piece("two", 2_400, (), ((0, 240),)))
    assert ledger.silences == [Silence(4 * EACH, 4 * EACH + 2_640)]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.integers(1, 900)),
        st.tuples(st.just("dry"), st.integers(1, 3_000)),
        st.tuples(st.just("stretch"), st.integers(1, 100)),
    ),
    max_size=12,
)


@given(steps, st.lists(st.integers(0, 400), min_size=1, max_size=6))
def test_pauses_and_sound_are_all_the_time_that_passed(
    script: list[tuple[str, int]], silent: list[int]
) -> None:
    player = Player(*(spoken(f"Clause {n}, ", ms) for n, ms in enumerate(silent)))
    for step, ms in script:
        if step != "play":
            getattr(player, step)(ms)
        else:
            player.play(min(ms, (player.ledger.total - player.sample) // MS))
    clock = player.ledger.clock
    stood = sum(stop.duration_us for stop in clock.stops)
    added = sum(stretch.duration_us for stretch in clock.stretches)
    assert player.now - player.began == player.sample // MS * 1_000 + stood + added
    # Pauses do not overlap, lie in order, and none is longer than the time there was.
    ends = player.began
    for pause in player.found:
        assert pause.at_us >= ends - 1
        assert pause.underrun_us + pause.stretched_us <= pause.duration_us
        ends = pause.at_us + pause.duration_us
    assert ends <= player.now + 1

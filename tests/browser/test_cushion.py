"""The player's queue in virtual time: its cushion, its longer pauses, its fades and its reports."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import PageServer
from tests.kit.virtual_player import (
    BLOCK,
    RATE,
    Breaks,
    Pcm,
    Played,
    Rule,
    Trace,
    breaks,
    bursts,
    over,
    play,
    play_all,
    sent,
    silences,
    speech,
    uniform,
)

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
LATE_MS = BLOCK / RATE * 1_000
TRACES = 200


@pytest.fixture
def page(page_for: Open, server: PageServer) -> Page:
    return page_for(server.url, ear=False).page


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def quiet(pcm: Pcm, *, lead: float = 0.4) -> Trace:
    """The audio over a network without jitter."""
    messages = sent(pcm, lead=lead)
    return Trace(pcm, over(messages, np.zeros(len(messages))))


def cushions(played: Played) -> list[float]:
    return [report["cushion"] * 1_000 for report in played.reports]


# --- the cushion ---------------------------------------------------------------------------------


def test_without_jitter_the_cushion_falls_to_its_least(page: Page) -> None:
    traces = []
    for number in range(4):
        pcm, _ = speech(rng(number), 3)
        messages = sent(pcm, lead=0)
        traces.append(Trace(pcm, over(messages, np.zeros(len(messages)), number * 5)))
    played = play_all(page, traces)
    assert cushions(played[0])[0] == pytest.approx(60, abs=2)
    assert cushions(played[-1])[-1] == 40
    last = breaks(traces[-1], played[-1])
    assert last.first_ms == pytest.approx(40, abs=2 * LATE_MS)
    assert (last.inside, last.total_ms) == (0, 0)


def test_a_sender_that_runs_ahead_is_heard_at_once(page: Page) -> None:
    trace = quiet(speech(rng(), 4)[0])
    played = play(page, trace)
    assert breaks(trace, played).first_ms < 2 * LATE_MS
    assert max(cushions(played)) <= 60


def call(delays: Callable[[np.random.Generator, int], NDArray[np.floating]]) -> list[Trace]:
    """Eight replies over one network, from a sender that does not run ahead."""
    random, traces = rng(), []
    for number in range(8):
        pcm, _ = speech(random, 3)
        messages = sent(pcm, lead=0)
        late = delays(random, len(messages))
        traces.append(Trace(pcm, over(messages, late, number * 6)))
    return traces


def heard(page: Page, traces: list[Trace], rule: Rule) -> list[Breaks]:
    return list(map(breaks, traces, play_all(page, traces, rule)))


@pytest.mark.parametrize(
    ("name", "delays"),
    [
        ("5 ms", lambda random, count: uniform(random, count, 0.005)),
        ("50 ms", lambda random, count: uniform(random, count, 0.05)),
        ("150 ms", lambda random, count: uniform(random, count, 0.15)),
        ("bursts of 150 ms", lambda random, count: bursts(random, count, 0.15)),
    ],
)
def test_fewer_breaks_with_adaptation_than_without(
    page: Page,
    name: str,
    delays: Callable[[np.random.Generator, int], NDArray[np.floating]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    traces = call(delays)
    without = sum(one.inside for one in heard(page, traces, "none"))
    adapted = sum(one.inside for one in heard(page, traces, "page"))
    with capsys.disabled():
        print(f"\nSIMULATED {name}: {without} breaks inside clauses, adapted {adapted}")  # noqa: T201
    assert adapted < without
    assert adapted <= 4


def test_the_cushion_follows_the_jitter_up_and_down(page: Page) -> None:
    random = rng()
    traces = []
    for number in range(14):
        pcm, _ = speech(random, 3)
        messages = sent(pcm)
        jitter = 0.15 if number < 3 else 0.0
        late = uniform(random, len(messages), jitter)
        traces.append(Trace(pcm, over(messages, late, number * 6)))
    played = play_all(page, traces)
    assert 110 <= cushions(played[2])[-1] <= 165
    assert cushions(played[4])[-1] > 80
    assert cushions(played[13])[-1] < 70
    steps = np.diff([value for one in played for value in cushions(one)])
    assert steps.min() > -15  # a second's worth, however long the reports are apart


@pytest.mark.parametrize("late_s", [0.15, 0.3, 1.0, 3.0])
def test_a_late_text_is_no_jitter(page: Page, late_s: float) -> None:
    pcm, begins = speech(rng(2), 6)
    clause = begins[2]
    ready = [(0, 0.0), (clause, clause / RATE - 0.4 + late_s), (begins[3], clause / RATE + late_s)]
    messages = sent(pcm, ready=ready)
    played = play(page, Trace(pcm, over(messages, np.zeros(len(messages)))), seconds=4)
    assert max(cushions(played)) <= 60


def test_a_stall_longer_than_any_cushion_is_no_jitter(page: Page) -> None:
    pcm, begins = speech(rng(3), 6)
    messages = sent(pcm, ready=[(0, 0.0), (begins[2] + 6_000, 4.5)])
    played = play(page, Trace(pcm, over(messages, np.zeros(len(messages)))), seconds=6)
    assert max(cushions(played)) <= 60


# --- longer pauses, and what is sure of every trace ----------------------------------------------


def random_trace(seed: int) -> Trace:
    """Any speech, sender and network."""
    random = rng(seed)
    pcm, begins = speech(random, random.uniform(0.5, 2))
    slow = random.choice([0, 0, 1.1, 1.3])
    ready = [(sample, sample / RATE * slow) for sample in begins]
    messages = sent(pcm, lead=random.choice([0, 0.1, 0.4]), ready=ready)
    jitter = random.choice([0.01, 0.05, 0.15, 0.3])
    kind = uniform if random.random() < 0.5 else bursts
    return Trace(pcm, over(messages, kind(random, len(messages), jitter)))


def restored(played: Played) -> tuple[Pcm, NDArray[np.bool_]]:
    """What left without what was added, and where no fade is due."""
    out = played.out
    first, last = played.started, played.reports[-1]["frame"]
    keep, plain = np.zeros(len(out), bool), np.ones(len(out), bool)
    keep[first:last] = True
    for kind, _, begin, end in played.added:
        keep[begin:end] = False
        if kind == "underrun":
            plain[begin - 120 : begin] = False
            plain[end : end + 73] = False
    return out[keep], plain[keep]


def longest_silence_at(pcm: Pcm, sample: int) -> int:
    """The length of the pause that ends at a sample, 0 where none does."""
    return max([b - a for a, b in silences(pcm) if b == sample], default=0)


def test_every_trace_is_played_as_sent_and_stretched_only_in_pauses(page: Page) -> None:
    stretched = 0
    for seed in range(TRACES):
        trace = random_trace(seed)
        played = play(page, trace, seconds=0.5)
        reports = played.reports
        same, plain = restored(played)
        assert len(same) == len(trace.pcm), seed
        assert np.array_equal(same[plain], trace.pcm[plain]), seed
        per_pause: dict[int, int] = {}
        for kind, sample, first, last in played.added:
            if kind == "stretch":
                per_pause[sample] = per_pause.get(sample, 0) + last - first
                assert np.abs(played.out[first:last]).max() <= 33
        for sample, length in per_pause.items():
            assert 0 < length <= 0.3 * longest_silence_at(trace.pcm, sample), seed
        stretched += sum(per_pause.values())
        assert reports[-1]["kind"] == "stopped"
        assert reports[-1]["stretched"] == sum(per_pause.values())
        dry = sum(last - first for kind, _, first, last in played.added if kind == "underrun")
        elapsed = reports[-1]["frame"] - reports[0]["frame"]
        assert reports[-1]["played"] + reports[-1]["stretched"] + dry == elapsed, seed
        check_reports(played)
    assert stretched > RATE / 4  # the property was tried


def check_reports(played: Played) -> None:
    """They never go back, and come each 100 ms while it plays."""
    for one, two in pairwise(played.reports):
        for field in ("frame", "played", "stretched"):
            assert two[field] >= one[field]
        if one["kind"] in ("started", "playing") and two["kind"] != "flushed":
            assert two["frame"] - one["frame"] <= 0.1 * RATE
    assert all(report["queued"] >= 0 for report in played.reports)


def test_no_pause_is_longer_when_the_reserve_is_there_or_the_item_complete(page: Page) -> None:
    pcm, _ = speech(rng(4), 4)
    assert play(page, quiet(pcm)).reports[-1]["stretched"] == 0
    short = np.concatenate([tone(0.5), np.zeros(5_000, np.int16), tone(0.02)])
    whole = Trace(short, [(0, 0, len(short))])
    assert play(page, whole).reports[-1]["stretched"] == 0
    open_end = play(page, whole, done=False)  # the same, but more may come
    assert 0 < open_end.reports[-1]["stretched"] <= 1_500


def test_reports_come_while_it_is_lowered(page: Page) -> None:
    trace = quiet(speech(rng(5), 3)[0])
    played = play(page, trace, ducks=[(RATE, True), (2 * RATE, False)])
    check_reports(played)
    assert np.abs(played.out[RATE + 600 : 2 * RATE]).max() <= 8_000 * 0.15 + 1


def test_an_underrun_in_speech_fades(page: Page) -> None:
    level = np.full(RATE, 10_000, np.int16)
    trace = Trace(level, [(0, 0, 4_840), (24_000, 4_840, RATE)])
    played = play(page, trace)
    _, _, first, last = played.added[0]
    steps = np.abs(np.diff(played.out[first - 200 : last + 200].astype(int)))
    assert steps.max() < 900  # a cut would be 10,000
    assert np.abs(played.out[first + 240 : last]).max() == 0


def test_flushed_at_any_moment_it_is_silent_in_10_ms_and_stays_so(page: Page) -> None:
    for seed in range(60):
        trace = random_trace(seed)
        moment = int(rng(seed).uniform(0, trace.end + len(trace.pcm) / 2))
        played = play(page, trace, flush=moment)
        applied = -(-moment // BLOCK) * BLOCK
        assert not played.out[applied + RATE // 100 :].any(), seed
        told = [report["kind"] for report in played.reports]
        assert told[-1] == "flushed", seed
        assert told.count("flushed") == 1, seed
        assert played.reports[-1]["frame"] <= applied + RATE // 100 or "stopped" in told
        check_reports(played)


# --- in the page ---------------------------------------------------------------------------------


def all_silence(wave: NDArray[np.floating], rate: int) -> float:
    """Silence between sounds, in milliseconds; less than 10 in a row is a wave's own."""
    gaps = np.diff(np.flatnonzero(np.abs(wave) > 1e-3)) / rate * 1_000
    return float(gaps[gaps > 10].sum())


def say_late(visit: Visit, server: PageServer, item: str, pcm: Pcm) -> list[int]:
    """Send audio live, some of it late (SIMULATED network); returns where the messages begin."""
    starts = [0, 480, *range(2_400, len(pcm), 1_920)]
    begin = time.monotonic()
    for first, last in zip(starts, [*starts[1:], len(pcm)], strict=True):
        media = first / RATE
        late = 0.13 if 0.3 < media < 0.36 else 0.1 if 0.7 < media < 1.2 else 0.0
        wait = begin + media + late - time.monotonic()
        if wait > 0:
            visit.page.wait_for_timeout(wait * 1_000)
        server.audio(item, pcm[first:last])
    return starts


def unplayed_waits(marks: list[float], starts: list[int], total: int) -> float:
    """The silence (ms) of a player that plays each message as soon as it has come."""
    waits, until = 0.0, marks[0]
    for at, first, last in zip(marks, starts, [*starts[1:], total], strict=True):
        waits += max(0.0, at - until)
        until = max(at, until) + (last - first) / RATE
    return waits * 1_000


def test_late_audio_in_the_real_page(page_for: Open, server: PageServer, script: Script) -> None:
    clause = np.concatenate([tone(0.6), np.zeros(int(0.33 * RATE), np.int16)])
    pcm = np.concatenate([clause, clause, tone(0.6)])
    visit = page_for(server.url).talk()
    item = script.reply(done=False)
    starts = say_late(visit, server, item, pcm)
    server.send("response.output_audio.done", item_id=item)
    stopped = server.report("stopped", item_id=item)
    visit.page.wait_for_timeout(250)
    told = server.sent("voiceagent.playout.report", item_id=item)
    dry = sum(
        float(two["input_ms"]) - float(one["input_ms"])
        for one, two in pairwise(told)
        if one["kind"] == "underrun"
    )
    stretched = stopped["stretched_samples"] / RATE * 1_000
    recording = visit.recording()
    heard = all_silence(recording.out, recording.rate) - 2 * 330
    assert stopped["played_samples"] == len(pcm)
    assert 0 < stretched <= 0.3 * 660
    assert heard == pytest.approx(stretched + dry, abs=10)
    marks = [mark["at"] for mark in visit.marks("response.output_audio.delta")]
    assert dry < unplayed_waits(marks, starts, len(pcm))
    assert all(40 <= report["cushion_ms"] <= 400 for report in told)


def test_the_page_says_what_its_clock_reads(page_for: Open, server: PageServer) -> None:
    visit = page_for(server.url).talk()
    server.wait(lambda: server.heard_seconds > 0.3)
    before = visit.audio_now()
    server.send("voiceagent.clock", id=7)
    first = server.wait_for("voiceagent.clock.reply", id=7)
    visit.page.wait_for_timeout(200)
    server.send("voiceagent.clock", id=8)
    second = server.wait_for("voiceagent.clock.reply", id=8)
    took = visit.audio_now() - before
    assert 200 <= second["input_ms"] - first["input_ms"] <= took * 1_000 + 12
    sent_ms = server.heard_seconds * 1_000
    assert first["input_ms"] <= sent_ms + 200  # audio is sent in pieces, after it was captured
    assert second["input_ms"] >= 450

"""What the page plays, heard by the ear, and what it reports of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.browser.visit import Visit
from tests.kit.page_conversation import Script, tone
from tests.kit.page_server import WIRE_RATE, PageServer

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]


def reports(server: PageServer, item: str) -> list[dict[str, Any]]:
    """The page's reports on an item."""
    return server.sent("voiceagent.playout.report", item_id=item)


def onset(wave: NDArray[np.floating], level: float = 0.02) -> int:
    """The first sample louder than ``level``."""
    return int(np.flatnonzero(np.abs(wave) > level)[0])


def peak_hertz(wave: NDArray[np.floating], rate: int) -> float:
    """The strongest frequency."""
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave))))
    return float(np.argmax(spectrum)) * rate / len(wave)


def settle(visit: Visit) -> None:
    """Let the ear's last block arrive."""
    visit.page.wait_for_timeout(250)


def test_o04_silent_within_50_ms_of_a_flush(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    item = script.reply(("A long answer.", tone(3)), done=False)
    server.report("playing", item_id=item)
    script.flush(item)
    flushed = server.report("flushed", item_id=item)
    visit.page.wait_for_timeout(500)
    told = visit.marks("voiceagent.playout.flush")[0]["at"]
    recording = visit.recording()
    assert recording.last_sound() <= told + 0.050
    assert recording.last_sound() > told - 0.5  # it was sounding
    played = round((recording.last_sound() - onset(recording.out) / WIRE_RATE) * WIRE_RATE)
    assert flushed["played_samples"] == pytest.approx(
        played - recording.first, abs=0.01 * WIRE_RATE
    )


def test_o01_late_audio_of_a_flushed_item_is_refused(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    item = script.reply(("First.", tone(1)), done=False)
    server.report("playing", item_id=item)
    script.flush(item)
    server.report("flushed", item_id=item)
    begin = visit.audio_now() + 0.05
    server.audio(item, tone(0.8))  # ten more messages of the reply that is gone
    server.send("response.output_audio.done", item_id=item)
    visit.page.wait_for_timeout(600)
    assert not visit.recording().between(begin, visit.audio_now()).any()
    later = script.reply(("Second.", tone(0.5, 880)))
    stopped = server.report("stopped", item_id=later)
    assert stopped["played_samples"] == len(tone(0.5))
    settle(visit)
    recording = visit.recording()
    assert peak_hertz(recording.between(begin, 1e9), recording.rate) == pytest.approx(880, abs=5)
    assert [report["kind"] for report in reports(server, item)][-1] == "flushed"


def test_flush_of_an_unknown_or_finished_item_is_answered(
    page_for: Open, server: PageServer, script: Script
) -> None:
    page_for(server.url).talk()
    item = script.reply(("Done.", tone(0.2)))
    server.report("stopped", item_id=item)
    script.flush(item)
    assert server.report("flushed", item_id=item)["played_samples"] == len(tone(0.2))
    script.flush("item_never_heard_of")
    assert server.report("flushed", item_id="item_never_heard_of")["played_samples"] == 0


def test_duck_lowers_within_20_ms_and_comes_back(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    item = script.reply(("A long answer.", tone(3, 1_000)))
    server.report("playing", item_id=item)
    server.send("voiceagent.playout.duck", item_id=item, on=True)
    visit.page.wait_for_timeout(400)
    server.send("voiceagent.playout.duck", item_id=item, on=False)
    visit.page.wait_for_timeout(400)
    settle(visit)
    recording = visit.recording()
    frame = recording.rate // 500  # two milliseconds: two periods of the tone
    level = np.abs(recording.out[: len(recording.out) // frame * frame]).reshape(-1, frame).max(1)
    level = level[np.flatnonzero(level)[0] :] / level.max()
    low = np.flatnonzero(level < 0.17)
    assert level[low].mean() == pytest.approx(0.15, abs=0.01)
    falling = np.flatnonzero((level[: low[0]] < 0.97) & (level[: low[0]] > 0.17))
    assert len(falling) * 2 <= 24
    rising = level[low[-1] :]
    assert np.flatnonzero(rising > 0.97)[0] * 2 <= 64
    assert np.abs(np.diff(level)).max() < 0.2  # no jump


def test_reports_tell_what_left_and_when(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    server.wait(lambda: server.heard_seconds > 0.3)
    visit.say(tone(0.2, 1_000), WIRE_RATE)
    visit.page.wait_for_timeout(300)
    item = script.reply(("Here you are.", tone(1.25)))
    stopped = server.report("stopped", item_id=item)
    settle(visit)
    told = reports(server, item)
    kinds = [report["kind"] for report in told]
    assert kinds == ["started", *["playing"] * (len(kinds) - 2), "stopped"]
    assert len(kinds) - 2 >= 11  # each 100 ms
    assert told[0]["played_samples"] == 0
    assert stopped["played_samples"] == len(tone(1.25))
    played = [report["played_samples"] for report in told]
    assert played == sorted(played)
    # Where the reply began on the microphone's timeline, by the page and by the ear.
    recording = visit.recording()
    spoken_ms = onset(np.concatenate(server.heard) / 32_768) / WIRE_RATE * 1_000
    by_ear = (onset(recording.out) - onset(recording.mic)) / recording.rate * 1_000
    latency = visit.page.evaluate("(lab.context.baseLatency + lab.context.outputLatency) * 1000")
    by_page = float(told[0]["input_ms"]) - spoken_ms - latency
    assert by_page == pytest.approx(by_ear, abs=12)


def test_a_report_tells_what_has_been_heard(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url)
    visit.type("Hello")  # without a microphone the timeline is the page's own audio clock
    server.wait_for("response.create")
    item = script.reply(("Here you are.", tone(0.5)))
    server.report("stopped", item_id=item)
    told = visit.marks("voiceagent.playout.report")
    assert [mark["event"]["kind"] for mark in told][:: len(told) - 1] == ["started", "stopped"]
    for mark in told:  # the main thread reads the clock up to a render block late
        assert mark["at"] * 1_000 >= mark["event"]["input_ms"] - 12


def test_o13_o14_underrun_is_one_pause_in_one_reply(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    item = script.reply(("One. ", tone(0.4)), done=False)
    dry = server.report("underrun", item_id=item)
    assert dry["played_samples"] == len(tone(0.4))
    visit.page.wait_for_timeout(300)
    server.audio(item, tone(0.4))
    server.send("response.output_audio.done", item_id=item)
    server.report("stopped", item_id=item)
    settle(visit)
    kinds = [report["kind"] for report in reports(server, item) if report["kind"] != "playing"]
    assert kinds == ["started", "underrun", "stopped"]
    resumed = [r for r in reports(server, item) if r["played_samples"] == dry["played_samples"]][1]
    pause = float(resumed["input_ms"]) - float(dry["input_ms"])
    recording = visit.recording()
    sound = np.flatnonzero(np.abs(recording.out) > 0.01)
    heard = np.diff(sound).max() / recording.rate * 1_000
    assert pause == pytest.approx(heard, abs=10)


def test_late_done_after_an_underrun_stops_the_item(
    page_for: Open, server: PageServer, script: Script
) -> None:
    page_for(server.url).talk()
    item = script.reply(("Short.", tone(0.2)), done=False)
    server.report("underrun", item_id=item)
    server.send("response.output_audio.done", item_id=item)
    assert server.report("stopped", item_id=item)["played_samples"] == len(tone(0.2))


def test_sound_shorter_than_the_cushion_is_played(
    page_for: Open, server: PageServer, script: Script
) -> None:
    page_for(server.url).talk()
    item = script.reply(("Mm.", tone(0.03)), done=False)
    assert server.report("underrun", item_id=item)["played_samples"] == len(tone(0.03))


def test_replies_follow_each_other_and_never_mix(
    page_for: Open, server: PageServer, script: Script
) -> None:
    visit = page_for(server.url).talk()
    first = script.reply(("One.", tone(0.5, 500)), done=False)  # its end is never told
    second = script.reply(("Two.", tone(0.5, 2_000)))
    server.report("stopped", item_id=second)
    assert server.sent("voiceagent.playout.report", item_id=first, kind="stopped")
    settle(visit)
    recording = visit.recording()
    begin = onset(recording.out)
    half = recording.rate // 2
    one = recording.out[begin : begin + half]
    rest = recording.out[begin + half :]
    two = rest[onset(rest) :][:half]
    assert peak_hertz(one, recording.rate) == pytest.approx(500, abs=5)
    assert peak_hertz(two, recording.rate) == pytest.approx(2_000, abs=5)


def test_played_as_sent(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url).talk()
    noise = np.random.default_rng(7).integers(-8_000, 8_000, WIRE_RATE, dtype=np.int16)
    item = script.reply(("Noise.", noise))
    server.report("stopped", item_id=item)
    settle(visit)
    out = np.rint(visit.recording().out * 32_767)
    begin = int(np.flatnonzero(out)[0])
    first = int(np.flatnonzero(noise)[0])
    difference = out[begin : begin + len(noise) - first] - noise[first:]
    assert np.abs(difference).max() <= 2


def test_volume(page_for: Open, server: PageServer, script: Script) -> None:
    visit = page_for(server.url).talk()
    slider = visit.page.get_by_role("slider", name="Volume")
    slider.focus()
    visit.page.keyboard.press("Home")
    visit.page.wait_for_timeout(300)
    item = script.reply(("Unheard.", tone(0.4)))
    server.report("stopped", item_id=item)
    settle(visit)
    assert np.abs(visit.recording().out).max() < 0.01


@pytest.mark.parametrize("rate", ["refused", "foreign microphone"])
def test_o10_pitch_and_length_hold_at_another_rate(
    page_for: Open, server: PageServer, script: Script, rate: str
) -> None:
    visit = page_for(server.url, rate=rate).talk()
    server.wait(lambda: server.heard_seconds > 0.3)
    for _ in range(3):  # a browser on busy cores may drop out once; a wrong rate is wrong each time
        begin = sum(map(len, server.heard))
        visit.say(tone(1, 1_000), 48_000)  # half a second at 2 kHz
        server.wait(lambda begin=begin: server.heard_seconds > begin / WIRE_RATE + 1.3)
        heard = np.concatenate(server.heard)[begin:] / 32_768
        spoken = np.flatnonzero(np.abs(heard) > 0.05)
        seconds = (spoken[-1] - spoken[0]) / WIRE_RATE
        if seconds == pytest.approx(0.5, abs=0.005):
            break
    assert seconds == pytest.approx(0.5, abs=0.005)
    clean = heard[spoken[0] + 2_400 : spoken[-1] - 2_400]
    assert peak_hertz(clean, WIRE_RATE) == pytest.approx(2_000, abs=10)
    item = script.reply(("Tone.", tone(1, 440)))
    stopped = server.report("stopped", item_id=item)
    assert stopped["played_samples"] == WIRE_RATE
    settle(visit)
    recording = visit.recording()
    assert recording.rate in (44_100, 48_000)
    played = np.flatnonzero(np.abs(recording.out) > 0.01)
    assert (played[-1] - played[0]) / recording.rate == pytest.approx(1, abs=0.01)
    wave = recording.out[played[0] : played[-1]]
    assert peak_hertz(wave, recording.rate) == pytest.approx(440, abs=2)


RESAMPLE = """async ([source, target]) => {
  const { Resampler } = await import("/web/resample.js");
  const wave = (hertz, level, n) => level * Math.sin(2 * Math.PI * hertz * n / source);
  const high = target < source ? 0.4 : 0;  // 16 kHz: nothing of it may be left at 24 kHz
  const at = (_, n) => wave(1000, 0.5, n) + wave(16000, high, n);
  const input = Float32Array.from({ length: source }, at);
  return [source, 128].map((size) => {
    const resampler = new Resampler(source, target);
    const output = [];
    for (let n = 0; n < input.length; n += size) {
      output.push(...resampler.push(input.slice(n, n + size)));
    }
    return [...output, ...resampler.finish()];
  });
}"""


@pytest.mark.parametrize("rates", [(48_000, 24_000), (44_100, 24_000), (24_000, 48_000)])
def test_resampler_gives_the_same_in_pieces_and_keeps_the_band(
    page_for: Open, server: PageServer, rates: tuple[int, int]
) -> None:
    visit = page_for(server.url, ear=False)
    target = rates[1]
    whole, pieces = visit.page.evaluate(RESAMPLE, list(rates))
    assert len(whole) == target
    assert np.allclose(whole, pieces, atol=1e-6)
    inner = np.arange(target // 10, target - target // 10)
    wanted = 0.5 * np.sin(2 * np.pi * 1_000 * inner / target)
    assert np.abs(np.array(whole)[inner] - wanted).max() < 2e-3

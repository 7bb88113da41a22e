// @ts-check
/** One item's audio in the player: what has arrived of it and what has left. */
import { Resampler } from "./resample.js";

export const WIRE_RATE = 24_000;
/** Samples below this are silence (-60 dBFS). */
export const SILENT = 0.001;
/** Silence of this length (seconds) is a pause between clauses; inside words it is below 0.07. */
const PAUSE = 0.1;

export class Item {
  /** @param {string} id @param {number} rate the context's sample rate */
  constructor(id, rate) {
    this.id = id;
    this.rate = rate;
    this.resampler = rate === WIRE_RATE ? null : new Resampler(WIRE_RATE, rate);
    /** @type {Float32Array[]} at the context's rate */
    this.chunks = [];
    this.offset = 0;
    this.queued = 0;
    /** Samples (24 kHz) that have arrived, and how many of the last of them are silent. */
    this.received = 0;
    this.silentTail = 0;
    /** @type {number[]} when the last messages came minus their place in the audio, seconds */
    this.delays = [];
    /** Samples (context's rate) that have left. */
    this.played = 0;
    /** How many of the last samples that left are silent; silence before the first word is no pause. */
    this.quiet = Number.NEGATIVE_INFINITY;
    /** Silence (context's rate) that was added in all; in this pause, and how much it may become. */
    this.stretched = 0;
    this.stretchedHere = 0;
    this.mostStretch = 0;
    /** Silence is being added now. */
    this.holding = false;
    /** The frame of the last report. */
    this.reportedAt = 0;
    /** No more audio will come. */
    this.done = false;
    /** It has not started, or it ran dry: it waits for its cushion. */
    this.waiting = true;
    this.ducked = false;
    this.flushing = false;
  }

  /** Samples (24 kHz) that have left. */
  get heard() {
    const samples = Math.round((this.played * WIRE_RATE) / this.rate);
    return this.done && !this.queued ? this.received : Math.min(this.received, samples);
  }

  /** Seconds of audio that have arrived. */
  get arrived() {
    return this.received / WIRE_RATE;
  }

  /** The delay of its least delayed message, seconds. */
  get leastDelay() {
    return Math.min(...this.delays);
  }

  /** What has arrived ends in a pause. */
  get endsInPause() {
    return this.silentTail >= PAUSE * WIRE_RATE;
  }

  /** The listener has nothing to hear. */
  get starved() {
    return this.waiting && !this.queued && this.played > 0;
  }

  /** @param {Int16Array} pcm the next samples, 24 kHz */
  add(pcm) {
    const samples = Float32Array.from(pcm, (sample) => sample / 32_768);
    const last = samples.findLastIndex((sample) => Math.abs(sample) >= SILENT);
    this.silentTail = last < 0 ? this.silentTail + pcm.length : pcm.length - 1 - last;
    this.received += pcm.length;
    this.keep(this.resampler ? this.resampler.push(samples) : samples);
  }

  finish() {
    if (!this.done && this.resampler) this.keep(this.resampler.finish());
    this.done = true;
  }

  /**
   * How many of the next samples come before a word that follows a pause.
   * @param {number} most look no further
   */
  untilWord(most) {
    let quiet = this.quiet;
    let count = 0;
    let offset = this.offset;
    for (const chunk of this.chunks) {
      for (; offset < chunk.length; offset++, count++) {
        if (count === most) return count;
        const silent = Math.abs(chunk[offset]) < SILENT;
        if (!silent && quiet >= PAUSE * this.rate) return count;
        quiet = silent ? quiet + 1 : 0;
      }
      offset = 0;
    }
    return count;
  }

  /** The word after the pause begins. */
  endPause() {
    this.quiet = 0;
    this.stretchedHere = 0;
  }

  /** Move as much as there is into `out`. @param {Float32Array} out @returns {number} samples moved */
  read(out) {
    let filled = 0;
    while (filled < out.length && this.chunks.length) {
      const chunk = this.chunks[0];
      const part = chunk.subarray(this.offset, this.offset + out.length - filled);
      out.set(part, filled);
      filled += part.length;
      this.offset += part.length;
      if (this.offset === chunk.length) {
        this.chunks.shift();
        this.offset = 0;
      }
    }
    this.queued -= filled;
    this.played += filled;
    const last = out.subarray(0, filled).findLastIndex((sample) => Math.abs(sample) >= SILENT);
    this.quiet = last < 0 ? this.quiet + filled : filled - 1 - last;
    return filled;
  }

  /** @param {Float32Array} samples */
  keep(samples) {
    if (!samples.length) return;
    this.chunks.push(samples);
    this.queued += samples.length;
  }
}

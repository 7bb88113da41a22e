// @ts-check
/** One item's audio in the player: what has arrived of it and what has left. */
import { Resampler } from "./resample.js";

export const WIRE_RATE = 24_000;

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
    /** Samples (24 kHz) that have arrived. */
    this.received = 0;
    /** Samples (context's rate) that have left, and the count at the last report. */
    this.played = 0;
    this.reported = 0;
    /** No more audio will come. */
    this.done = false;
    /** It has not started, or it ran dry: it waits for its cushion. */
    this.waiting = true;
    this.waited = 0;
    this.ducked = false;
    this.flushing = false;
  }

  /** Samples (24 kHz) that have left. */
  get heard() {
    const samples = Math.round((this.played * WIRE_RATE) / this.rate);
    return this.done && !this.queued ? this.received : Math.min(this.received, samples);
  }

  /** @param {Int16Array} pcm the next samples, 24 kHz */
  add(pcm) {
    const samples = Float32Array.from(pcm, (sample) => sample / 32_768);
    this.received += pcm.length;
    this.keep(this.resampler ? this.resampler.push(samples) : samples);
  }

  finish() {
    if (!this.done && this.resampler) this.keep(this.resampler.finish());
    this.done = true;
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
    return filled;
  }

  /** @param {Float32Array} samples */
  keep(samples) {
    if (!samples.length) return;
    this.chunks.push(samples);
    this.queued += samples.length;
  }
}

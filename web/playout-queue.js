// @ts-check
/**
 * The player's queue: which samples leave now, and what is reported about them. Pure; the worklet
 * (or, where worklets are missing, a ScriptProcessorNode) calls `process` for each block.
 *
 * Items play one after the other. An item waits for a small cushion before it starts and after it
 * ran dry. A flushed item fades out within 5 ms, and what still arrives of it is refused.
 */
import { Item } from "./playout-item.js";

/**
 * @typedef {"started" | "playing" | "underrun" | "stopped" | "flushed"} ReportKind
 * @typedef {{kind: ReportKind, item: string, played: number, frame: number}} Report
 *   `played`: samples (24 kHz) of the item that have left; `frame`: when, in frames of the context.
 */

// Seconds.
const LEAST_CUSHION = 0.06;
const MOST_CUSHION = 0.12;
/** Audio that is there waits no longer than this for its cushion. */
const LONGEST_WAIT = 0.25;
const REPORT_EVERY = 0.1;
const DUCK_IN = 0.02;
const DUCK_OUT = 0.06;
const FADE_OUT = 0.005;
const FADE_IN = 0.003;
/** The gain of a lowered voice. */
const DUCKED = 0.15;
/** How many finished or flushed items are remembered, to refuse their late audio. */
const REMEMBERED = 256;

export class PlayoutQueue {
  /**
   * @param {number} rate the context's sample rate
   * @param {(report: Report) => void} report
   */
  constructor(rate, report) {
    this.rate = rate;
    this.report = report;
    /** @type {Item[]} */
    this.items = [];
    /** @type {Map<string, number>} items that are over, and how much of each was heard */
    this.over = new Map();
    this.cushion = LEAST_CUSHION;
    this.gain = 1;
    /** How fast the gain rises (per second). */
    this.rise = 1 / FADE_IN;
    this.last = 0;
    this.frame = 0;
  }

  /** @param {string} id @param {Int16Array} pcm the next samples of the item, 24 kHz */
  enqueue(id, pcm) {
    const item = this.open(id);
    if (item && !item.flushing) item.add(pcm);
  }

  /** No more audio of this item will come. @param {string} id */
  finish(id) {
    this.open(id)?.finish();
  }

  /** Lower the voice, or restore it. @param {string} id @param {boolean} on */
  duck(id, on) {
    const item = this.known(id);
    if (!item) return;
    item.ducked = on;
    this.rise = (1 - DUCKED) / DUCK_OUT;
  }

  /** Stop the item, and refuse what still arrives of it. @param {string} id */
  flush(id) {
    const item = this.known(id);
    if (!item) this.close(id, this.over.get(id) ?? 0, "flushed", this.frame);
    else if (item === this.items[0] && !item.waiting) item.flushing = true;
    else this.close(id, item.heard, "flushed", this.frame);
  }

  /**
   * Fill the next block.
   * @param {Float32Array} out
   * @param {number} frame the context's frame at which the block begins
   */
  process(out, frame) {
    this.frame = frame;
    let filled = 0;
    for (let item = this.items[0]; item && filled < out.length; item = this.items[0]) {
      if (item.waiting && !this.begin(item, frame + filled, out.length - filled)) break;
      filled += this.play(item, out.subarray(filled), frame + filled);
    }
    // What ends in mid-wave dies away within a few milliseconds, instead of clicking.
    for (; filled < out.length; filled++) {
      this.last = Math.abs(this.last) < 1e-4 ? 0 : this.last * 0.93;
      out[filled] = this.last;
    }
  }

  /** Whether a waiting item may go on now. @param {Item} item @param {number} frame @param {number} block */
  begin(item, frame, block) {
    // Audio of the next item says that this one is complete, even if nobody else did.
    if (!item.queued && this.items.length > 1) item.finish();
    if (item.queued) item.waited += block;
    const ready = item.queued >= this.cushion * this.rate || item.waited >= LONGEST_WAIT * this.rate;
    if (!item.done && !ready) return false;
    item.waiting = false;
    item.waited = 0;
    if (!item.queued) return true;
    this.rise = 1 / FADE_IN;
    this.gain = item.played ? 0 : item.ducked ? DUCKED : 1;
    this.tell(item, item.played ? "playing" : "started", frame);
    return true;
  }

  /** @param {Item} item @param {Float32Array} room @param {number} frame @returns {number} samples filled */
  play(item, room, frame) {
    const fade = Math.ceil(this.gain * FADE_OUT * this.rate);
    const size = item.flushing ? Math.min(room.length, fade) : room.length;
    const filled = item.read(room.subarray(0, size));
    this.shape(item, room.subarray(0, filled));
    const at = frame + filled;
    if (item.flushing) {
      if (this.gain === 0 || !item.queued) this.close(item.id, item.heard, "flushed", at);
    } else if (!item.queued) {
      if (item.done) this.stop(item, at);
      else this.ranDry(item, at);
    } else if (item.played - item.reported >= REPORT_EVERY * this.rate) {
      this.tell(item, "playing", at);
    }
    return filled;
  }

  /** Move the gain sample by sample to where it belongs. @param {Item} item @param {Float32Array} samples */
  shape(item, samples) {
    const target = item.flushing ? 0 : item.ducked ? DUCKED : 1;
    const fall = (item.flushing ? 1 / FADE_OUT : (1 - DUCKED) / DUCK_IN) / this.rate;
    const rise = this.rise / this.rate;
    for (let n = 0; n < samples.length; n++) {
      if (this.gain > target) this.gain = Math.max(target, this.gain - fall);
      else if (this.gain < target) this.gain = Math.min(target, this.gain + rise);
      samples[n] *= this.gain;
    }
    if (samples.length) this.last = samples[samples.length - 1];
  }

  /** @param {Item} item @param {number} frame */
  stop(item, frame) {
    this.cushion = Math.max(LEAST_CUSHION, this.cushion - 0.015);
    this.close(item.id, item.heard, "stopped", frame);
  }

  /** @param {Item} item @param {number} frame */
  ranDry(item, frame) {
    item.waiting = true;
    this.cushion = Math.min(MOST_CUSHION, this.cushion + 0.03);
    this.tell(item, "underrun", frame);
  }

  /** @param {string} id @param {number} played @param {"stopped" | "flushed"} kind @param {number} frame */
  close(id, played, kind, frame) {
    this.items = this.items.filter((item) => item.id !== id);
    this.over.set(id, played);
    if (this.over.size > REMEMBERED) this.over.delete([...this.over.keys()][0]);
    this.gain = 1;
    this.report({ kind, item: id, played, frame });
  }

  /** @param {Item} item @param {ReportKind} kind @param {number} frame */
  tell(item, kind, frame) {
    item.reported = item.played;
    this.report({ kind, item: item.id, played: item.heard, frame });
  }

  /** @param {string} id */
  known(id) {
    return this.items.find((item) => item.id === id);
  }

  /** The item of this id, made when new; undefined when it is over. @param {string} id */
  open(id) {
    if (this.over.has(id)) return undefined;
    const known = this.known(id);
    if (known) return known;
    const item = new Item(id, this.rate);
    this.items.push(item);
    return item;
  }
}

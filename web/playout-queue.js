// @ts-check
/**
 * The player's queue: which samples leave now, and what is reported about them. Pure; the worklet
 * (or, where worklets are missing, a ScriptProcessorNode) calls `process` for each block.
 *
 * Items play one after the other. An item waits for its cushion before it starts and after it ran
 * dry. While it runs low, the pauses between its clauses are made longer, so that it does not run
 * dry in a word. A flushed item fades out within 5 ms, and what still arrives of it is refused.
 */
import { Cushion } from "./playout-cushion.js";
import { Item, SILENT, WIRE_RATE } from "./playout-item.js";

/**
 * @typedef {"started" | "playing" | "underrun" | "stopped" | "flushed"} ReportKind
 * @typedef {{kind: ReportKind, item: string, played: number, frame: number, stretched: number,
 *   cushion: number, queued: number, holding: boolean}} Report
 *   `played`: samples (24 kHz) of the item that have left; `frame`: when, in frames of the context;
 *   `stretched`: samples (24 kHz) of silence added to its pauses so far; `cushion`, `queued`: how
 *   much it wants in reserve and has, seconds; `holding`: a pause is being made longer.
 */

// Seconds.
/** A message brings the audio for the time until the next one. */
const MESSAGE = 0.08;
const REPORT_EVERY = 0.1;
const DUCK_IN = 0.02;
const DUCK_OUT = 0.06;
const FADE_OUT = 0.005;
const FADE_IN = 0.003;
/** The gain of a lowered voice. */
const DUCKED = 0.15;
/** How much longer a pause may become, as a share of itself. */
const MOST_STRETCH = 0.3;
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
    /** @type {Map<string, Report>} items that are over, and what was told of each at last */
    this.over = new Map();
    this.cushion = new Cushion();
    this.gain = 1;
    /** How fast the gain rises (per second). */
    this.rise = 1 / FADE_IN;
    this.last = 0;
    /** The frame at which the next block begins. */
    this.frame = 0;
  }

  /** @param {string} id @param {Int16Array} pcm the next samples of the item, 24 kHz */
  enqueue(id, pcm) {
    const item = this.open(id);
    if (!item || item.flushing || !pcm.length) return;
    this.cushion.arrived(item, this.frame / this.rate, pcm.length / WIRE_RATE);
    item.add(pcm);
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
    const told = this.over.get(id);
    if (told) return this.report({ ...told, kind: "flushed", frame: this.frame });
    const item = this.known(id) ?? new Item(id, this.rate);
    if (item === this.items[0] && !item.waiting && !item.holding) item.flushing = true;
    else this.close(item, "flushed", this.frame);
  }

  /**
   * Fill the next block.
   * @param {Float32Array} out
   * @param {number} frame the context's frame at which the block begins
   */
  process(out, frame) {
    let filled = 0;
    for (let item = this.items[0]; item && filled < out.length; item = this.items[0]) {
      if (item.waiting && !this.begin(item, frame + filled)) break;
      filled += this.play(item, out.subarray(filled), frame + filled);
    }
    this.fadeAway(out.subarray(filled));
    this.frame = frame + out.length;
    const item = this.items[0];
    const due = item && this.frame + out.length - item.reportedAt > REPORT_EVERY * this.rate;
    if (due && !item.waiting) this.tell(item, "playing", this.frame);
  }

  /** Whether a waiting item may go on now. @param {Item} item @param {number} frame */
  begin(item, frame) {
    // Audio of the next item says that this one is complete, even if nobody else did.
    if (!item.queued && this.items.length > 1) item.finish();
    if (!item.done && !(item.queued && this.ready(item, frame))) return false;
    item.waiting = false;
    if (!item.queued) return true;
    this.rise = 1 / FADE_IN;
    this.gain = item.played ? 0 : item.ducked ? DUCKED : 1;
    this.tell(item, item.played ? "playing" : "started", frame);
    return true;
  }

  /**
   * Whether the item plays late enough that a message which is late by the cushion is in time, or
   * has that much anyway. @param {Item} item @param {number} frame
   */
  ready(item, frame) {
    const behind = (frame - item.played) / this.rate - item.leastDelay;
    const { seconds } = this.cushion;
    return behind >= seconds || item.queued >= (seconds + MESSAGE) * this.rate;
  }

  /** @param {Item} item @param {Float32Array} room @param {number} frame @returns {number} samples filled */
  play(item, room, frame) {
    if (item.untilWord(1) === 0 && item.queued) {
      const added = this.stretch(item, room, frame);
      if (added) return added;
      item.endPause();
    }
    const fade = Math.ceil(this.gain * FADE_OUT * this.rate);
    const size = item.untilWord(item.flushing ? Math.min(room.length, fade) : room.length);
    const samples = room.subarray(0, size);
    item.read(samples);
    this.shape(item, samples);
    const at = frame + size;
    if (item.flushing) {
      if (this.gain === 0 || !item.queued) this.close(item, "flushed", at);
    } else if (!item.queued) {
      if (item.done) this.close(item, "stopped", at);
      else this.ranDry(item, samples, at);
    }
    return size;
  }

  /**
   * A word comes after a pause: hold it back while the reserve is low.
   * @param {Item} item @param {Float32Array} room @param {number} frame @returns {number} samples added
   */
  stretch(item, room, frame) {
    if (!item.stretchedHere) item.mostStretch = this.mostStretch(item);
    const left = this.needsTime(item) ? item.mostStretch - item.stretchedHere : 0;
    const added = Math.min(room.length, left);
    if (item.holding !== added > 0) {
      item.holding = added > 0;
      this.tell(item, "playing", frame);
    }
    const silence = room.subarray(0, added);
    this.fadeAway(silence);
    this.move(item, silence);
    item.stretched += added;
    item.stretchedHere += added;
    return added;
  }

  /** The reserve is low, and more is to come. @param {Item} item */
  needsTime(item) {
    const complete = item.done || item.flushing || this.items.length > 1;
    return !complete && item.queued < this.cushion.seconds * this.rate;
  }

  /** Samples to add to the pause that has just been played: as long as what is missing. @param {Item} item */
  mostStretch(item) {
    const missing = Math.ceil(this.cushion.seconds * this.rate) - item.queued;
    return Math.max(0, Math.min(Math.floor(MOST_STRETCH * item.quiet), missing));
  }

  /** Move the gain sample by sample to where it belongs. @param {Item} item @param {Float32Array} samples */
  shape(item, samples) {
    this.move(item, samples);
    if (samples.length) this.last = samples[samples.length - 1];
  }

  /** @param {Item} item @param {Float32Array} samples */
  move(item, samples) {
    const target = item.flushing ? 0 : item.ducked ? DUCKED : 1;
    const fall = (item.flushing ? 1 / FADE_OUT : (1 - DUCKED) / DUCK_IN) / this.rate;
    const rise = this.rise / this.rate;
    for (let n = 0; n < samples.length; n++) {
      if (this.gain > target) this.gain = Math.max(target, this.gain - fall);
      else if (this.gain < target) this.gain = Math.min(target, this.gain + rise);
      samples[n] *= this.gain;
    }
  }

  /** What ends in mid-wave dies away within a few milliseconds, instead of clicking. @param {Float32Array} room */
  fadeAway(room) {
    for (let n = 0; n < room.length; n++) {
      this.last = Math.abs(this.last) < 1e-4 ? 0 : this.last * 0.93;
      room[n] = this.last;
    }
  }

  /** @param {Item} item @param {Float32Array} samples the last that there are @param {number} frame */
  ranDry(item, samples, frame) {
    item.waiting = true;
    // As much of the fade as there is sound for; `fadeAway` does the rest.
    const length = FADE_OUT * this.rate;
    const ending = Math.abs(this.last) < SILENT ? [] : samples.subarray(-Math.floor(length));
    for (let n = 0; n < ending.length; n++) ending[n] *= 1 - (n + 1) / length;
    if (ending.length) this.last = ending[ending.length - 1];
    this.tell(item, "underrun", frame);
  }

  /** @param {Item} item @param {"stopped" | "flushed"} kind @param {number} frame */
  close(item, kind, frame) {
    this.items = this.items.filter((other) => other !== item);
    this.gain = 1;
    item.holding = false;
    this.over.set(item.id, this.tell(item, kind, frame));
    if (this.over.size > REMEMBERED) this.over.delete([...this.over.keys()][0]);
  }

  /** @param {Item} item @param {ReportKind} kind @param {number} frame */
  tell(item, kind, frame) {
    item.reportedAt = frame;
    const report = {
      kind,
      item: item.id,
      played: item.heard,
      frame,
      stretched: Math.round((item.stretched * WIRE_RATE) / this.rate),
      cushion: this.cushion.seconds,
      queued: kind === "flushed" ? 0 : item.queued / this.rate,
      holding: item.holding,
    };
    this.report(report);
    return report;
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

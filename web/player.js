// @ts-check
/**
 * The agent's voice: plays items, and reports what was heard and when.
 *
 * A report's moment is put on the microphone's timeline. Both run on the AudioContext's frames, so
 *     input_ms = (frame - origin) / rate + output latency + input latency
 * where the output latency (`baseLatency + outputLatency`) is the time until a frame is heard, and
 * the input latency the time after which a sound heard now would be captured. A report is held until
 * that moment, so that it tells what has been heard and not what is about to be. The same formula
 * without the output latency says where the present moment lies.
 */
import { PlayoutQueue } from "./playout-queue.js";

/**
 * @typedef {{kind: "audio", item: string, pcm: Int16Array} | {kind: "finish", item: string}
 *   | {kind: "duck", item: string, on: boolean} | {kind: "flush", item: string}
 *   | {kind: "close"}} Command
 * @typedef {import("./playout-queue.js").Report} Report
 * @typedef {{played: number, frame: number, queued: number, sounding: boolean, least: number}} Position
 *   What was last reported of an item; `least`: samples that had been heard of it by then.
 */

/** Latencies beyond this are taken for a browser's mistake, seconds. */
const MOST_LATENCY = 1;
/** A voice that reports nothing for this long (seconds) is not taken to go on. */
const LONGEST_SILENCE = 0.25;

export class Player {
  /** @param {AudioContext} context */
  constructor(context) {
    this.context = context;
    this.volume = new GainNode(context);
    this.meter = new AnalyserNode(context, { fftSize: 1024 });
    this.volume.connect(this.meter);
    this.volume.connect(context.destination);
    /** Where the input audio timeline begins, in frames; the context's start without a microphone. */
    this.origin = 0;
    this.inputLatency = 0;
    /** @type {Map<string, Position>} */
    this.positions = new Map();
    /** Reports on what is about to be heard, in their order. @type {(() => void)[]} */
    this.untold = [];
    /** @type {(report: Report, inputMs: number) => void} */
    this.onreport = () => {};
  }

  async open() {
    if (!this.context.audioWorklet) {
      this.openWithoutWorklet();
      return;
    }
    await this.context.audioWorklet.addModule(new URL("playout-worklet.js", import.meta.url));
    const node = new AudioWorkletNode(this.context, "playout", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    node.port.onmessage = ({ data }) => this.reported(data);
    node.connect(this.volume);
    this.post = (/** @type {Command} */ command) => node.port.postMessage(command);
  }

  /** Worklets exist only in secure contexts; a page over plain http still plays, less evenly. */
  openWithoutWorklet() {
    const queue = new PlayoutQueue(this.context.sampleRate, (report) => this.reported(report));
    const node = this.context.createScriptProcessor(1024, 0, 1);
    node.onaudioprocess = ({ outputBuffer, playbackTime }) =>
      queue.process(outputBuffer.getChannelData(0), Math.round(playbackTime * this.context.sampleRate));
    node.connect(this.volume);
    this.post = (/** @type {Command} */ command) => {
      if (command.kind === "audio") queue.enqueue(command.item, command.pcm);
      else if (command.kind === "finish") queue.finish(command.item);
      else if (command.kind === "duck") queue.duck(command.item, command.on);
      else if (command.kind === "flush") queue.flush(command.item);
      else node.disconnect();
    };
  }

  /** @type {(command: Command) => void} replaced when the player is open */
  post = () => {};

  /** @param {number} level 0 to 1 */
  setVolume(level) {
    this.volume.gain.setTargetAtTime(level ** 2, this.context.currentTime, 0.02);
  }

  /** Seconds from a frame's turn until it is heard. */
  get latency() {
    const latency = (this.context.baseLatency || 0) + (this.context.outputLatency || 0);
    return Math.min(MOST_LATENCY, Math.max(0, latency));
  }

  /** How many samples (24 kHz) of the item have been heard by now, for captions. @param {string} id */
  heard(id) {
    const position = this.positions.get(id);
    if (!position) return 0;
    const since = this.since(position) - this.latency;
    const most = position.sounding ? LONGEST_SILENCE : 0;
    const gone = Math.round(24_000 * Math.min(most, Math.max(-this.latency, since)));
    return Math.max(position.least, position.played + gone);
  }

  /** Seconds of audio of the item that are here and have not left yet. @param {string} id */
  reserve(id) {
    const position = this.positions.get(id);
    if (!position) return 0;
    const most = position.sounding ? LONGEST_SILENCE : 0;
    return Math.max(0, position.queued - Math.min(most, Math.max(0, this.since(position))));
  }

  /** Seconds since the frame of a report. @param {Position} position */
  since(position) {
    return this.context.currentTime - position.frame / this.context.sampleRate;
  }

  /** The present moment on the input audio timeline, milliseconds. */
  get inputNow() {
    return this.inputMs(this.context.currentTime);
  }

  /** Where a moment of the context (seconds) lies on the input audio timeline, milliseconds. @param {number} at */
  inputMs(at) {
    return Math.max(0, (at - this.origin / this.context.sampleRate + this.inputLatency) * 1000);
  }

  close() {
    this.post({ kind: "close" });
    this.volume.disconnect();
  }

  /** @param {Report} report */
  reported(report) {
    const { item, kind, played, frame, queued, holding } = report;
    const sounding = (kind === "started" || kind === "playing") && !holding;
    // What was heard stays heard, also while the next sample is still on its way to the ear.
    const least = Math.min(played, this.heard(item));
    this.positions.set(item, { played, frame, queued, sounding, least });
    if (this.positions.size > 8) this.positions.delete([...this.positions.keys()][0]);
    const heardAt = frame / this.context.sampleRate + this.latency;
    const inputMs = this.inputMs(heardAt);
    this.untold.push(() => this.onreport(report, inputMs));
    setTimeout(() => this.untold.shift()?.(), (heardAt - this.context.currentTime) * 1000);
  }
}

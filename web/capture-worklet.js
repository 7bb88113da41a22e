// @ts-check
/**
 * The microphone, as 20 ms frames of 24 kHz mono int16 without gaps: zeros while muted, so that the
 * count of samples sent is a clock (the input audio timeline).
 */
import { Resampler } from "./resample.js";

const WIRE_RATE = 24_000;
const FRAME = 480;
/** Exact zeros for so long, from a microphone that is not muted, mean that something else holds it. */
const SILENT_SECONDS = 3;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = sampleRate === WIRE_RATE ? null : new Resampler(sampleRate, WIRE_RATE);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.sending = false;
    this.muted = false;
    this.zeros = 0;
    this.closed = false;
    this.port.onmessage = ({ data }) => this.command(data);
  }

  /** @param {{kind: "start"} | {kind: "mute", on: boolean} | {kind: "close"}} command */
  command(command) {
    if (command.kind === "start") this.sending = true;
    else if (command.kind === "mute") this.muted = command.on;
    else this.closed = true;
  }

  /** @param {Float32Array[][]} inputs */
  process(inputs) {
    if (this.closed) return false;
    // A stopped or missing source gives no channel at all; time goes on with silence.
    const heard = inputs[0][0] ?? new Float32Array(128);
    this.watch(heard);
    if (!this.sending) return true;
    if (this.origin === undefined) {
      this.origin = currentFrame;
      this.port.postMessage({ kind: "origin", frame: currentFrame });
    }
    const samples = this.muted ? new Float32Array(heard.length) : heard;
    this.collect(this.resampler ? this.resampler.push(samples) : samples);
    return true;
  }

  /** Notice a microphone that gives nothing but zeros, and its return. @param {Float32Array} heard */
  watch(heard) {
    const before = this.zeros;
    const silent = !this.muted && heard.every((sample) => sample === 0);
    this.zeros = silent ? before + heard.length : 0;
    const limit = SILENT_SECONDS * sampleRate;
    if (before < limit && this.zeros >= limit) this.port.postMessage({ kind: "silent", on: true });
    if (before >= limit && !silent) this.port.postMessage({ kind: "silent", on: false });
  }

  /** @param {Float32Array} samples */
  collect(samples) {
    for (const sample of samples) {
      this.frame[this.filled++] = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
      if (this.filled < FRAME) continue;
      this.port.postMessage({ kind: "frame", samples: this.frame }, [this.frame.buffer]);
      this.frame = new Int16Array(FRAME);
      this.filled = 0;
    }
  }
}

registerProcessor("capture", Capture);

// @ts-check
/**
 * Streaming sample-rate conversion with a windowed sinc, for browsers that refuse a 24 kHz
 * AudioContext. Output sample k lies exactly at input time k / to, so timelines stay aligned.
 */

/** Zero crossings of the sinc on either side: the stop band begins about 2 kHz above the pass band. */
const CROSSINGS = 24;
/** Kernel values stored between two zero crossings; the rest is interpolated. */
const STEPS = 256;
/** Kaiser window parameter: about 80 dB of stop-band attenuation. */
const BETA = 8;
/** The pass band as a share of the lower of both Nyquist frequencies. */
const PASS = 0.94;

/** The modified Bessel function of order zero, as the Kaiser window needs it. @param {number} x */
function bessel(x) {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

const KERNEL = Float64Array.from({ length: CROSSINGS * STEPS + 2 }, (_, index) => {
  const x = index / STEPS;
  if (x >= CROSSINGS) return 0;
  const window = bessel(BETA * Math.sqrt(1 - (x / CROSSINGS) ** 2)) / bessel(BETA);
  return (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)) * window;
});

export class Resampler {
  /**
   * @param {number} from input rate in hertz
   * @param {number} to output rate in hertz
   */
  constructor(from, to) {
    this.step = from / to;
    this.cutoff = Math.min(1, to / from) * PASS;
    /** Input samples that one output sample needs on either side. */
    this.reach = Math.ceil(CROSSINGS / this.cutoff);
    this.buffer = new Float32Array(this.reach);
    /** Where the next output sample lies in `buffer`. */
    this.position = this.reach;
    this.taken = 0;
    this.made = 0;
  }

  /**
   * @param {Float32Array} samples the next input samples
   * @returns {Float32Array} the output samples that they complete
   */
  push(samples) {
    this.taken += samples.length;
    return this.convert(samples);
  }

  /** The end of the input: what the filter still holds. @returns {Float32Array} */
  finish() {
    const rest = this.convert(new Float32Array(this.reach + 1));
    const wanted = Math.round(this.taken / this.step) - (this.made - rest.length);
    return rest.subarray(0, Math.max(0, wanted));
  }

  /** @param {Float32Array} samples */
  convert(samples) {
    const input = new Float32Array(this.buffer.length + samples.length);
    input.set(this.buffer);
    input.set(samples, this.buffer.length);
    const count = Math.max(0, Math.ceil((input.length - this.reach - this.position) / this.step));
    const output = new Float32Array(count);
    for (let k = 0; k < count; k++) output[k] = this.at(input, this.position + k * this.step);
    this.made += count;
    const next = this.position + count * this.step;
    const used = Math.max(0, Math.floor(next) - this.reach);
    this.buffer = input.slice(used);
    this.position = next - used;
    return output;
  }

  /** The input, low-passed, at a fractional position. @param {Float32Array} input @param {number} position */
  at(input, position) {
    const first = Math.max(0, Math.ceil(position - this.reach));
    const last = Math.min(input.length - 1, Math.floor(position + this.reach));
    let sum = 0;
    for (let n = first; n <= last; n++) {
      const x = Math.abs(position - n) * this.cutoff * STEPS;
      const index = Math.floor(x);
      if (index > CROSSINGS * STEPS) continue;
      const low = KERNEL[index];
      sum += input[n] * (low + (KERNEL[index + 1] - low) * (x - index));
    }
    return sum * this.cutoff;
  }
}

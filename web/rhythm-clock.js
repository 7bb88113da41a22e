// @ts-check
/** A steady present: follows a clock that moves in blocks with one that does not. */

/** The audio clock moves in blocks; a steady one may differ from it by this much, milliseconds. */
const SLACK = 60;

export class SteadyClock {
  constructor() {
    this.offset = NaN;
  }

  /** @param {number} measured @param {number} frame the browser's own time, milliseconds @returns {number} */
  read(measured, frame) {
    const error = measured - (frame + this.offset);
    if (!(Math.abs(error) < 4 * SLACK)) this.offset = measured - frame;
    else this.offset += error * 0.05;
    return Math.min(measured + SLACK, Math.max(measured - SLACK, frame + this.offset));
  }
}

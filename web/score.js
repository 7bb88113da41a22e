// @ts-check
/**
 * Two voices over time, as a score: the agent above the line, the person below it, newest at the
 * right. Silence is drawn too, so a pause is as long as it lasts. Driven by the real levels.
 */

/** Bars a second, and their width and distance in CSS pixels. */
const BARS = 18;
const BAR = 3;
const PITCH = 6;
/** Where motion is unwelcome: two steady levels, so many times a second. */
const STILL = 3;

/** @typedef {{agent: number, user: number}} Levels 0 to 1 each */

export class Score {
  /** @param {HTMLCanvasElement} canvas @param {() => Levels} levels */
  constructor(canvas, levels) {
    this.canvas = canvas;
    this.levels = levels;
    /** @type {Levels[]} newest last */
    this.bars = [];
    /** @type {Levels} */
    this.peak = { agent: 0, user: 0 };
    this.clock = 0;
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** Forget what was drawn. */
  reset() {
    this.bars = [];
  }

  /** Take the levels, and draw. Call it once a frame. @param {number} now milliseconds */
  frame(now) {
    const { agent, user } = this.levels();
    this.peak = { agent: Math.max(agent, this.peak.agent), user: Math.max(user, this.peak.user) };
    const step = 1000 / (this.still.matches ? STILL : BARS);
    if (now - this.clock > 1_000) this.clock = now - step;
    const moved = now - this.clock >= step;
    for (; now - this.clock >= step; this.clock += step) {
      this.bars.push(this.peak);
      this.peak = { agent, user };
    }
    if (!this.still.matches) this.draw((now - this.clock) / step);
    else if (moved) this.drawStill();
  }

  /** @param {number} shift how far the next bar is on its way, 0 to 1 */
  draw(shift) {
    const { width, middle, stroke } = this.paper();
    this.bars = this.bars.slice(-Math.ceil(width / PITCH) - 2);
    this.bars.toReversed().forEach(({ agent, user }, age) => {
      const x = width + PITCH - BAR - (age + shift) * PITCH;
      stroke("--accent", x, middle - 2, BAR, -agent * (middle - 4));
      stroke("--ink", x, middle + 3, BAR, user * (middle - 5));
    });
  }

  drawStill() {
    const { width, middle, stroke } = this.paper();
    const { agent, user } = this.bars[this.bars.length - 1] ?? { agent: 0, user: 0 };
    this.bars = [];
    stroke("--accent", 0, middle - 6, agent * width, -6);
    stroke("--ink", 0, middle + 7, user * width, 6);
  }

  /** The empty canvas with its line, at the screen's own resolution. */
  paper() {
    const { canvas } = this;
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    const size = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const style = getComputedStyle(canvas);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const middle = Math.round(height / 2);
    context.fillStyle = style.getPropertyValue("--line-strong");
    context.fillRect(0, middle, width, 1);
    /** @type {(color: string, x: number, y: number, w: number, h: number) => void} */
    const stroke = (color, x, y, w, h) => {
      if (Math.abs(w) < 1 || Math.abs(h) < 1) return;
      context.fillStyle = style.getPropertyValue(color);
      context.beginPath();
      context.roundRect(x, Math.min(y, y + h), w, Math.abs(h), BAR / 2);
      context.fill();
    };
    return { width, middle, stroke };
  }
}

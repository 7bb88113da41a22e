// @ts-check
/** The canvas of the strip: its size, its colours, and marks at a time in a lane. */

/** Distances and type are drawn in units of this many CSS pixels of the canvas's font size. */
const TYPE = 12;
/** Where the names of the lanes are. */
const GUTTER = 62;

/** @typedef {"ink" | "ink-soft" | "line" | "line-strong" | "accent" | "alarm"} Tone */
/** @typedef {{x: number, y: number, align?: "left" | "right" | "center", tone?: Tone, strong?: boolean}} Place */

export class Paper {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.width = this.height = this.from = 0;
    this.pace = 1;
    /** Where words may not be any more. @type {{y: number, from: number, to: number}[]} */
    this.words = [];
  }

  /** Empty, at the screen's own resolution. @returns {number} pixels for the lanes */
  clear() {
    const { canvas, pen } = this;
    this.style = getComputedStyle(canvas);
    const scale = window.devicePixelRatio || 1;
    const size = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const unit = (parseFloat(this.style.fontSize) || TYPE) / TYPE;
    this.width = canvas.clientWidth / unit;
    this.height = canvas.clientHeight / unit;
    this.words = [];
    pen.setTransform(scale * unit, 0, 0, scale * unit, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    return this.width - GUTTER;
  }

  /** From here on x is a time. @param {number} from at the left edge @param {number} pace pixels a millisecond */
  window(from, pace) {
    Object.assign(this, { from, pace });
  }

  /** Draw something that ends where the lanes' names begin. @param {() => void} paint */
  inLanes(paint) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(GUTTER, 0, this.width - GUTTER, this.height);
    this.pen.clip();
    paint();
    this.pen.restore();
  }

  /** @param {number} at milliseconds */
  x(at) {
    return GUTTER + (at - this.from) * this.pace;
  }

  /** @param {Tone} tone @param {number} [opacity] */
  ink(tone, opacity = 1) {
    this.pen.fillStyle = this.pen.strokeStyle = this.style?.getPropertyValue(`--${tone}`) || "GrayText";
    this.pen.globalAlpha = opacity;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} [radius] */
  block(x, y, width, height, radius = 0) {
    this.pen.beginPath();
    this.pen.roundRect(x, y, width, height, Math.min(radius, width / 2));
    this.pen.fill();
  }

  /** @param {number[][]} points @param {number} [weight] */
  path(points, weight = 1.5) {
    this.pen.lineWidth = weight;
    this.pen.lineCap = "round";
    this.pen.lineJoin = "round";
    this.pen.beginPath();
    points.forEach(([x, y], n) => (n ? this.pen.lineTo(x, y) : this.pen.moveTo(x, y)));
    this.pen.stroke();
  }

  /**
   * Words inside the lanes, the first that have room there; where none has, nothing.
   * @param {string[]} choices @param {Place[]} places in the order of preference
   */
  write(choices, places) {
    for (const said of choices) {
      for (const place of places) if (this.fits(said, place)) return this.say(said, place);
    }
  }

  /** @param {string} said @param {Place} place */
  fits(said, { x, y, align = "left", strong }) {
    this.font(strong);
    const width = this.pen.measureText(said).width;
    const from = align === "left" ? x : align === "right" ? x - width : x - width / 2;
    const to = from + width;
    if (to > this.width) return false;
    if (this.words.some((word) => word.y === y && from < word.to + 5 && to > word.from - 5)) return false;
    this.take(y, from, to);
    return true;
  }

  /** Keep words away from here. @param {number} y the line @param {number} from @param {number} to */
  take(y, from, to) {
    this.words.push({ y, from, to });
  }

  /** @param {string} said @param {Place} place */
  say(said, { x, y, align = "left", tone = "ink-soft", strong }) {
    this.ink(tone);
    this.font(strong);
    this.pen.textAlign = align;
    this.pen.fillText(said, x, y);
  }

  /** @param {boolean} [strong] */
  font(strong) {
    this.pen.font = `${strong ? 600 : 500} ${TYPE}px ${this.style?.fontFamily || "sans-serif"}`;
  }
}

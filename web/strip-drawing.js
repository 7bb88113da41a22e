// @ts-check
/**
 * The rhythm of the last seconds, as a score: tokens, the agent's voice above the line, the person's
 * below it, the pauses and gaps between them in milliseconds. The present is at the right.
 */
import { gapTone } from "./gap.js";
import { disturbs } from "./rhythm-model.js";
import { inMs } from "./rhythm-summary.js";
import { Paper } from "./strip-paper.js";

/**
 * @typedef {import("./rhythm-model.js").RhythmModel} RhythmModel
 * @typedef {import("./rhythm-model.js").Pause} Pause
 * @typedef {import("./strip-paper.js").Tone} Tone
 * @typedef {import("./strip-paper.js").Place} Place
 * @typedef {{at: number, agent: number, user: number}} Levels 0 to 1 each
 */

/** Seconds that are seen, at most and at least; between, as many as make such a pace. */
const SEEN = { most: 12, least: 9, pace: 30 };
/** Voice bars, as wide and as far apart. */
const BAR = 3;
const PITCH = 5;
/** Heights: the row of tokens, a lane's band, the room between the lanes and its two lines of words. */
const TOKENS = 14;
const BAND = 5;
const BETWEEN = 38;
/** A still picture goes on by so much of its width when it is full. */
const LEAF = 0.75;

export class StripDrawing {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.paper = new Paper(canvas);
    /** The left edge of a still picture. @type {number | null} */
    this.leaf = null;
    /** Where the lanes' bands lie, and how tall a voice may be. */
    this.agentY = this.userY = 0;
    this.tall = { agent: 0, user: 0 };
  }

  /** @param {RhythmModel} model @param {Levels[]} levels oldest first @param {boolean} still nothing may move */
  draw(model, levels, still) {
    const { paper } = this;
    const room = paper.clear();
    const seen = 1_000 * Math.min(SEEN.most, Math.max(SEEN.least, room / SEEN.pace));
    const { now } = model;
    const from = still ? this.turnLeaf(now, seen) : now - seen;
    paper.window(from, room / seen);
    this.measure();
    this.names();
    paper.inLanes(() => {
      this.seconds(from, from + seen);
      this.voices(levels);
      this.bands(model);
      this.brackets(model);
      this.pauses(model);
      this.tokens(model);
      this.gaps(model);
      this.stops(model);
      if (still) this.cursor(now);
    });
  }

  /** A still picture stays where it is until it is full. @param {number} now @param {number} seen */
  turnLeaf(now, seen) {
    if (this.leaf === null || now < this.leaf || now > this.leaf + seen) this.leaf = now - seen * (1 - LEAF);
    return this.leaf;
  }

  /** Where the lanes lie. */
  measure() {
    const voices = this.paper.height - TOKENS - 2 * BAND - BETWEEN - 6;
    this.tall = { agent: voices * 0.56, user: voices * 0.44 };
    this.agentY = TOKENS + 4 + this.tall.agent;
    this.userY = this.agentY + BAND + BETWEEN;
  }

  names() {
    this.paper.say("Tokens", { x: 0, y: 11 });
    this.paper.say("Assistant", { x: 0, y: this.agentY + BAND, tone: "accent" });
    this.paper.say("You", { x: 0, y: this.userY + BAND, tone: "ink" });
  }

  /** A hair line each second, and the lanes' ground. @param {number} from @param {number} to */
  seconds(from, to) {
    const { paper } = this;
    paper.ink("line", 0.6);
    for (let at = Math.ceil(from / 1_000) * 1_000; at <= to; at += 1_000) paper.block(paper.x(at), 0, 1, paper.height);
    paper.ink("line-strong", 0.7);
    for (const y of [this.agentY, this.userY]) paper.block(paper.x(from), y + BAND / 2 - 0.5, paper.width, 1);
  }

  /** The loudest of each bar's time; bars stand on fixed times, so that they do not flicker. @param {Levels[]} levels */
  voices(levels) {
    const { paper } = this;
    const every = PITCH / paper.pace;
    /** @type {Map<number, {agent: number, user: number}>} */
    const bars = new Map();
    for (const { at, agent, user } of levels) {
      const bar = bars.get(Math.floor(at / every));
      bars.set(Math.floor(at / every), { agent: Math.max(agent, bar?.agent ?? 0), user: Math.max(user, bar?.user ?? 0) });
    }
    const { agent: up, user: down } = this.tall;
    for (const [bar, { agent, user }] of bars) {
      const x = paper.x(bar * every);
      paper.ink("accent", 0.55);
      if (agent * up > 1) paper.block(x, this.top - agent * up, BAR, agent * up, BAR / 2);
      paper.ink("ink", 0.55);
      if (user * down > 1) paper.block(x, this.low, BAR, user * down, BAR / 2);
    }
  }

  /** Above it the agent's voice. */
  get top() {
    return this.agentY - 2;
  }

  /** Below it the person's voice. */
  get low() {
    return this.userY + BAND + 2;
  }

  /** @param {RhythmModel} model */
  bands(model) {
    const { agentY, userY } = this;
    for (const { from, to } of model.user) this.solid(from, to ?? model.now, userY, "ink");
    for (const { from, to, phase } of model.agent) {
      const until = to ?? model.now;
      if (phase === "speaking") this.solid(from, until, agentY, "accent");
      else if (phase === "thinking") this.hollow(from, until, agentY);
      else this.dots(from, until, agentY);
    }
    if (model.silence) this.open(model.silence.from, model.now);
  }

  /** @param {number} from @param {number} to @param {number} y @param {Tone} tone */
  solid(from, to, y, tone) {
    this.paper.ink(tone);
    this.paper.block(this.paper.x(from), y, Math.max(1, (to - from) * this.paper.pace), BAND, BAND / 2);
  }

  /** @param {number} from @param {number} to @param {number} y */
  hollow(from, to, y) {
    const { paper } = this;
    this.clearBand(from, to);
    paper.ink("accent");
    paper.pen.lineWidth = 1.25;
    paper.pen.beginPath();
    paper.pen.roundRect(paper.x(from) + 1, y + 0.6, Math.max(1, (to - from) * paper.pace - 2), BAND - 1.2, BAND / 2);
    paper.pen.stroke();
  }

  /** @param {number} from @param {number} to @param {number} y */
  dots(from, to, y) {
    const { paper } = this;
    this.clearBand(from, to);
    paper.ink("ink-soft");
    for (let x = paper.x(from) + 1; x < paper.x(to) - 2; x += 5) paper.block(x, y + 1, 3, 3, 1.5);
  }

  /** Nothing is heard. @param {number} from @param {number} to */
  open(from, to) {
    this.clearBand(from, to);
    this.paper.ink("line-strong");
    this.paper.block(this.paper.x(from), this.agentY + BAND / 2 - 0.5, (to - from) * this.paper.pace, 1);
  }

  /** @param {number} from @param {number} to */
  clearBand(from, to) {
    const { paper } = this;
    paper.pen.clearRect(paper.x(from), this.agentY, (to - from) * paper.pace, BAND);
  }

  /** @param {RhythmModel} model */
  pauses(model) {
    for (const pause of model.pauses.toReversed()) {
      this.open(pause.from, pause.to);
      if (disturbs(pause)) this.disturbing(pause);
      else this.quietly(pause);
    }
  }

  /** One that nobody minds: a thin mark. @param {Pause} pause */
  quietly({ from, to, class: kind }) {
    const { paper } = this;
    const soft = kind === "micro";
    paper.ink(soft ? "ink-soft" : "line-strong");
    paper.block(paper.x((from + to) / 2) - 0.5, this.agentY - (soft ? 4 : 1), 1, BAND + (soft ? 8 : 2));
  }

  /** One that breaks the speech: its whole length in the agent's lane, its milliseconds below. @param {Pause} pause */
  disturbing({ from, to, ms, class: kind }) {
    const { paper } = this;
    const severe = kind === "severe";
    const [x, width] = [paper.x(from), Math.max(3, (to - from) * paper.pace)];
    const [y, tall] = [TOKENS + 6, this.top - TOKENS - 6 + BAND + 4];
    paper.ink("alarm", severe ? 0.3 : 0.14);
    paper.block(x, y, width, tall, 2);
    paper.ink("alarm");
    const weight = severe ? 2 : 1;
    for (const side of [x, x + width - weight]) paper.block(side, y, weight, tall);
    const middle = Math.min(x + width / 2, paper.width);
    /** @type {Place[]} */
    const below = [this.upper, this.lower].map((y) => ({ x: middle, y, align: "center", tone: "alarm", strong: severe }));
    const beside = below.map((place) => ({ ...place, x, align: /** @type {const} */ ("left") }));
    /** @type {Place[]} at the right edge there is no room to the right */
    const edge = x + 120 > paper.width ? below.map((place) => ({ ...place, x: paper.width, align: "right" })) : [];
    paper.write([`${inMs(ms)} ${kind}`, inMs(ms)], [...below, ...beside, ...edge]);
  }

  /** The two lines of words between the lanes. */
  get upper() {
    return this.agentY + BAND + 14;
  }

  get lower() {
    return this.userY - 6;
  }

  /** @param {RhythmModel} model */
  tokens({ ticks }) {
    const { paper } = this;
    paper.ink("ink", 0.65);
    for (const { at } of ticks) paper.block(paper.x(at) - 0.5, 2, 1, TOKENS - 4);
  }

  /** Lines from one lane to the other; words keep away from them. @param {RhythmModel} model */
  brackets({ gaps, stops, waiting, now }) {
    for (const { from, to, class: kind } of gaps) this.bracket(from, to, this.lower, gapTone(kind));
    for (const { at, ms, class: kind } of stops) this.bracket(at - ms, at, this.upper, stopTone(kind));
    if (waiting !== null) this.bracket(waiting, now, this.lower, "ink-soft", true);
  }

  /**
   * Up from the person's lane at one moment, along a line of words, and up to the agent's lane at
   * another. @param {number} from @param {number} to @param {number} line @param {Tone} tone
   * @param {boolean} [unfinished]
   */
  bracket(from, to, line, tone, unfinished = false) {
    const { paper } = this;
    const [a, b, y] = [paper.x(from), paper.x(to), line - 4];
    paper.ink(tone);
    paper.pen.setLineDash(unfinished ? [2, 4] : []);
    paper.path([[a, this.userY - 1], [a, y], [b, y], ...(unfinished ? [] : [[b, this.agentY + BAND + 2]])]);
    paper.pen.setLineDash([]);
    paper.take(line, Math.min(a, b), Math.max(a, b));
    const riser = line === this.lower ? b : a;
    paper.take(line === this.lower ? this.upper : this.lower, riser, riser);
  }

  /** From the person's last sound to the agent's first. @param {RhythmModel} model */
  gaps({ gaps, waiting, now }) {
    const { paper } = this;
    for (const { from, to, ms, class: kind } of gaps.toReversed()) {
      const left = paper.x(Math.min(from, to)) - 6;
      paper.write([`${inMs(ms)} ${kind}`, inMs(ms)], [{ x: left, y: this.lower, align: "right", tone: gapTone(kind) }]);
    }
    if (waiting === null || now - waiting < 100) return;
    const soFar = `${(Math.floor((now - waiting) / 100) / 10).toFixed(1)} s`;
    paper.write([soFar], [{ x: paper.x(waiting) - 6, y: this.lower, align: "right" }]);
  }

  /** From where the person cut in to the agent's last sound. @param {RhythmModel} model */
  stops({ stops }) {
    const { paper } = this;
    for (const { at, ms, class: kind } of stops.toReversed()) {
      const tone = stopTone(kind);
      paper.ink(tone);
      paper.block(paper.x(at) - 1, TOKENS + 6, 2, this.top - TOKENS - 6 + BAND + 4);
      const how = kind === "no_yield" ? "did not yield" : kind;
      /** @type {Place[]} */
      const places = [this.upper, this.lower].flatMap((y) => [
        { x: paper.x(at) + 6, y, tone },
        { x: paper.x(at - ms) - 6, y, tone, align: "right" },
      ]);
      paper.write([`stopped in ${inMs(ms)}, ${how}`, `${inMs(ms)} stop`], places);
    }
  }

  /** The present, in a picture that stands still. @param {number} now */
  cursor(now) {
    this.paper.ink("ink-soft", 0.6);
    this.paper.block(this.paper.x(now), 0, 1, this.paper.height);
  }
}

/** @param {string} kind @returns {Tone} */
function stopTone(kind) {
  if (kind === "slow") return "ink-soft";
  return kind === "good" || kind === "ok" ? "accent" : "alarm";
}

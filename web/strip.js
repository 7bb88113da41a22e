// @ts-check
/** The rhythm strip on the page: follows the conversation, draws it while it can be seen, folds away. */
import { byId } from "./dom.js";
import { SteadyClock } from "./rhythm-clock.js";
import { RhythmFigures } from "./rhythm-figures.js";
import { RhythmModel } from "./rhythm-model.js";
import { StripDrawing } from "./strip-drawing.js";

/**
 * What the strip asks while a call lasts.
 * @typedef {object} Source
 * @property {() => number} now milliseconds on the input audio timeline
 * @property {() => {agent: number, user: number}} levels 0 to 1 each
 * @property {(item: string) => number} heard samples (24 kHz) of an item
 * @property {(item: string) => number | undefined} held seconds of it that the player has
 */

/** Time between two drawings, milliseconds: at most 30 a second; where motion is unwelcome, 3. */
const STEP = 1_000 / 30;
const STILL_STEP = 1_000 / 3;
/** Frames come a little early or late, milliseconds. */
const EARLY = 4;
/** Between two looks at the reserve, milliseconds. */
const GLANCE = 200;
/** What still comes of a turn after its end comes within this, milliseconds. */
const AFTER_TURN = 600;
const MEMORY = "voiceagent.rhythm";
/** On a screen of this size it is open from the beginning. */
const WIDE = "(min-width: 48rem) and (min-height: 40rem)";

export class Strip {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.root = /** @type {HTMLDetailsElement} */ (byId("rhythm"));
    this.said = byId("rhythm-said");
    this.model = new RhythmModel();
    this.clock = new SteadyClock();
    this.drawing = new StripDrawing(/** @type {HTMLCanvasElement} */ (byId("strip")));
    this.figures = new RhythmFigures(byId("rhythm-figures"), byId("rhythm-brief"));
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    /** @type {import("./strip-drawing.js").Levels[]} */
    this.levels = [];
    /** When it was last drawn, the levels and the reserve last looked at (the browser's time). */
    this.drawn = this.looked = this.glanced = -Infinity;
    this.reset();
    this.fold();
  }

  /** A new call begins. */
  reset() {
    this.model.reset();
    this.levels = [];
    this.drawn = this.looked = this.glanced = -Infinity;
    this.said.textContent = "";
    this.figures.show(this.model);
    this.figures.showReserve(null, null);
  }

  /** @param {import("./client.js").RealtimeEvent} event */
  handle(event) {
    this.model.handle(event, this.source.now());
    this.figures.show(this.model);
    if (event.type === "voiceagent.heard") setTimeout(() => this.tell(event.item_id), AFTER_TURN);
  }

  /** Say the turn in words. @param {unknown} item */
  tell(item) {
    const words = this.model.takeSummary(item);
    if (words) this.said.textContent = words;
  }

  /** Call it once a frame. @param {number} time the browser's own, milliseconds */
  frame(time) {
    if (document.hidden || !this.root.open || time - this.looked < STEP - EARLY) return;
    this.looked = time;
    this.follow(this.clock.read(this.source.now(), time));
    if (this.still.matches && time - this.drawn < STILL_STEP - EARLY) return;
    this.drawn = time;
    this.drawing.draw(this.model, this.levels, this.still.matches);
    if (time - this.glanced < GLANCE) return;
    this.glanced = time;
    const reserve = this.model.reserve(this.source.heard);
    this.figures.showReserve(reserve, reserve ? this.source.held(reserve.item) ?? null : null);
  }

  /** @param {number} now */
  follow(now) {
    const { model, source } = this;
    if (now < model.now - 1_000) this.levels = [];
    model.advance(now);
    const turn = model.current;
    if (turn) model.hear(turn.item, source.heard(turn.item));
    this.levels.push({ at: now, ...source.levels() });
    while (this.levels[0].at < now - 15_000) this.levels.shift();
  }

  /** Open or folded: as it was left, else by the size of the screen. */
  fold() {
    const { root } = this;
    const left = remembered();
    root.open = left ? left === "open" : window.matchMedia(WIDE).matches;
    // The click comes before the change; "toggle" would also tell of changes that nobody chose.
    root.querySelector("summary")?.addEventListener("click", () => remember(root.open ? "folded" : "open"));
  }
}

/** @returns {string | null} */
function remembered() {
  try {
    return localStorage.getItem(MEMORY);
  } catch {
    return null; // A browser may refuse to keep anything.
  }
}

/** @param {string} state */
function remember(state) {
  try {
    localStorage.setItem(MEMORY, state);
  } catch {
    // Then it is forgotten with the page.
  }
}

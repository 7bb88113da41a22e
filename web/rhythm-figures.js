// @ts-check
/** The rhythm in figures: how evenly tokens come, the last response gaps, speech in reserve. */
import { make } from "./dom.js";
import { gapShare, gapTone } from "./gap.js";
import { inBand, inMs } from "./rhythm-summary.js";

/**
 * @typedef {import("./rhythm-model.js").RhythmModel} RhythmModel
 * @typedef {import("./rhythm-model.js").Reserve} Reserve
 */

/** The gauge is full at so many seconds. */
const FULL_RESERVE = 5;
const NOTHING = "–";

export class RhythmFigures {
  /** @param {HTMLElement} list @param {HTMLElement} brief the same in few words, for the folded strip */
  constructor(list, brief) {
    this.brief = brief;
    this.tokens = make("dd", "figure__value", NOTHING);
    this.bars = make("span", "figure__bars");
    this.gap = make("span", "figure__value", NOTHING);
    this.gauge = make("span", "figure__gauge");
    this.reserve = make("span", "figure__value", NOTHING);
    this.bars.ariaHidden = this.gauge.ariaHidden = "true";
    list.append(
      make("div", "figure figure--tokens", make("dt", "", "Token pace"), this.tokens),
      make("div", "figure figure--gaps", make("dt", "", "Response gaps"), make("dd", "", this.bars, this.gap)),
      make("div", "figure figure--reserve", make("dt", "", "Speech in reserve"), make("dd", "", this.gauge, this.reserve)),
    );
    /** @type {unknown} */
    this.shown = null;
  }

  /** What changes once or a few times a turn. @param {RhythmModel} model */
  show({ evenness, gaps }) {
    const newest = gaps.at(-1);
    const pace = evenness ? inBand(evenness) : NOTHING;
    const gap = newest ? `${inMs(newest.ms)} ${newest.class}` : NOTHING;
    write(this.tokens, pace);
    write(this.gap, gap);
    write(this.brief, [gap, pace].filter((said) => said !== NOTHING).join(" · "));
    if (this.shown === gaps) return;
    this.shown = gaps;
    this.bars.replaceChildren(...gaps.map(({ ms, class: kind }) => {
      const bar = make("span", "figure__bar");
      bar.style.setProperty("--share", String(gapShare(ms)));
      bar.style.setProperty("--tone", `var(--${gapTone(kind)})`);
      bar.title = `${inMs(ms)} ${kind}`;
      return bar;
    }));
  }

  /** @param {Reserve | null} reserve @param {number | null} held seconds of it that the player has */
  showReserve(reserve, held) {
    const seconds = reserve?.seconds ?? 0;
    const share = (/** @type {number} */ part) => String(Math.min(1, Math.max(0, part) / FULL_RESERVE));
    this.gauge.style.setProperty("--voiced", share(seconds));
    this.gauge.style.setProperty("--held", share(Math.min(seconds, held ?? 0)));
    this.gauge.classList.toggle("figure__gauge--low", reserve?.low ?? false);
    write(this.reserve, reserve ? `${seconds.toFixed(1)} s${reserve.low ? " low" : ""}` : NOTHING);
  }
}

/** @param {HTMLElement} element @param {string} words */
function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

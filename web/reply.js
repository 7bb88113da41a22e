// @ts-check
/** One reply of the agent on the page: its words light up as they are heard. */
import { make } from "./dom.js";

/**
 * @typedef {{start: number, end: number, first_sample: number, last_sample: number}} WordSpan
 * @typedef {{text: string, first_sample: number, samples: number, words: WordSpan[]}} Clause
 * @typedef {{status: string, text: string, heard: string}} Heard
 * @typedef {{element: HTMLElement, first: number, last: number}} Word
 */

export class ReplyEntry {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.text = make("p", "turn__text");
    this.element = make("li", "turn turn--agent", make("p", "turn__who", "Assistant"), this.text);
    this.element.dataset.item = id;
    this.element.dataset.status = "speaking";
    /** @type {Word[]} */
    this.words = [];
    /** How many of the words have been heard to their end. */
    this.lit = 0;
    this.settled = false;
  }

  /** A clause was handed to the player. @param {Clause} clause */
  add(clause) {
    if (this.settled) return;
    const whole = { start: 0, end: clause.text.length, first_sample: clause.first_sample, last_sample: clause.first_sample + clause.samples };
    const before = this.text.textContent ?? "";
    if (before && !/\s$/.test(before) && !/^\s/.test(clause.text)) this.text.append(" ");
    let end = 0;
    for (const word of clause.words.length ? clause.words : [whole]) {
      this.text.append(clause.text.slice(end, word.start));
      // Punctuation belongs to the word before it.
      const tail = clause.text.slice(word.end).match(/^[^\s\p{L}\p{N}]*/u)?.[0].length ?? 0;
      end = word.end + tail;
      const element = make("span", "word", clause.text.slice(word.start, end));
      this.words.push({ element, first: word.first_sample, last: word.last_sample });
      this.text.append(element);
    }
    this.text.append(clause.text.slice(end));
  }

  /** Light the words that have been heard. @param {number} samples (24 kHz) of the reply so far */
  light(samples) {
    if (this.settled) return;
    while (this.lit < this.words.length && this.words[this.lit].last <= samples) {
      this.words[this.lit++].element.className = "word word--heard";
    }
    const now = this.words[this.lit];
    if (now && samples > now.first) now.element.className = "word word--now";
  }

  /** The reply is over, or what was heard of it was corrected. @param {Heard} outcome */
  settle({ status, text, heard }) {
    const cut = status === "interrupted" || status === "cancelled";
    const complete = status === "completed";
    const rest = complete || !text.startsWith(heard) ? "" : text.slice(heard.length);
    this.settled = true;
    this.element.dataset.status = status;
    this.text.replaceChildren(complete ? text : heard);
    if (!rest.trim()) return;
    const unheard = make(cut ? "s" : "span", "cut");
    unheard.append(make("span", "visually-hidden", cut ? " Cut off, not heard: " : " Not spoken: "), rest.trim());
    this.text.append(" ", unheard);
  }

  /** Put who answers below the words; an open one stays open. @param {HTMLElement} route */
  showRoute(route) {
    const before = this.element.querySelector(".route");
    if (before?.hasAttribute("open")) route.setAttribute("open", "");
    if (before) before.replaceWith(route);
    else this.element.append(route);
  }

  /** Put the gap before the words. @param {HTMLElement} gap */
  showGap(gap) {
    this.element.querySelector(".gap")?.remove();
    this.element.prepend(gap);
  }
}

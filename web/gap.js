// @ts-check
/** The silence before a reply: drawn to scale, in milliseconds and in words, its parts on demand. */
import { make } from "./dom.js";

/**
 * @typedef {{gap_ms: number | null, class: string | null, measured: boolean,
 *   parts: {name: string, ms: number}[]}} Gap
 */

/** What a class of gap means to a listener. @type {Record<string, string>} */
const MEANING = {
  overlap: "it spoke before you had finished",
  seamless: "no pause that a listener notices",
  human: "as people answer each other",
  comfortable: "an unhurried answer",
  noticeable: "a pause that one notices",
  awkward: "a pause that makes one wonder",
  bad: "too long for a conversation",
  broken: "as if nobody were there",
};

/** Our words for the parts that a server names. @type {Record<string, string>} */
const PARTS = {
  endpointing: "Being sure that you had finished",
  transcription: "Understanding your words",
  "first token": "The first word of the answer",
  clause: "The first phrase of the answer",
  voice: "Voicing it",
  hold: "Waiting for its turn",
  playout: "On its way to your ear",
  uplink: "Your voice on its way",
  "leading silence": "Silence before its first sound",
};

/** The bar is full at this many milliseconds. */
const FULL_SCALE = 2_000;

/** The page's colour for a class; never without the word. @param {string} kind @returns {"accent" | "ink-soft" | "alarm"} */
export function gapTone(kind) {
  if (kind === "noticeable") return "ink-soft";
  return ["awkward", "bad", "broken", "overlap"].includes(kind) ? "alarm" : "accent";
}

/** How much of a full bar it is, 0 to 1. @param {number} milliseconds */
export function gapShare(milliseconds) {
  return Math.min(1, Math.max(0, milliseconds / FULL_SCALE));
}

/** @param {Gap} gap @returns {HTMLElement | null} null where there was no gap to measure */
export function gapView(gap) {
  if (typeof gap.gap_ms !== "number" || typeof gap.class !== "string") return null;
  const milliseconds = Math.round(gap.gap_ms);
  const bar = make("span", "gap__bar");
  bar.style.setProperty("--share", String(gapShare(milliseconds)));
  bar.style.setProperty("--tone", `var(--${gapTone(gap.class)})`);
  const number = make("span", "gap__ms", `${milliseconds} ms`);
  const summary = make("summary", "gap__line", make("span", "visually-hidden", "Pause before the answer: "), bar, number, " ", make("span", "gap__class", gap.class));
  const view = make("details", "gap", summary, details(gap));
  view.dataset.ms = String(milliseconds);
  return view;
}

/** @param {Gap} gap */
function details(gap) {
  const meaning = MEANING[gap.class ?? ""] ?? "";
  const how = gap.measured ? "Measured at your ear." : "Estimated: the player did not report.";
  const parts = Array.isArray(gap.parts) ? gap.parts : [];
  const rows = parts.filter(({ ms }) => Math.round(ms) !== 0).map(({ name, ms }) => {
    const row = make("div", "gap__part", make("dt", "", PARTS[name] ?? name), make("dd", "", `${Math.round(ms)} ms`));
    row.style.setProperty("--share", String(Math.max(0, ms) / Math.max(1, gap.gap_ms ?? 0)));
    return row;
  });
  return make("div", "gap__more", make("p", "", `${meaning[0]?.toUpperCase() ?? ""}${meaning.slice(1)}. ${how}`), make("dl", "", ...rows));
}

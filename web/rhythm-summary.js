// @ts-check
/** The rhythm in words: one turn for those who do not see the strip, and the labels on it. */

/** @typedef {import("./rhythm-model.js").Turn} Turn */

/** @type {Record<string, string>} */
const PLACE = { word: "inside a word", phrase: "inside a phrase", clause: "after a clause", sentence: "after a sentence" };
/** @type {Record<string, string>} */
const CAUSE = { underrun: "the player had nothing to play", authored: "it is in the voice itself", bridging: "it waited for an analysis" };
/** @type {Record<string, string>} */
const MANNER = { even: "evenly", uneven: "unevenly", bursty: "in bursts" };

/** @param {number} milliseconds with a true minus sign */
export function inMs(milliseconds) {
  return `${Math.round(milliseconds)} ms`.replace("-", "−");
}

/** @param {{value: number, band: string | null}} evenness "even 0.93" */
export function inBand({ value, band }) {
  return `${band ?? ""} ${value.toFixed(2)}`.trim();
}

/** Whole sentences on what is known of a turn; empty where nothing is. @param {Turn} turn */
export function summaryOf(turn) {
  return [gap(turn), tokens(turn), pauses(turn), stop(turn)].filter(Boolean).join(" ");
}

/** @param {Turn} turn */
function gap({ gap }) {
  if (!gap) return "";
  const ms = `${gap.measured ? "" : "about "}${Math.abs(Math.round(gap.ms))} ms`;
  if (gap.class === "overlap") return `The answer began ${ms} before you had finished, overlap.`;
  return `Pause before the answer ${gap.ms < 0 ? "minus " : ""}${ms}, ${gap.class}.`;
}

/** @param {Turn} turn */
function tokens({ evenness }) {
  if (!evenness) return "";
  return `Tokens came ${MANNER[evenness.band ?? ""] ?? "with an evenness of"}, ${evenness.value.toFixed(2)}.`.replace("of,", "of");
}

/** @param {Turn} turn */
function pauses({ pauses }) {
  if (!pauses.length) return "";
  const longest = pauses.reduce((one, other) => (other.ms > one.ms ? other : one));
  const place = longest.place ? ` ${PLACE[longest.place]}` : "";
  const cause = longest.cause ? `: ${CAUSE[longest.cause]}` : "";
  const ms = `${Math.round(longest.ms)} ms`;
  if (pauses.length === 1) return `One pause of ${ms}${place}, ${longest.class}${cause}.`;
  return `${pauses.length} awkward pauses, the longest ${ms}${place}, ${longest.class}${cause}.`;
}

/** @param {Turn} turn */
function stop({ stop }) {
  if (!stop) return "";
  const kind = stop.class === "no_yield" ? "it did not yield" : stop.class;
  return `It stopped ${Math.round(stop.ms)} ms after you began, ${kind}.`;
}

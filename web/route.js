// @ts-check
/** Who answered: a small badge below the words, its reason and what its marks mean on demand. */
import { make } from "./dom.js";

/**
 * @typedef {{backend: string | null, badge: string, reason: string, hedged: boolean,
 *   failed_over: boolean, handed_over: boolean}} Route
 */

/** What the marks of a badge mean to a listener. @type {[keyof Route, string][]} */
const MARKS = [
  ["hedged", "Hedged: the first was late, so a second was asked at the same time, and the quicker one answers."],
  ["failed_over", "Failed over: the first could not answer, so another was asked."],
  ["handed_over", "Handed over: the first stopped in the middle, and another went on from the last words you were given."],
];

/** @param {Route} route @returns {HTMLElement} */
export function routeView(route) {
  const meanings = MARKS.filter(([mark]) => route[mark] === true).map(([, text]) => make("p", "", text));
  const reason = route.reason ? make("p", "", `${route.reason}.`) : "";
  const label = make("span", "visually-hidden", "Answered by: ");
  const summary = make("summary", "route__line", label, make("span", "route__badge", route.badge));
  return make("details", "route", summary, make("div", "route__more", ...meanings, reason));
}

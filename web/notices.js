// @ts-check
/** Troubles on the page: one notice for each code, with what helps and a way on. */
import { button, make } from "./dom.js";
import { trouble } from "./errors.js";

/** @typedef {{label: string, run: () => void}} Act */

export class Notices {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
  }

  /**
   * @param {string} code a key of `errors.js`, or the server's own
   * @param {Act[]} [acts]
   * @param {string} [message] the server's own words, instead of ours
   */
  show(code, acts = [], message) {
    this.clear(code);
    const { title, help } = message ? { title: message, help: "" } : trouble(code);
    const text = make("div", "", make("p", "notice__title", title));
    if (help) text.append(make("p", "notice__help", help));
    const row = make("div", "notice__acts");
    const notice = make("div", "notice", text);
    notice.dataset.code = code;
    notice.setAttribute("role", "alert");
    for (const { label, run } of acts) row.append(button(label, "button", run));
    const dismiss = button("", "notice__dismiss", () => this.clear(code));
    dismiss.append(make("span", "visually-hidden", "Dismiss"));
    if (row.childElementCount) notice.append(row);
    notice.append(dismiss);
    this.list.append(notice);
    while (this.list.children.length > 2) this.list.firstElementChild?.remove();
  }

  /** @param {string} [code] without one, all */
  clear(code) {
    for (const notice of [...this.list.children]) {
      if (code && /** @type {HTMLElement} */ (notice).dataset.code !== code) continue;
      notice.remove();
    }
  }
}

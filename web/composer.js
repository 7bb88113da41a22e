// @ts-check
/** Typed messages: the field, and the examples that one click asks. */
import { byId } from "./dom.js";

export class Composer {
  /** @param {(text: string) => boolean} say whether the message was taken; if not, it stays */
  constructor(say) {
    this.field = /** @type {HTMLInputElement} */ (byId("message"));
    byId("compose").addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.field.value.trim();
      if (text && say(text)) this.field.value = "";
    });
    byId("examples").addEventListener("click", ({ target }) => {
      if (target instanceof HTMLButtonElement) say(target.textContent?.trim() ?? "");
    });
  }

  /** What stands in the field, which is then empty. @returns {string} */
  take() {
    const text = this.field.value.trim();
    this.field.value = "";
    return text;
  }
}

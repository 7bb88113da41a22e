// @ts-check
/** Asks the server until it is warm, and shows how far each of its parts is. */
import { make } from "./dom.js";
import { readiness } from "./server.js";

const ASK_EVERY = 1_000;

/** Our words for the parts that a server names. @type {Record<string, string>} */
const PARTS = {
  "speech detection": "Noticing speech",
  recogniser: "Hearing words",
  "turn model": "Knowing when you have finished",
  voice: "Voice",
  "language model": "Finding answers",
};

/** @param {string} state */
function stateOf(state) {
  if (state === "warm" || state === "ready") return { kind: "warm", words: "ready" };
  if (state.startsWith("failed")) return { kind: "failed", words: state };
  return { kind: "loading", words: "loading" };
}

export class ReadinessView {
  /** @param {HTMLElement} box @param {(ready: boolean, reachable: boolean) => void} onchange */
  constructor(box, onchange) {
    this.box = box;
    this.onchange = onchange;
    this.ready = false;
    this.asking = false;
  }

  /** Ask until the server is ready. */
  async watch() {
    if (this.asking) return;
    this.asking = true;
    for (;;) {
      const state = await readiness();
      this.ready = state.ready;
      this.render(state);
      this.onchange(state.ready, state.reachable);
      if (state.ready) break;
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY));
    }
    this.asking = false;
  }

  /** @param {import("./server.js").Readiness} state */
  render({ reachable, ready, parts }) {
    this.box.hidden = ready;
    const title = this.box.querySelector("p");
    const list = this.box.querySelector("ul");
    if (!title || !list || ready) return;
    title.textContent = reachable
      ? "Loading the models. The first start takes longest."
      : "Trying to reach the server…";
    list.replaceChildren(...Object.entries(reachable ? parts : {}).map(row));
  }
}

/** @param {[string, string]} part */
function row([name, state]) {
  const { kind, words } = stateOf(state);
  const label = PARTS[name] ?? name;
  return make("li", `part part--${kind}`, make("span", "", label), make("span", "part__state", words));
}

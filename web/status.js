// @ts-check
/** Who is speaking now, in words. */

/** @typedef {{user: string, agent: string, muted: boolean, voice: boolean}} Floor */

export class Status {
  /** @param {HTMLElement} line */
  constructor(line) {
    this.line = line;
    /** @type {Floor} */
    this.floor = { user: "quiet", agent: "idle", muted: false, voice: true };
  }

  /** @param {Partial<Floor>} change */
  set(change) {
    Object.assign(this.floor, change);
    const { speaker, words } = describe(this.floor);
    this.line.dataset.speaker = speaker;
    if (this.line.textContent !== words) this.line.textContent = words;
  }
}

/** @param {Floor} floor @returns {{speaker: string, words: string}} */
function describe({ user, agent, muted, voice }) {
  if (agent === "speaking" && user === "speaking") return { speaker: "both", words: "You are both speaking" };
  if (user === "speaking") return { speaker: "user", words: "You are speaking" };
  if (agent === "speaking") return { speaker: "agent", words: "The assistant is speaking" };
  if (agent === "thinking") return { speaker: "thinking", words: "Thinking" };
  if (!voice) return { speaker: "none", words: "Ready for your message" };
  return muted ? { speaker: "none", words: "Your microphone is muted" } : { speaker: "none", words: "Listening" };
}

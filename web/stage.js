// @ts-check
/** Which controls are there when: before, during and after a call. */
import { byId } from "./dom.js";

/** @typedef {"idle" | "connecting" | "live" | "ended"} Phase */

export class Stage {
  constructor() {
    /** @type {Phase} */
    this.phase = "idle";
    /** The call is spoken; false for one in text. */
    this.voice = true;
    this.muted = false;
    /** The server is warm. */
    this.ready = false;
    this.reachable = true;
    this.start = /** @type {HTMLButtonElement} */ (byId("start"));
    this.end = byId("end");
    this.mute = byId("mute");
    this.field = /** @type {HTMLInputElement} */ (byId("message"));
    this.render();
  }

  get inCall() {
    return this.phase === "live" || this.phase === "connecting";
  }

  /** @param {Phase} phase @param {boolean} [voice] */
  enter(phase, voice = this.voice) {
    const focused = document.activeElement;
    this.phase = phase;
    this.voice = voice;
    this.muted = false;
    this.render();
    // A control that went away must not take the keyboard's place with it; nor may Cancel become
    // End call under the finger.
    if (!(focused instanceof HTMLElement) || focused === document.body) return;
    const renamed = phase === "live" && focused === this.end;
    if (renamed || focused.getClientRects().length === 0) this.foremost().focus();
  }

  /** The control that one would use next. @returns {HTMLElement} */
  foremost() {
    if (this.phase === "connecting") return this.end;
    if (this.phase === "live") return this.voice ? this.mute : this.field;
    return this.start.disabled ? this.field : this.start;
  }

  render() {
    const { phase, voice, inCall } = this;
    const live = phase === "live";
    const blank = !live && byId("turns").children.length === 0;
    document.body.dataset.phase = phase;
    document.body.dataset.mode = voice ? "voice" : "text";
    byId("welcome").hidden = byId("examples").hidden = !blank;
    byId("conversation").hidden = blank;
    byId("hint").hidden = !(phase === "connecting" && voice);
    byId("rhythm").hidden = byId("speaker").hidden = !live;
    byId("controls").hidden = !inCall;
    byId("volume-box").hidden = !live;
    this.mute.hidden = !(live && voice);
    this.mute.textContent = this.muted ? "Unmute" : "Mute";
    this.end.textContent = live ? "End call" : "Cancel";
    this.start.hidden = inCall && !(live && !voice);
    this.start.disabled = !this.ready && !inCall;
    byId("start-label").textContent = this.startLabel();
    byId("connection").textContent = this.state();
  }

  startLabel() {
    if (this.phase === "live") return "Use microphone";
    if (!this.ready) return this.reachable ? "Getting ready" : "Not connected";
    return byId("turns").children.length ? "Talk again" : "Start talking";
  }

  state() {
    if (this.phase === "live") return this.voice ? "On the line" : "Connected, in text";
    if (this.phase === "connecting") return "Connecting";
    if (this.phase === "ended") return "Call ended";
    if (!this.reachable) return "No connection";
    return this.ready ? "Ready" : "Getting ready";
  }
}

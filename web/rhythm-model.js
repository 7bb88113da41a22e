// @ts-check
/**
 * What has lately happened in a conversation: the server's events in; spans, pauses, ticks and gaps
 * out. Pure: no clock, no page. Times are milliseconds on the page's input audio timeline.
 *
 * Nothing here grows without bound, and no event makes it throw: fields that are missing or
 * impossible are left out.
 */
import { summaryOf } from "./rhythm-summary.js";

/**
 * @typedef {{from: number, to: number | null}} Span `to` is null while it goes on
 * @typedef {"hold" | "thinking" | "speaking"} Phase
 * @typedef {Span & {item: string | null}} UserSpan
 * @typedef {Span & {phase: Phase}} AgentSpan
 * @typedef {{from: number, to: number, ms: number, class: string, place: string | null,
 *   cause: string | null, measured: boolean}} Pause
 * @typedef {{at: number, tokens: number | null}} Tick
 * @typedef {{item: string, from: number, to: number, ms: number, class: string,
 *   measured: boolean}} Gap
 * @typedef {{at: number, ms: number, class: string, measured: boolean}} Stop
 * @typedef {{value: number, band: string | null}} Evenness
 * @typedef {{item: string, voiced: number, complete: boolean, over: boolean, said: boolean,
 *   gap: Gap | null, evenness: Evenness | null, pauses: Pause[], stop: Stop | null}} Turn
 * @typedef {{item: string, seconds: number, low: boolean}} Reserve
 */

/** How far back the model remembers, milliseconds. */
export const WINDOW = 15_000;
/** Bounds, whatever is sent. */
const MOST = { spans: 64, pauses: 128, ticks: 2_000, gaps: 8, stops: 16, turns: 8, batch: 500 };
/** An event's time further than this from now is a mistake, milliseconds. */
const CREDIBLE = { past: 60_000, future: 2_000 };
/** An event that says more exactly when something was moves it by less than this, milliseconds. */
const CORRECTION = 1_500;
/** A voice that has not moved for this long is silent, milliseconds. */
const SILENT_AFTER = 120;
/** Less speech than this ahead, while more is to come, is low; seconds. */
const LOW = 0.3;
const WIRE_RATE = 24_000;

const GAP_CLASSES = ["overlap", "seamless", "human", "comfortable", "noticeable", "awkward", "bad", "broken"];
const PAUSE_CLASSES = ["fine", "micro", "awkward", "severe"];
const STOP_CLASSES = ["good", "ok", "slow", "bad", "no_yield"];
const PLACES = ["word", "phrase", "clause", "sentence"];
const CAUSES = ["underrun", "authored", "bridging"];
const BANDS = ["even", "uneven", "bursty"];

export class RhythmModel {
  constructor() {
    this.now = -Infinity;
    /** @type {UserSpan[]} */
    this.user = [];
    /** @type {AgentSpan[]} */
    this.agent = [];
    /** @type {Pause[]} */
    this.pauses = [];
    /** @type {Tick[]} */
    this.ticks = [];
    /** The last ones, however long ago. @type {Gap[]} */
    this.gaps = [];
    /** @type {Stop[]} */
    this.stops = [];
    /** The newest figure. @type {Evenness | null} */
    this.evenness = null;
    /** Since when the person waits for an answer. @type {number | null} */
    this.waiting = null;
    /** How far the voice had come, and when it last moved. */
    this.voice = { item: "", samples: 0, at: 0 };
    /** @type {Map<string, Turn>} */
    this.turns = new Map();
  }

  /** Forget everything. */
  reset() {
    Object.assign(this, new RhythmModel());
  }

  /** Take one event of the server. @param {any} event @param {number} now */
  handle(event, now) {
    this.advance(now);
    switch (event?.type) {
      case "voiceagent.state": return this.state(event);
      case "input_audio_buffer.speech_started": return this.speechStarted(event);
      case "input_audio_buffer.speech_stopped": return this.speechStopped(event);
      case "voiceagent.tokens": return this.tokens(event);
      case "voiceagent.gap": return this.gap(event);
      case "voiceagent.pause": return this.pause(event);
      case "voiceagent.stop": return this.stop(event);
      case "voiceagent.clause": return this.clause(event);
      case "response.output_audio.done": return this.mark(event, { complete: true });
      case "voiceagent.playout.flush":
      case "voiceagent.heard": return this.mark(event, { over: true });
    }
  }

  /** Let time pass: what is too old goes. @param {number} now */
  advance(now) {
    // The timeline began anew: a microphone joined a call that began in text.
    if (now < this.now - 1_000) this.reset();
    this.now = now;
    const first = now - WINDOW;
    this.user = this.user.filter(({ to }) => to === null || to > first).slice(-MOST.spans);
    this.agent = this.agent.filter(({ to }) => to === null || to > first).slice(-MOST.spans);
    this.pauses = this.pauses.filter(({ to }) => to > first).slice(-MOST.pauses);
    this.stops = this.stops.filter(({ at }) => at > first).slice(-MOST.stops);
    this.ticks = this.ticks.filter(({ at }) => at > first).slice(-MOST.ticks);
  }

  // --- who holds the floor -----------------------------------------------------------------------

  /** @param {any} event */
  state({ user, agent, at_ms }) {
    const at = this.when(at_ms);
    if (user === "speaking") this.userBegins(at, null);
    else if (user === "paused" || user === "quiet") this.userEnds(at);
    if (agent === "idle" && user === "paused") this.agentIs("hold", at);
    else if (agent === "thinking" || agent === "speaking") this.agentIs(agent, at);
    else if (agent === "idle") this.agentIs(null, at);
    if (agent === "speaking" || (agent === "idle" && user === "quiet")) this.waiting = null;
  }

  /** @param {any} event */
  speechStarted({ item_id, audio_start_ms }) {
    const at = this.when(audio_start_ms);
    const last = this.user.at(-1);
    if (last?.to !== null) return this.userBegins(at, text(item_id));
    last.item = text(item_id);
    last.from = Math.min(last.from, Math.max(at, this.user.at(-2)?.to ?? at));
  }

  /** @param {any} event */
  speechStopped({ item_id, audio_end_ms }) {
    const last = this.user.at(-1);
    const end = this.when(audio_end_ms);
    if (!last || (end <= last.from && last.item !== text(item_id))) return;
    last.to = end > last.from ? end : (last.to ?? Math.max(this.now, last.from));
    if (this.waiting !== null) this.waiting = last.to;
  }

  /** @param {number} at @param {string | null} item */
  userBegins(at, item) {
    this.waiting = null;
    const last = this.user.at(-1);
    if (last?.to === null) return;
    this.user.push({ from: Math.max(at, last?.to ?? at), to: null, item });
  }

  /** @param {number} at */
  userEnds(at) {
    const last = this.user.at(-1);
    if (last?.to !== null) return;
    this.waiting = last.to = Math.max(at, last.from);
  }

  /** @param {Phase | null} phase @param {number} at */
  agentIs(phase, at) {
    const last = this.agent.at(-1);
    if (last?.to === null) {
      if (last.phase === phase) return;
      last.to = Math.max(at, last.from);
    }
    if (phase) this.agent.push({ from: Math.max(at, last?.to ?? at), to: null, phase });
  }

  // --- what was measured ---------------------------------------------------------------------------

  /** @param {any} event */
  tokens({ item_id, ticks, evenness, band }) {
    for (const tick of Array.isArray(ticks) ? ticks.slice(-MOST.batch) : []) {
      const at = Array.isArray(tick) ? number(tick[0]) : null;
      if (at !== null && this.credible(at)) this.ticks.push({ at, tokens: number(tick[1]) });
    }
    this.ticks = this.ticks.slice(-MOST.ticks);
    const value = number(evenness);
    if (value === null || value < 0 || value > 1) return;
    this.evenness = { value, band: oneOf(BANDS, band) };
    const turn = this.turn(item_id);
    if (turn) turn.evenness = this.evenness;
  }

  /** @param {any} event */
  gap(event) {
    const ms = number(event.gap_ms);
    const kind = oneOf(GAP_CLASSES, event.class);
    const turn = this.turn(event.item_id);
    if (ms === null || kind === null || !turn) return;
    const to = this.when(event.at_ms);
    const end = number(event.user_end_ms);
    const from = end !== null && this.credible(end) ? end : to - ms;
    turn.gap = { item: turn.item, from, to, ms, class: kind, measured: event.measured === true };
    this.gaps = [...this.gaps.filter(({ item }) => item !== turn.item), turn.gap].slice(-MOST.gaps);
    if (number(event.at_ms) !== null) this.agentSounded(to);
    const last = this.user.at(-1);
    if (last?.to && from > last.from && Math.abs(last.to - from) < CORRECTION) last.to = from;
  }

  /** The newest speaking began at this moment, and not when it was told. @param {number} at */
  agentSounded(at) {
    const [last, before] = [this.agent.at(-1), this.agent.at(-2)];
    if (last?.phase !== "speaking" || Math.abs(last.from - at) > CORRECTION) return;
    const joined = before?.to === last.from;
    last.from = Math.min(Math.max(at, before?.from ?? at), last.to ?? Infinity);
    if (before?.to && (joined || before.to > last.from)) before.to = last.from;
  }

  /** @param {any} event */
  pause(event) {
    const ms = number(event.duration_ms);
    const kind = oneOf(PAUSE_CLASSES, event.class);
    if (ms === null || ms <= 0 || ms > CREDIBLE.past || kind === null) return;
    const told = number(event.at_ms);
    const from = told !== null && this.credible(told) ? told : this.now - ms;
    /** @type {Pause} */
    const pause = { from, to: from + ms, ms, class: kind, place: oneOf(PLACES, event.place), cause: oneOf(CAUSES, event.cause), measured: event.measured === true };
    this.pauses = [...this.pauses, pause].slice(-MOST.pauses);
    const turn = this.turn(event.item_id);
    if (turn && disturbs(pause)) turn.pauses = [...turn.pauses, pause].slice(-MOST.pauses);
  }

  /** @param {any} event */
  stop(event) {
    const ms = number(event.stop_ms);
    const kind = oneOf(STOP_CLASSES, event.class);
    if (ms === null || ms < 0 || kind === null) return;
    const stop = { at: this.when(event.at_ms), ms, class: kind, measured: event.measured === true };
    this.stops = [...this.stops, stop].slice(-MOST.stops);
    const turn = this.turn(event.item_id);
    if (turn) turn.stop = stop;
  }

  // --- the voice -------------------------------------------------------------------------------------

  /** @param {any} event */
  clause({ item_id, first_sample, samples }) {
    const end = (number(first_sample) ?? NaN) + (number(samples) ?? NaN);
    const turn = this.turn(item_id);
    if (turn && end >= 0) turn.voiced = Math.max(turn.voiced, end);
  }

  /** @param {any} event @param {{complete?: boolean, over?: boolean}} change */
  mark({ item_id }, change) {
    const turn = this.turn(item_id);
    if (turn) Object.assign(turn, change);
  }

  /** The reply that is being said, or is about to be. @returns {Turn | null} */
  get current() {
    return [...this.turns.values()].findLast(({ over, voiced }) => !over && voiced > 0) ?? null;
  }

  /**
   * Speech that is voiced and not yet heard. @param {(item: string) => number} heard samples
   * @returns {Reserve | null} null while nothing is being said
   */
  reserve(heard) {
    const turn = this.current;
    if (!turn) return null;
    const seconds = Math.max(0, turn.voiced - (number(heard(turn.item)) ?? 0)) / WIRE_RATE;
    return { item: turn.item, seconds, low: seconds < LOW && !turn.complete };
  }

  /** How far the player has come. @param {string} item @param {number} samples */
  hear(item, samples) {
    const { voice } = this;
    if (voice.item !== item) this.voice = { item, samples, at: this.now };
    else if (samples > voice.samples) Object.assign(voice, { samples, at: this.now });
  }

  /** A silence inside the agent's turn that goes on now. @returns {Span | null} */
  get silence() {
    const { item, samples, at } = this.voice;
    const turn = this.turns.get(item);
    const last = this.agent.at(-1);
    if (!turn || turn.over || samples <= 0 || last?.to !== null || last.phase !== "speaking") return null;
    if (turn.complete && samples >= turn.voiced - SILENT_AFTER * (WIRE_RATE / 1_000)) return null;
    return this.now - at > SILENT_AFTER ? { from: at, to: null } : null;
  }

  /** A turn in words: once, when it is over; else null. @param {unknown} item @returns {string | null} */
  takeSummary(item) {
    const turn = typeof item === "string" ? this.turns.get(item) : null;
    if (!turn?.over || turn.said) return null;
    turn.said = true;
    return summaryOf(turn) || null;
  }

  /** How many things are remembered. */
  get size() {
    const lists = [this.user, this.agent, this.pauses, this.ticks, this.gaps, this.stops];
    const inTurns = [...this.turns.values()].map(({ pauses }) => pauses.length);
    return [...lists.map((list) => list.length), this.turns.size, ...inTurns].reduce((a, b) => a + b);
  }

  /** @param {unknown} item @returns {Turn | null} null without a name */
  turn(item) {
    if (typeof item !== "string" || !item) return null;
    let turn = this.turns.get(item);
    if (!turn) {
      turn = { item, voiced: 0, complete: false, over: false, said: false, gap: null, evenness: null, pauses: [], stop: null };
      this.turns.set(item, turn);
      if (this.turns.size > MOST.turns) this.turns.delete([...this.turns.keys()][0]);
    }
    return turn;
  }

  /** The time that an event names, or now where that cannot be. @param {unknown} at */
  when(at) {
    const time = number(at);
    return time !== null && this.credible(time) ? time : this.now;
  }

  /** @param {number} at */
  credible(at) {
    return at >= this.now - CREDIBLE.past && at <= this.now + CREDIBLE.future;
  }
}

/** One that a listener minds. @param {{class: string}} pause */
export function disturbs(pause) {
  return pause.class === "awkward" || pause.class === "severe";
}

/** @param {unknown} value @returns {number | null} */
function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** @param {unknown} value @returns {string | null} */
function text(value) {
  return typeof value === "string" ? value : null;
}

/** @param {string[]} known @param {unknown} value @returns {string | null} */
function oneOf(known, value) {
  return typeof value === "string" && known.includes(value) ? value : null;
}

// @ts-check
/** A client of the OpenAI Realtime API over WebSocket, with the `voiceagent.*` extensions. */
import { encode } from "./base64.js";

/**
 * @typedef {Record<string, any> & {type: string}} RealtimeEvent
 * @typedef {{opened: boolean, code: number, reason: string}} Closed
 */

/** Unsent bytes (about eight seconds of audio) at which the connection is taken for lost. */
const MOST_UNSENT = 512 * 1024;
/** How long a connection may take to be accepted and to say `session.created`, milliseconds. */
const OPEN_WITHIN = 10_000;
/** Close code of our own: the network does not take what we send. */
export const TOO_SLOW = 4000;

/**
 * @param {boolean} greet whether the agent speaks first
 * @returns {string}
 */
export function realtimeUrl(greet) {
  const url = new URL("/v1/realtime", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("model", "voiceagent");
  url.searchParams.set("extensions", "voiceagent");
  url.searchParams.set("greet", greet ? "1" : "0");
  return url.href;
}

export class RealtimeClient {
  /** @param {string} url @param {string | null} token */
  constructor(url, token) {
    this.url = url;
    this.protocols = token ? ["realtime", `openai-insecure-api-key.${token}`] : ["realtime"];
    /** @type {(event: RealtimeEvent) => void} */
    this.onevent = () => {};
    /** @type {(closed: Closed) => void} */
    this.onclose = () => {};
    this.opened = false;
    /** @type {WebSocket | null} */
    this.socket = null;
  }

  /** Connect. What comes of it is told through `onevent` (`session.created`) or `onclose`. */
  connect() {
    const socket = new WebSocket(this.url, this.protocols);
    this.socket = socket;
    const late = setTimeout(() => this.lose({ code: 1006, reason: "no answer" }), OPEN_WITHIN);
    socket.onmessage = ({ data }) => {
      const event = parse(data);
      if (event?.type === "session.created") {
        this.opened = true;
        clearTimeout(late);
      }
      if (event && this.socket === socket) this.onevent(event);
    };
    socket.onclose = (closed) => {
      clearTimeout(late);
      if (this.socket === socket) this.lose(closed);
    };
  }

  /** @param {RealtimeEvent} event */
  send(event) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (this.socket.bufferedAmount > MOST_UNSENT) this.lose({ code: TOO_SLOW, reason: "slow" });
    else this.socket.send(JSON.stringify(event));
  }

  /** @param {Int16Array} samples the microphone's next samples, 24 kHz */
  append(samples) {
    this.send({ type: "input_audio_buffer.append", audio: encode(samples) });
  }

  /** Stop what is being said, and ask this instead. @param {string} text @returns {string} the item's id */
  ask(text) {
    const id = `item_${crypto.getRandomValues(new Uint32Array(3)).join("")}`;
    const content = [{ type: "input_text", text }];
    this.send({ type: "response.cancel" });
    const item = { id, type: "message", role: "user", content };
    this.send({ type: "conversation.item.create", item });
    this.send({ type: "response.create" });
    return id;
  }

  close() {
    const socket = this.socket;
    this.socket = null;
    socket?.close(1000);
  }

  /** @param {{code: number, reason: string}} closed */
  lose({ code, reason }) {
    this.close();
    this.onclose({ opened: this.opened, code, reason });
  }
}

/** @param {unknown} data @returns {RealtimeEvent | null} */
function parse(data) {
  try {
    const event = JSON.parse(String(data));
    return typeof event?.type === "string" ? event : null;
  } catch {
    return null;
  }
}

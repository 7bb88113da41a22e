// @ts-check
/** One call: the context, the microphone (or none), the player and the connection. */
import { openDeviceContext } from "./audio.js";
import { decode } from "./base64.js";
import { RealtimeClient } from "./client.js";
import { Microphone } from "./microphone.js";
import { Player } from "./player.js";

/**
 * @typedef {import("./client.js").RealtimeEvent} RealtimeEvent
 * @typedef {import("./client.js").Closed} Closed
 */

export class Call {
  /**
   * @param {AudioContext} context made inside the click
   * @param {MediaStream | null} stream null for a call in text
   * @param {{url: string, token: string | null}} server
   */
  constructor(context, stream, server) {
    this.context = context;
    this.stream = stream;
    this.client = new RealtimeClient(server.url, server.token);
    /** @type {Microphone | null} */
    this.microphone = null;
    /** @type {(event: RealtimeEvent) => void} */
    this.onevent = () => {};
    /** @type {(closed: Closed) => void} */
    this.onclose = () => {};
    /** @type {(silent: boolean) => void} */
    this.onsilent = () => {};
    /** @type {() => void} */
    this.onlost = () => {};
    /** @type {(state: string) => void} the AudioContext's state changed */
    this.onaudio = () => {};
  }

  /** Make both ends of the audio ready, so that nothing of the greeting is missed. */
  async open() {
    try {
      await this.openMicrophone();
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "NotSupportedError")) throw error;
      // Some browsers cannot bring a microphone to a rate that is not the device's.
      this.context.close();
      this.context = openDeviceContext();
      await this.openMicrophone();
    }
    this.player = new Player(this.context);
    await this.player.open();
    this.player.onreport = (report, inputMs) => this.report(report, inputMs);
    this.context.onstatechange = () => this.onaudio(this.context.state);
  }

  /**
   * Speak in a call that began in text. Rejects where this browser cannot bring the microphone to
   * the context's rate. @param {MediaStream} stream
   */
  async addMicrophone(stream) {
    this.stream = stream;
    await this.openMicrophone();
    this.startMicrophone();
  }

  startMicrophone() {
    if (!this.microphone || !this.player) return;
    this.player.inputLatency = this.microphone.latency;
    this.microphone.start();
  }

  async openMicrophone() {
    if (!this.stream) return;
    const microphone = new Microphone(this.context, this.stream);
    await microphone.open();
    microphone.onframe = (samples) => this.client.append(samples);
    microphone.onorigin = (frame) => {
      if (this.player) this.player.origin = frame;
    };
    microphone.onsilent = (silent) => this.onsilent(silent);
    microphone.onlost = () => this.onlost();
    this.microphone = microphone;
  }

  connect() {
    this.client.onevent = (event) => this.handle(event);
    this.client.onclose = (closed) => this.onclose(closed);
    this.client.connect();
  }

  /** @param {string} text @returns {string} the item's id */
  ask(text) {
    return this.client.ask(text);
  }

  end() {
    this.context.onstatechange = null;
    this.client.close();
    this.microphone?.close();
    this.stream?.getTracks().forEach((track) => track.stop());
    this.player?.close();
    if (this.context.state !== "closed") this.context.close();
  }

  /** @param {RealtimeEvent} event */
  handle(event) {
    const player = this.player;
    if (event.type === "session.created") {
      this.startMicrophone();
    } else if (event.type === "response.output_audio.delta") {
      player?.post({ kind: "audio", item: event.item_id, pcm: decode(event.delta) });
    } else if (event.type === "response.output_audio.done") {
      player?.post({ kind: "finish", item: event.item_id });
    } else if (event.type === "voiceagent.playout.duck") {
      player?.post({ kind: "duck", item: event.item_id, on: event.on });
    } else if (event.type === "voiceagent.playout.flush") {
      player?.post({ kind: "flush", item: event.item_id });
    } else if (event.type === "voiceagent.clock" && player) {
      const input_ms = Math.round(player.inputNow * 100) / 100;
      this.client.send({ type: "voiceagent.clock.reply", id: event.id, input_ms });
    }
    this.onevent(event);
  }

  /** @param {import("./player.js").Report} report @param {number} inputMs */
  report({ kind, item, played, stretched, cushion }, inputMs) {
    this.client.send({
      type: "voiceagent.playout.report",
      item_id: item,
      played_samples: played,
      input_ms: Math.round(inputMs * 100) / 100,
      kind,
      stretched_samples: stretched,
      cushion_ms: Math.round(cushion * 10_000) / 10,
    });
  }
}

// @ts-check
/** The microphone: asked for, captured as 24 kHz frames, muted, watched for silence and loss. */

const CONSTRAINTS = {
  audio: {
    channelCount: 1,
    echoCancellation: true,
    noiseSuppression: true,
    autoGainControl: true,
  },
};

/** Why there is no microphone; `code` is a key of `errors.js`. */
export class MicrophoneError extends Error {
  /** @param {string} code */
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/** @returns {Promise<MediaStream>} rejects with MicrophoneError */
export async function askForMicrophone() {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new MicrophoneError(window.isSecureContext ? "mic-unsupported" : "insecure");
  }
  try {
    return await navigator.mediaDevices.getUserMedia(CONSTRAINTS);
  } catch (error) {
    throw new MicrophoneError(reason(error));
  }
}

/** @param {unknown} error @returns {string} */
function reason(error) {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "mic-refused";
  if (name === "NotFoundError" || name === "OverconstrainedError") return "mic-missing";
  if (name === "NotReadableError" || name === "AbortError") return "mic-busy";
  return "mic-failed";
}

export class Microphone {
  /** @param {AudioContext} context @param {MediaStream} stream */
  constructor(context, stream) {
    this.context = context;
    this.stream = stream;
    this.track = stream.getAudioTracks()[0];
    this.muted = false;
    /** @type {(samples: Int16Array) => void} 20 ms at 24 kHz */
    this.onframe = () => {};
    /** @type {(frame: number) => void} the context's frame of the first captured sample */
    this.onorigin = () => {};
    /** @type {(silent: boolean) => void} */
    this.onsilent = () => {};
    /** @type {() => void} */
    this.onlost = () => {};
  }

  /** Throws NotSupportedError where the browser cannot bring the stream to the context's rate. */
  async open() {
    this.source = this.context.createMediaStreamSource(this.stream);
    await this.context.audioWorklet.addModule(new URL("capture-worklet.js", import.meta.url));
    this.node = new AudioWorkletNode(this.context, "capture", {
      channelCount: 1,
      channelCountMode: "explicit",
    });
    this.node.port.onmessage = ({ data }) => this.hear(data);
    this.meter = new AnalyserNode(this.context, { fftSize: 1024 });
    this.source.connect(this.meter);
    // The worklet's output is silence; it is connected so that every browser keeps running it.
    this.source.connect(this.node).connect(this.context.destination);
    this.track.onended = () => this.onlost();
  }

  /** Begin to hand out frames; the first one is the origin of the input audio timeline. */
  start() {
    this.node?.port.postMessage({ kind: "start" });
  }

  /** Seconds by which a sound reaches us late, where the browser says so. */
  get latency() {
    const settings = /** @type {Record<string, unknown>} */ (this.track.getSettings());
    return typeof settings.latency === "number" ? settings.latency : 0;
  }

  /** @param {boolean} on */
  mute(on) {
    this.muted = on;
    this.track.enabled = !on;
    this.node?.port.postMessage({ kind: "mute", on });
  }

  close() {
    this.node?.port.postMessage({ kind: "close" });
    this.source?.disconnect();
    this.node?.disconnect();
    this.track.onended = null;
    this.track.stop();
  }

  /** @param {{kind: "frame", samples: Int16Array} | {kind: "origin", frame: number} | {kind: "silent", on: boolean}} message */
  hear(message) {
    if (message.kind === "frame") this.onframe(message.samples);
    else if (message.kind === "origin") this.onorigin(message.frame);
    else this.onsilent(message.on);
  }
}

// Runs before the page's own code. A microphone that says what the test wants, an ear that records
// what the microphone gave and what the page played on one clock, and a note of each event's time.
(() => {
  const options = __OPTIONS__;
  const lab = { violations: [], marks: [], constraints: null, context: null, blocks: [], mouth: null };
  window.lab = lab;
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    lab.violations.push(`${violatedDirective} ${blockedURI}`),
  );

  // --- the ear ---------------------------------------------------------------------------------

  const connect = AudioNode.prototype.connect;
  const sourceOf = AudioContext.prototype.createMediaStreamSource;
  const taps = new WeakMap();
  const RealContext = window.AudioContext;

  function tap(context, input) {
    if (!taps.has(context)) {
      const pair = [new GainNode(context), new GainNode(context)];
      taps.set(context, pair);
      lab.context = context;
      const code = new Blob([options.ear], { type: "text/javascript" });
      if (options.ear) context.audioWorklet.addModule(URL.createObjectURL(code)).then(() => {
        const ear = new AudioWorkletNode(context, "ear", { numberOfInputs: 2, channelCount: 1, channelCountMode: "explicit" });
        ear.port.onmessage = ({ data }) => lab.blocks.push(data);
        pair.forEach((node, index) => connect.call(node, ear, 0, index));
        connect.call(ear, context.destination);
      });
    }
    return taps.get(context)[input];
  }

  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode && this.context !== lab.room) {
      connect.call(this, tap(this.context, 1));
    }
    return connect.call(this, target, ...rest);
  };
  AudioContext.prototype.createMediaStreamSource = function (stream) {
    const source = sourceOf.call(this, stream);
    if (this !== lab.room) connect.call(source, tap(this, 0));
    return source;
  };

  /** Both channels as interleaved int16, base64; and where on the context's clock they begin. */
  lab.recording = () => {
    const size = lab.blocks.reduce((sum, block) => sum + block.mic.length, 0);
    const samples = new Int16Array(size * 2);
    let at = 0;
    for (const { mic, out } of lab.blocks) {
      for (let n = 0; n < mic.length; n++, at += 2) {
        samples[at] = Math.max(-1, Math.min(1, mic[n])) * 32767;
        samples[at + 1] = Math.max(-1, Math.min(1, out[n])) * 32767;
      }
    }
    const bytes = new Uint8Array(samples.buffer);
    let text = "";
    for (let n = 0; n < bytes.length; n += 8192) text += String.fromCharCode(...bytes.subarray(n, n + 8192));
    return { rate: lab.context.sampleRate, first: lab.blocks[0]?.frame ?? 0, pcm: btoa(text) };
  };

  // --- browsers that do not give the page the rate it asks for -----------------------------------

  if (options.rate === "refused") {
    window.AudioContext = class extends RealContext {
      constructor(wish) {
        if (wish?.sampleRate) throw new DOMException("simulated", "NotSupportedError");
        super({ ...wish, sampleRate: 44100 });
      }
    };
  } else if (options.rate === "foreign microphone") {
    const tapped = RealContext.prototype.createMediaStreamSource;
    RealContext.prototype.createMediaStreamSource = function (stream) {
      if (this.sampleRate === 24000) throw new DOMException("simulated", "NotSupportedError");
      return tapped.call(this, stream);
    };
    window.AudioContext = class extends RealContext {
      constructor(wish) {
        super({ sampleRate: 48000, ...wish });
      }
    };
  }

  // --- the microphone --------------------------------------------------------------------------

  const refuse = (name) => async () => {
    throw new DOMException("simulated", name);
  };

  async function speak(constraints) {
    lab.constraints = constraints;
    lab.room = new RealContext({ sampleRate: 48000 });
    lab.mouth = lab.room.createMediaStreamDestination();
    lab.mouth.channelCount = 1;
    const noise = lab.room.createBuffer(1, 48000, 48000);
    if (options.microphone === "room") {
      const samples = noise.getChannelData(0);
      for (let n = 0; n < samples.length; n++) samples[n] = (Math.random() - 0.5) * 4e-4;
    }
    const source = new AudioBufferSourceNode(lab.room, { buffer: noise, loop: true });
    connect.call(source, lab.mouth);
    source.start();
    return lab.mouth.stream;
  }

  /** Say 16-bit samples now. */
  lab.say = (base64, rate) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const samples = Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768);
    const buffer = lab.room.createBuffer(1, samples.length, rate);
    buffer.copyToChannel(samples, 0);
    const source = new AudioBufferSourceNode(lab.room, { buffer });
    connect.call(source, lab.mouth);
    source.start();
    lab.marks.push({ type: "lab.say", at: lab.context.currentTime });
  };

  const devices = navigator.mediaDevices;
  if (options.microphone === "none") Object.defineProperty(navigator, "mediaDevices", { value: undefined });
  else if (options.microphone.endsWith("Error")) devices.getUserMedia = refuse(options.microphone);
  else if (options.microphone !== "device" && devices) devices.getUserMedia = speak;

  // --- when each event came, on the ear's clock --------------------------------------------------

  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => {
        const { type, ...fields } = JSON.parse(data);
        if (type === "response.output_audio.delta") fields.delta = undefined;
        lab.marks.push({ type, at: lab.context?.currentTime ?? 0, event: fields });
      });
    }

    send(data) {
      const { type, ...fields } = JSON.parse(data);
      if (type === "voiceagent.playout.report") {
        lab.marks.push({ type, at: lab.context.currentTime, event: fields });
      }
      super.send(data);
    }
  };
})();

// Two inputs, the microphone and what is played, recorded on the context's own clock.
const BLOCK = 2400;

class Ear extends AudioWorkletProcessor {
  constructor() {
    super();
    this.clear();
  }

  clear() {
    this.mic = new Float32Array(BLOCK);
    this.out = new Float32Array(BLOCK);
    this.filled = 0;
  }

  process([mic, out]) {
    if (this.filled === 0) this.frame = currentFrame;
    for (let n = 0; n < 128; n++) {
      this.mic[this.filled] = mic[0]?.[n] ?? 0;
      this.out[this.filled] = out[0]?.[n] ?? 0;
      if (++this.filled === BLOCK) {
        this.port.postMessage({ frame: this.frame, mic: this.mic, out: this.out });
        this.clear();
        this.frame = currentFrame + n + 1;
      }
    }
    return true;
  }
}

registerProcessor("ear", Ear);

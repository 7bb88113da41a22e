// @ts-check
/** The player's queue on the audio thread. Commands come in order, reports go back. */
import { PlayoutQueue } from "./playout-queue.js";

class Playout extends AudioWorkletProcessor {
  constructor() {
    super();
    this.queue = new PlayoutQueue(sampleRate, (report) => this.port.postMessage(report));
    this.closed = false;
    this.port.onmessage = ({ data }) => this.command(data);
  }

  /** @param {import("./player.js").Command} command */
  command(command) {
    if (command.kind === "audio") this.queue.enqueue(command.item, command.pcm);
    else if (command.kind === "finish") this.queue.finish(command.item);
    else if (command.kind === "duck") this.queue.duck(command.item, command.on);
    else if (command.kind === "flush") this.queue.flush(command.item);
    else this.closed = true;
  }

  /** @param {Float32Array[][]} _inputs @param {Float32Array[][]} outputs */
  process(_inputs, outputs) {
    this.queue.process(outputs[0][0], currentFrame);
    return !this.closed;
  }
}

registerProcessor("playout", Playout);

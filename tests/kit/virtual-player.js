// The page's queue in virtual time: audio arrives as told, blocks are processed as fast as they can
// be. `rule`: the page's own, or an older or lesser one to compare it with.
async ({ items, ducks, flush, frames, rule, rate, block }) => {
  const { PlayoutQueue } = await import("/web/playout-queue.js");

  class Unstretched extends PlayoutQueue {
    needsTime() {
      return false;
    }
  }

  /** 60 to 120 ms, 30 more after an underrun; audio waits no longer than 250 ms for it. */
  class Stepped extends Unstretched {
    cushion = { seconds: 0.06, arrived() {} };

    ready(item, frame) {
      item.since ??= frame;
      return item.queued >= this.cushion.seconds * this.rate || frame - item.since >= this.rate / 4;
    }

    ranDry(item, ...rest) {
      item.since = undefined;
      this.cushion.seconds = Math.min(0.12, this.cushion.seconds + 0.03);
      super.ranDry(item, ...rest);
    }
  }

  class None extends Unstretched {
    cushion = { seconds: 0, arrived() {} };

    ready() {
      return true;
    }
  }

  const rules = { page: PlayoutQueue, unstretched: Unstretched, stepped: Stepped, none: None };
  for (const item of items) {
    item.samples = new Int16Array(Uint8Array.from(atob(item.pcm), (char) => char.charCodeAt(0)).buffer);
  }
  const reports = [];
  const queue = new rules[rule](rate, (report) => reports.push(report));
  const out = new Float32Array(Math.ceil(frames / block) * block);
  const due = (list) => list.length && list[0][0] <= queue.frame;
  for (let frame = 0; frame < out.length; frame += block) {
    items.forEach(({ samples, messages, done }, index) => {
      while (due(messages)) queue.enqueue(`item_${index}`, samples.slice(...messages.shift().slice(1)));
      if (done !== null && frame >= done && !messages.length) queue.finish(`item_${index}`);
    });
    while (due(ducks)) queue.duck("item_0", ducks.shift()[1]);
    if (flush !== null && frame >= flush) {
      queue.flush("item_0");
      flush = null;
    }
    queue.process(out.subarray(frame, frame + block), frame);
  }
  const heard = new Int16Array(out.length);
  for (let n = 0; n < out.length; n++) heard[n] = Math.round(out[n] * 32768);
  const raw = new Uint8Array(heard.buffer);
  const pieces = [];
  for (let n = 0; n < raw.length; n += 8190) pieces.push(btoa(String.fromCharCode(...raw.subarray(n, n + 8190))));
  return { out: pieces.join(""), reports };
}

// @ts-check
/**
 * The player's cushion: how long after its least delayed audio a voice plays, so that audio which
 * comes a little late still comes in time. It follows the lateness that was seen, of all items.
 */

/** @typedef {import("./playout-item.js").Item} Item */

// Seconds.
const FIRST_CUSHION = 0.06;
const LEAST_CUSHION = 0.04;
const MOST_CUSHION = 0.4;
/** Added to the lateness that was seen: two render blocks. */
const MARGIN = 0.01;
/** How fast the cushion falls, per second of audio; it rises at once. */
const FALL = 0.015;
/** The share of messages that must be in time. */
const IN_TIME = 0.97;
/** Messages that are looked back on: ten seconds of our server's. */
const WINDOW = 128;

export class Cushion {
  constructor() {
    this.seconds = FIRST_CUSHION;
    /** @type {number[]} how late the last messages were, seconds */
    this.lateness = [];
  }

  /**
   * A message of the item has come; called before its audio is added.
   *
   * Late is what comes later, against its place in the audio, than the least delayed message before
   * it; a sender that runs ahead only moves that measure. The network is not to blame where a text
   * can have been late: the server voices whole clauses, each ends in a pause, so a wait that begins
   * in a pause may be the text's and does not count, if it is longer than what the cushion already
   * bridges, while one that begins in speech is the network's. Nor does a wait count that is longer
   * than any cushion, wherever it begins. After either the measure is taken anew.
   *
   * @param {Item} item
   * @param {number} at when, seconds
   * @param {number} length of the message, seconds
   */
  arrived(item, at, length) {
    const delay = at - item.arrived;
    const late = delay - item.leastDelay;
    const unusual = late + MARGIN > this.seconds;
    if ((unusual && item.endsInPause) || late > MOST_CUSHION) item.delays = [];
    else this.note(Math.max(0, late), length, item.starved);
    item.delays.push(delay);
    if (item.delays.length > WINDOW) item.delays.shift();
  }

  /** @param {number} late @param {number} length @param {boolean} heard its absence was heard */
  note(late, length, heard) {
    this.lateness.push(late);
    if (this.lateness.length > WINDOW) this.lateness.shift();
    const sorted = [...this.lateness].sort((one, other) => one - other);
    const usual = sorted[Math.ceil(IN_TIME * (sorted.length - 1))];
    const wanted = (heard ? Math.max(usual, late) : usual) + MARGIN;
    const slowly = Math.max(wanted, this.seconds - FALL * length);
    this.seconds = Math.min(MOST_CUSHION, Math.max(LEAST_CUSHION, slowly));
  }
}

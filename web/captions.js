// @ts-check
/** Both sides of the conversation as text. One item is one entry, in the order of their coming. */
import { make } from "./dom.js";
import { gapView } from "./gap.js";
import { ReplyEntry } from "./reply.js";
import { routeView } from "./route.js";

/** @typedef {import("./client.js").RealtimeEvent} RealtimeEvent */

/** Entries kept on the page; older ones go. */
const MOST_ENTRIES = 400;

export class Captions {
  /** @param {HTMLElement} list @param {HTMLElement} log read out by screen readers: final texts only */
  constructor(list, log) {
    this.list = list;
    this.log = log;
    /** @type {Map<string, ReplyEntry>} */
    this.replies = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.users = new Map();
    this.following = true;
    this.scrollTop = 0;
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    /** @type {Record<string, (event: RealtimeEvent) => void>} */
    this.on = {
      "input_audio_buffer.speech_started": (event) => this.user(event.item_id),
      "voiceagent.transcript.partial": (event) => this.userSays(event.item_id, event.text, false),
      "conversation.item.input_audio_transcription.completed": (event) =>
        this.userSays(event.item_id, event.transcript, true),
      "conversation.item.input_audio_transcription.failed": (event) => this.dropUser(event.item_id),
      "voiceagent.turn.dropped": (event) => this.dropUser(event.item_id),
      "voiceagent.clause": (event) => this.reply(event.item_id).add(/** @type {any} */ (event)),
      "voiceagent.gap": (event) => this.gap(event),
      "voiceagent.route": (event) =>
        this.reply(event.item_id).showRoute(routeView(/** @type {any} */ (event))),
      "voiceagent.heard": (event) => this.heard(event),
    };
  }

  /** @param {RealtimeEvent} event */
  handle(event) {
    this.follow(() => this.on[event.type]?.(event));
  }

  /** Light up what has been heard by now. @param {(item: string) => number} heard samples (24 kHz) of an item */
  light(heard) {
    for (const reply of this.replies.values()) if (!reply.settled) reply.light(heard(reply.id));
  }

  /** A typed message. @param {string} id @param {string} text */
  typed(id, text) {
    this.follow(() => this.userSays(id, text, true));
  }

  /** A new call begins below what was said. @param {string} text */
  divide(text) {
    this.settleAll();
    if (this.list.children.length) this.add(make("li", "divider", text));
  }

  /** The call is over: nothing more will be heard of what was pending. */
  settleAll() {
    for (const [id, entry] of this.users) if (entry.dataset.final !== "true") this.dropUser(id);
    for (const reply of this.replies.values()) {
      if (reply.settled) continue;
      const text = reply.text.textContent ?? "";
      const words = reply.words.slice(0, reply.lit).map(({ element }) => element.textContent);
      reply.settle({ status: "cancelled", text, heard: prefix(text, words) });
    }
    this.users.clear();
    this.replies.clear();
  }

  /** @param {string} id */
  user(id) {
    let entry = this.users.get(id);
    if (!entry) {
      entry = make("li", "turn turn--user", make("p", "turn__who", "You"), make("p", "turn__text"));
      entry.dataset.item = id;
      entry.dataset.final = "false";
      this.users.set(id, entry);
      this.add(entry);
    }
    return entry;
  }

  /** @param {string} id @param {string} text @param {boolean} final */
  userSays(id, text, final) {
    if (final && !text.trim()) return this.dropUser(id);
    const entry = this.user(id);
    if (entry.dataset.final === "true" && !final) return;
    const known = entry.dataset.final === "true";
    entry.dataset.final = String(final);
    const line = entry.querySelector(".turn__text");
    if (line) line.textContent = text;
    if (final && !known) this.announce(`You: ${text}`);
  }

  /** Nothing came of it: noise, a cough, a "mm-hm". @param {string} id */
  dropUser(id) {
    this.users.get(id)?.remove();
    this.users.delete(id);
  }

  /** @param {string} id */
  reply(id) {
    let reply = this.replies.get(id);
    if (!reply) {
      reply = new ReplyEntry(id);
      this.replies.set(id, reply);
      this.add(reply.element);
    }
    return reply;
  }

  /** @param {RealtimeEvent} event */
  gap(event) {
    const view = gapView(/** @type {any} */ (event));
    if (view) this.reply(event.item_id).showGap(view);
  }

  /** @param {RealtimeEvent} event */
  heard(event) {
    const known = this.replies.get(event.item_id);
    if (!known && !event.text.trim()) return;
    const reply = this.reply(event.item_id);
    const first = !reply.settled;
    reply.settle(/** @type {any} */ (event));
    if (!reply.text.textContent?.trim()) reply.element.remove();
    else if (first) this.announce(`Assistant: ${reply.text.textContent}`);
  }

  /** @param {HTMLElement} entry */
  add(entry) {
    this.list.append(entry);
    if (this.list.children.length > MOST_ENTRIES) this.list.firstElementChild?.remove();
  }

  /** @param {string} text */
  announce(text) {
    this.log.append(make("p", "", text.replace(/\s+/g, " ").trim()));
    while (this.log.children.length > 20) this.log.firstElementChild?.remove();
  }

  /** Keep the newest in view, unless the reader has gone back. @param {() => void} change */
  follow(change) {
    change();
    const page = document.documentElement;
    if (this.following) page.scrollTop = page.scrollHeight;
  }

  /** Going back stops the following; coming to the end takes it up again. */
  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
    if (scrollHeight - scrollTop - clientHeight < 2) this.following = true;
    else if (scrollTop < this.scrollTop) this.following = false;
    this.scrollTop = scrollTop;
  }
}

/** The part of `text` up to the last of these words. @param {string} text @param {(string | null)[]} words */
function prefix(text, words) {
  let end = 0;
  for (const word of words) if (word) end = text.indexOf(word, end) + word.length;
  return text.slice(0, end);
}

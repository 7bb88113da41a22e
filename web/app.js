// @ts-check
/** The page: what each control does, from the first click to the end of a call. */
import { level, openContext } from "./audio.js";
import { Call } from "./call.js";
import { Captions } from "./captions.js";
import { realtimeUrl } from "./client.js";
import { Composer } from "./composer.js";
import { byId } from "./dom.js";
import { askForMicrophone, MicrophoneError } from "./microphone.js";
import { Notices } from "./notices.js";
import { ReadinessView } from "./readiness.js";
import { audioFailure, diagnose } from "./server.js";
import { Stage } from "./stage.js";
import { Status } from "./status.js";
import { Strip } from "./strip.js";
import { takeToken } from "./token.js";

/** Troubles that trying again does not mend. */
const LASTING = ["insecure", "mic-unsupported", "token-wrong", "token-needed"];

const token = takeToken();
const volume = /** @type {HTMLInputElement} */ (byId("volume"));
const turns = byId("turns");

/** @type {Call | null} */
let call = null;
/** Counts the calls tried, so that what belongs to an abandoned one is dropped. */
let attempt = 0;
/** A typed message that waits for the connection. */
let pending = "";

const stage = new Stage();
const notices = new Notices(byId("notices"));
const captions = new Captions(turns, byId("log"));
const composer = new Composer(say);
const status = new Status(byId("speaker"));
const strip = new Strip({
  now: () => call?.player?.inputNow ?? 0,
  levels: () => ({
    agent: level(call?.player?.meter),
    user: stage.muted ? 0 : level(call?.microphone?.meter),
  }),
  heard: (item) => call?.player?.heard(item) ?? 0,
  held: (item) => call?.player?.reserve(item),
});
const readiness = new ReadinessView(byId("readiness"), (ready, reachable) => {
  Object.assign(stage, { ready, reachable });
  stage.render();
  if (ready) notices.clear("warming");
});

/**
 * Begin a call. Runs inside the click, so that the browser lets it sound.
 * @param {boolean} voice
 * @param {string} [text] a typed message to begin with
 */
async function begin(voice, text = "") {
  leave();
  notices.clear();
  const mine = attempt;
  const context = openContext();
  pending = text;
  stage.enter("connecting", voice);
  /** @type {Call | null} */
  let fresh = null;
  try {
    const stream = voice ? await askForMicrophone() : null;
    fresh = new Call(context, stream, { url: realtimeUrl(voice), token });
    if (mine === attempt) await fresh.open();
  } catch (error) {
    if (!fresh) context.close();
    fresh?.end();
    if (mine === attempt) fail(error instanceof MicrophoneError ? error.code : audioFailure());
    return;
  }
  if (mine !== attempt) return fresh.end();
  call = fresh;
  listen(fresh);
  fresh.connect();
}

/** @param {Call} fresh */
function listen(fresh) {
  fresh.onevent = (event) => {
    if (event.type === "session.created") answered(fresh);
    strip.handle(event);
    captions.handle(event);
    if (event.type === "voiceagent.state") status.set({ user: event.user, agent: event.agent });
    else if (event.type === "voiceagent.notice") notices.show(event.code, [], event.message);
    else if (event.type === "error" && fresh.client.opened) complain(event.error);
  };
  fresh.onclose = (closed) => void fail(diagnose(closed, token));
  fresh.onaudio = () => watchAudio(fresh);
  fresh.onsilent = (silent) => (silent ? notices.show("mic-silent") : notices.clear("mic-silent"));
  fresh.onlost = () => notices.show("mic-lost", [{ label: "Call anew", run: () => begin(true) }]);
}

/** The server took the call. @param {Call} fresh */
function answered(fresh) {
  captions.divide("New call");
  strip.reset();
  stage.enter("live");
  status.set({ user: "quiet", agent: "idle", muted: false, voice: stage.voice });
  fresh.player?.setVolume(Number(volume.value) / 100);
  setTimeout(() => watchAudio(fresh), 500);
  if (pending) captions.typed(fresh.ask(pending), pending);
  pending = "";
  requestAnimationFrame(paint);
}

/** @param {{code?: string, message?: string} | undefined} error */
function complain(error) {
  // A typed message first stops what is being said; that there was nothing to stop is no trouble.
  if (error?.code === "response_cancel_not_active") return;
  notices.show(error?.code ?? "error", [], error?.message ?? "The server refused a request.");
}

/** @param {Call} current */
function watchAudio(current) {
  if (current !== call || stage.phase !== "live") return;
  if (current.context.state === "running") notices.clear("audio-suspended");
  else notices.show("audio-suspended", [{ label: "Tap to hear", run: () => current.context.resume() }]);
}

/** The call ended, or did not begin. @param {string | Promise<string | null>} cause null: as agreed */
async function fail(cause) {
  const { voice, phase } = stage;
  const text = pending;
  leave();
  if (text) composer.field.value = text;
  const mine = attempt;
  const code = await cause;
  if (!code || mine !== attempt) return;
  const label = phase === "live" ? "Connect again" : "Try again";
  /** @type {import("./notices.js").Act[]} */
  const acts = [];
  if (!LASTING.includes(code)) acts.push({ label, run: () => begin(voice, composer.take()) });
  if (/^(mic|insecure)/.test(code)) acts.push({ label: "Type instead", run: () => composer.field.focus() });
  notices.show(code, acts);
}

/** Hang up, and wait for the next call. */
function leave() {
  attempt++;
  const old = call;
  call = null;
  pending = "";
  old?.end();
  if (!stage.inCall) return;
  captions.settleAll();
  stage.enter(turns.children.length ? "ended" : "idle");
  readiness.watch();
}

/** Go on by voice in a call that began in text. @param {Call} current */
async function addVoice(current) {
  try {
    const stream = await askForMicrophone();
    if (current !== call) return stream.getTracks().forEach((track) => track.stop());
    await current.addMicrophone(stream);
    stage.enter("live", true);
    status.set({ voice: true });
  } catch (error) {
    if (current !== call) return;
    if (error instanceof MicrophoneError) notices.show(error.code);
    else begin(true);
  }
}

/** A typed message, or an example. @param {string} text @returns {boolean} whether it was taken */
function say(text) {
  if (stage.phase === "live" && call) captions.typed(call.ask(text), text);
  else if (stage.phase === "connecting") pending = text;
  else if (stage.ready) begin(false, text);
  else notices.show("warming");
  return stage.inCall;
}

/** @param {number} now */
function paint(now) {
  const player = call?.player;
  if (stage.phase !== "live" || !player) return;
  captions.light((item) => player.heard(item));
  strip.frame(now);
  requestAnimationFrame(paint);
}

stage.start.addEventListener("click", () => (call ? addVoice(call) : begin(true)));
stage.end.addEventListener("click", () => {
  notices.clear();
  leave();
});
stage.mute.addEventListener("click", () => {
  stage.muted = !stage.muted;
  call?.microphone?.mute(stage.muted);
  notices.clear("mic-silent");
  status.set({ muted: stage.muted });
  stage.render();
});
volume.addEventListener("input", () => call?.player?.setVolume(Number(volume.value) / 100));
addEventListener("pagehide", leave);
readiness.watch();

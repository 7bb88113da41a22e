// @ts-check
/** What the server says over HTTP: is it warm, and why did it not take a call. */
import { TOO_SLOW } from "./client.js";

/**
 * @typedef {{reachable: boolean, ready: boolean, parts: Record<string, string>}} Readiness
 * @typedef {import("./client.js").Closed} Closed
 */

/** The close code of a server that is full, warming up, or cannot wait for a slow listener. */
const TRY_LATER = 1013;
/** An answer later than this counts as none, milliseconds. */
const ANSWER_WITHIN = 5_000;

/** @param {string} path @returns {Promise<{status: number, body: any} | null>} null: no answer */
async function ask(path) {
  try {
    const options = { cache: /** @type {const} */ ("no-store"), signal: AbortSignal.timeout(ANSWER_WITHIN) };
    const response = await fetch(path, options);
    return { status: response.status, body: await response.json().catch(() => null) };
  } catch {
    return null;
  }
}

/** @returns {Promise<Readiness>} */
export async function readiness() {
  const answer = await ask("/readyz");
  const parts = answer?.body?.parts ?? {};
  return { reachable: answer !== null, ready: answer?.status === 200, parts };
}

/** Why the audio could not be opened: its code comes from the server, too. @returns {Promise<string>} */
export async function audioFailure() {
  return (await readiness()).reachable ? "audio-failed" : "server-gone";
}

/**
 * Why a call ended or never began, as a key of `errors.js`; a browser does not tell a page which
 * HTTP status refused its WebSocket, so what can be known is asked for.
 * @param {Closed} closed
 * @param {string | null} token
 * @returns {Promise<string | null>} null: the server hung up as agreed
 */
export async function diagnose({ opened, code }, token) {
  if (code === 1000 && opened) return null;
  if (code === TOO_SLOW) return "slow";
  if (code === TRY_LATER && opened) return "slow";
  const state = await readiness();
  if (!state.reachable) return "server-gone";
  if (opened) return "cut";
  if (!state.ready) return "warming";
  if (code === TRY_LATER) return "full";
  const config = await ask("/api/config");
  if (config?.body?.token_required) return token ? "token-wrong" : "token-needed";
  return "refused";
}

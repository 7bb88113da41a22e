// @ts-check
/** What can go wrong for a person on this page, and what helps. */

/** @typedef {{title: string, help: string}} Trouble */

/** @type {Record<string, Trouble>} */
const TROUBLES = {
  insecure: {
    title: "The microphone needs a secure address",
    help: `Browsers give it only to pages over https, or to http://localhost:${location.port || "80"} on the server’s own machine. You can type instead.`,
  },
  "mic-unsupported": {
    title: "This browser has no microphone access",
    help: "A current Firefox, Chrome, Edge or Safari has. You can type instead.",
  },
  "mic-refused": {
    title: "The microphone is blocked",
    help: "Allow it for this page: in the address bar’s site settings, and in the system’s privacy settings. Then try again. You can type instead.",
  },
  "mic-missing": {
    title: "No microphone found",
    help: "Plug one in, or choose one in the system’s sound settings, and try again. You can type instead.",
  },
  "mic-busy": {
    title: "The microphone is in use",
    help: "Another application holds it. Close that one and try again. You can type instead.",
  },
  "mic-failed": {
    title: "The microphone could not be opened",
    help: "Try again, or type instead.",
  },
  "mic-lost": {
    title: "The microphone was disconnected",
    help: "Plug it in again and call anew. You can go on by typing.",
  },
  "mic-silent": {
    title: "No sound from your microphone",
    help: "It gives complete silence. Check its own mute switch, and whether another application or a phone call has taken it.",
  },
  "audio-suspended": {
    title: "Your browser holds the sound back",
    help: "It waits for a tap or a click.",
  },
  "audio-failed": {
    title: "This browser could not open its audio",
    help: "Close other pages that play sound, or try another browser.",
  },
  "server-gone": {
    title: "The server does not answer",
    help: "It may have stopped, or the network is down.",
  },
  cut: {
    title: "The call was cut off",
    help: "The server is there again. What was said stays on this page; a new call begins afresh.",
  },
  slow: {
    title: "The network is too slow for a call",
    help: "What you say does not reach the server in time. Try again on a better connection.",
  },
  full: {
    title: "All lines are busy",
    help: "The server takes no more calls for now. Try again in a moment.",
  },
  refused: {
    title: "The server did not take the call",
    help: "It may not serve pages from this address: open the one that it printed when it started.",
  },
  "token-needed": {
    title: "This server asks for a token",
    help: "Open the address that it printed when it started; it ends in #token=…",
  },
  "token-wrong": {
    title: "The server does not know this token",
    help: "It may have been restarted with another. Open the address that it printed.",
  },
  warming: {
    title: "The server is still getting ready",
    help: "It loads its models; this takes a few seconds.",
  },
};

/** @param {string} code @returns {Trouble} */
export function trouble(code) {
  return TROUBLES[code] ?? { title: "Something went wrong", help: `(${code})` };
}

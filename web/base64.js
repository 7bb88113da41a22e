// @ts-check
/** 16-bit little-endian samples as base64, as the wire carries them. */

/** @param {Int16Array} samples @returns {string} */
export function encode(samples) {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  let binary = "";
  for (let start = 0; start < bytes.length; start += 4096) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 4096));
  }
  return btoa(binary);
}

/** @param {string} text @returns {Int16Array} an odd last byte is dropped */
export function decode(text) {
  const binary = atob(text);
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
}

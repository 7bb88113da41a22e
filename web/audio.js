// @ts-check
/** The one AudioContext of a call: microphone and player share its clock. */

export const WIRE_RATE = 24_000;

/**
 * Make and resume a context. Call it inside the click: a context made later may stay silent.
 * @returns {AudioContext} at 24 kHz, or at the device's rate where the browser refuses
 */
export function openContext() {
  try {
    return resumed(new AudioContext({ sampleRate: WIRE_RATE, latencyHint: "interactive" }));
  } catch {
    return openDeviceContext();
  }
}

/** A context at the rate of the sound device. @returns {AudioContext} */
export function openDeviceContext() {
  return resumed(new AudioContext({ latencyHint: "interactive" }));
}

/** @param {AudioContext} context @returns {AudioContext} */
function resumed(context) {
  // Never awaited: without a gesture it stays pending until there is one.
  context.resume().catch(() => {});
  return context;
}

/** Loudness for the eye: 0 at -60 dBFS and below, 1 at -14 dBFS. @param {AnalyserNode | undefined} meter @returns {number} */
export function level(meter) {
  if (!meter) return 0;
  const samples = new Float32Array(meter.fftSize);
  meter.getFloatTimeDomainData(samples);
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  return Math.max(0, Math.min(1, (10 * Math.log10(power + 1e-9) + 60) / 46)) ** 2;
}

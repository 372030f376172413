// Numbers as people read them: three figures, and a unit.

const UNITS = /** @type {const} */ ([
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
]);

/** @param {number} value */
function threeFigures(value) {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}

/**
 * A duration: `2.41 ms`.
 *
 * @param {number} ns
 */
export function time(ns) {
  const size = Math.abs(ns);
  // 999.7 µs would round to a thousand of them.
  const [factor, unit] = UNITS.find(([factor]) => size >= factor * 0.9995) ?? [1, "ns"];
  return `${threeFigures(ns / factor)} ${unit}`;
}

/**
 * The unit in which a whole axis is told, so that its numbers stay short.
 *
 * @param {number} span in ns
 * @returns {readonly [number, string]} ns in one unit, and its name
 */
export function axisUnit(span) {
  return UNITS.find(([factor]) => span >= 2 * factor) ?? [1, "ns"];
}

/**
 * Reads `1ms`, `500us` or `2.5 s`; a bare number is ns.
 *
 * @param {string | null | undefined} text
 * @returns {number | undefined}
 */
export function parseTime(text) {
  const match = /^\s*([\d.]+)\s*(ns|us|µs|ms|s)?\s*$/.exec(text ?? "");
  if (!match || match[1] === undefined) return undefined;
  const unit = match[2] === "us" ? "µs" : (match[2] ?? "ns");
  const factor = UNITS.find(([, name]) => name === unit)?.[0] ?? 1;
  const ns = Number(match[1]) * factor;
  return Number.isFinite(ns) ? ns : undefined;
}

/** A share in whole per cent, for instance `62 %`. */
export function share(/** @type {number} */ part) {
  return `${Math.round(part * 100)} %`;
}

/** `1 poll`, `3 polls`, `12,400 polls`. */
export function count(/** @type {number} */ many, /** @type {string} */ what) {
  return `${grouped(many)} ${what}${many === 1 ? "" : "s"}`;
}

/** A whole number with commas: `16,384`. */
export function grouped(/** @type {number} */ whole) {
  return String(Math.round(whole)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Keeps numbers and their units on one line. @param {string} sentence */
export function tied(sentence) {
  return sentence.replace(/(\d) (?=(?:ns|µs|ms|s|%|million|thousand)(?!\w))/g, "$1\u00a0").replace(/(\w) = (?=[\d])/g, "$1\u00a0=\u00a0");
}

/** `A`, `A and B`, `A, B and C`. */
export function listed(/** @type {string[]} */ words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

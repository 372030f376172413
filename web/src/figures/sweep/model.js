// The two-parameter model, the knee, the budget; and what the reader has chosen.

/** @typedef {import("./read.js").Sweep} Sweep */

/** @typedef {{c: number, y: number}} Costs of one item and of one yield, in ns */

/**
 * @typedef {object} State
 * @property {number} at an index into the points of the first sweep
 * @property {number | undefined} budget in ns
 * @property {Costs | undefined} costs
 * @property {"asking" | "shown"} phase
 * @property {(number | undefined)[]} shares guessed, of the peak
 * @property {(number | undefined)[]} waits guessed, in ns
 */

/** This part of the peak is the knee. */
export const KNEE = 0.9;

/** Items a second: n / (n·c + y). @param {Costs} costs @param {number} n */
export function modelRate({ c, y }, n) {
  return (n / (n * c + y)) * 1e9;
}

/** What a victim waits in addition, on average: half a time slice. @param {Costs} costs @param {number} n */
export function modelWait({ c }, n) {
  return (n * c) / 2;
}

/** Where the model reaches that part of its peak: n·c / (n·c + y). @param {Costs} costs @param {number} [part] */
export function modelKnee({ c, y }, part = KNEE) {
  return (part / (1 - part)) * (y / c);
}

/**
 * The costs that fit best: an item takes c + y/n, a straight line over 1/n.
 * Least squares of the relative errors.
 *
 * @param {Sweep} sweep
 * @returns {Costs}
 */
export function fit({ points }) {
  let [ww, wu, wuu, wt, wut] = [0, 0, 0, 0, 0];
  for (const { n, rate } of points) {
    const took = 1e9 / rate;
    const weight = 1 / took ** 2;
    const u = 1 / n;
    ww += weight;
    wu += weight * u;
    wuu += weight * u * u;
    wt += weight * took;
    wut += weight * u * took;
  }
  const determinant = ww * wuu - wu * wu;
  const y = determinant === 0 ? 0 : (ww * wut - wu * wt) / determinant;
  const c = (wt - y * wu) / ww;
  return { c: Math.max(c, 0.01), y: Math.max(y, 0.01) };
}

/** The index of the first point from which on throughput is at the knee. @param {Sweep} sweep */
export function knee({ points, peak }) {
  return Math.max(0, points.findIndex(({ rate }) => rate >= KNEE * peak));
}

/**
 * The largest N up to which nine waits in ten stay within the budget.
 *
 * @param {Sweep} sweep
 * @param {number} budget in ns
 * @returns {number | undefined} an index; nothing if not even the smallest does
 */
export function allowed({ points }, budget) {
  const over = points.findIndex(({ p90, p50 }) => (p90 ?? p50 ?? 0) > budget);
  if (over === 0) return undefined;
  return over < 0 ? points.length - 1 : over - 1;
}

/**
 * Draws a guess: the point at `index`, and on the way there from `last`.
 *
 * @param {(number | undefined)[]} values
 * @param {number} index
 * @param {number} value
 * @param {number | undefined} last where the pointer was before
 * @returns {(number | undefined)[]}
 */
export function drawn(values, index, value, last) {
  const next = [...values];
  const from = last === undefined ? undefined : next[last];
  next[index] = value;
  if (last === undefined || from === undefined) return next;
  const way = index - last;
  for (let step = 1; step < Math.abs(way); step += 1) {
    next[last + Math.sign(way) * step] = from + ((value - from) * step) / Math.abs(way);
  }
  return next;
}

// Scales: from a value to its pixel and back, and where the ticks stand. (d3-scale
// would do, and would cost a quarter of all our bytes.)

/**
 * @typedef {object} Pieces
 * @property {(pixel: number) => number} invert
 * @property {(count: number) => number[]} ticks about so many round values
 * @property {[number, number]} domain
 * @property {[number, number]} range
 */

/** @typedef {((value: number) => number) & Pieces} Scale */

/** @param {[number, number]} domain @param {[number, number]} range @returns {Scale} */
export function linear(domain, range) {
  return scale(domain, range, (value) => value, (value) => value);
}

/** For values above 0. @param {[number, number]} domain @param {[number, number]} range @returns {Scale} */
export function logarithmic(domain, range) {
  return scale(domain, range, Math.log, Math.exp);
}

/** @param {[number, number]} domain @param {[number, number]} range @param {(value: number) => number} bend @param {(value: number) => number} unbend @returns {Scale} */
function scale(domain, range, bend, unbend) {
  const [low, high] = [bend(domain[0]), bend(domain[1])];
  const [first, last] = range;
  const place = (/** @type {number} */ value) => first + ((bend(value) - low) / (high - low)) * (last - first);
  const invert = (/** @type {number} */ pixel) => unbend(low + ((pixel - first) / (last - first)) * (high - low));
  return Object.assign(place, { invert, domain, range, ticks: (/** @type {number} */ count) => ticks(domain, count) });
}

/**
 * Multiples of 1, 2 or 5 times a power of ten, chosen so that there are about `count`.
 *
 * @param {[number, number]} domain
 * @param {number} count
 */
function ticks([from, to], count) {
  const wanted = (to - from) / count;
  const power = Math.floor(Math.log10(wanted));
  const size = wanted / 10 ** power;
  const factor = size >= Math.sqrt(50) ? 10 : size >= Math.sqrt(10) ? 5 : size >= Math.SQRT2 ? 2 : 1;
  // A fraction is divided by: 3 × 0.1 isn't 0.3.
  const [times, by] = power < 0 ? [1, 10 ** -power / factor] : [factor * 10 ** power, 1];
  const first = Math.ceil((from * by) / times);
  const last = Math.floor((to * by) / times);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => ((first + index) * times) / by);
}

/** The value below which that part of the sorted values lies. @param {number[]} sorted @param {number} part */
export function quantile(sorted, part) {
  const place = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below === undefined || above === undefined ? undefined : below + (above - below) * (place % 1);
}

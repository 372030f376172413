// What a sweep says in words.

import { count, grouped, share, time } from "../format.js";
import { KNEE, allowed, knee, modelKnee, modelRate } from "./model.js";

/** @typedef {import("./read.js").Sweep} Sweep */

/** @param {number} rate in items a second @param {string} items */
export function throughput(rate, items) {
  const [factor, unit] = rate >= 1e6 ? [1e6, "million "] : rate >= 1e3 ? [1e3, "thousand "] : [1, ""];
  const value = rate / factor;
  return `${value >= 100 ? grouped(value) : value.toFixed(value >= 10 ? 1 : 2)} ${unit}${items} a second`;
}

/** What one point says. @param {Sweep} sweep @param {number} index */
export function readout({ points, peak, x }, index) {
  const point = points[index];
  if (!point) return "";
  const { n, rate, p50, p90 } = point;
  const waits = p50 === undefined ? "" : ` Half of the waits are under ${time(p50)}${p90 === undefined ? "" : `, nine in ten under ${time(p90)}`}.`;
  return `${x} = ${grouped(n)}: ${share(rate / peak)} of the peak; one time slice holds the worker for ${time((n / rate) * 1e9)}.${waits}`;
}

/** @param {Sweep} sweep @param {string} items */
export function kneeSentence(sweep, items) {
  const point = sweep.points[knee(sweep)];
  if (!point) return "";
  const wait = point.p50 === undefined ? "" : `; there half of the waits are under ${time(point.p50)}`;
  return `The knee: at ${sweep.x} = ${grouped(point.n)} throughput has reached ${share(KNEE)} of its peak of ${throughput(sweep.peak, items)}${wait}.`;
}

/** @param {Sweep} sweep @param {import("./model.js").Costs} costs */
export function modelSentence({ points, x }, costs) {
  const errors = points.map(({ n, rate }) => ({ n, error: modelRate(costs, n) / rate - 1 }));
  const worst = errors.reduce((one, other) => (Math.abs(other.error) > Math.abs(one.error) ? other : one));
  return `The model with c = ${time(costs.c)} an item and y = ${time(costs.y)} a yield puts the knee at ${x} = 9·y/c = ${grouped(modelKnee(costs))}; it is off by ${share(Math.abs(worst.error))} at most, at ${x} = ${grouped(worst.n)}.`;
}

/** @param {Sweep} sweep @param {number} budget */
export function budgetSentence(sweep, budget) {
  const index = allowed(sweep, budget);
  const { x, points, peak } = sweep;
  if (index === undefined) return `Not even ${x} = ${grouped(points[0]?.n ?? 1)} keeps nine waits in ten within ${time(budget)}.`;
  const { n = 1, rate = 0 } = points[index] ?? {};
  return `So that nine waits in ten stay within ${time(budget)}, ${x} may be at most ${grouped(n)}, which gives ${share(rate / peak)} of the peak.`;
}

/**
 * How far the guess was off.
 *
 * @param {Sweep} sweep
 * @param {(number | undefined)[]} shares
 * @param {(number | undefined)[]} waits
 */
export function verdict({ points, peak }, shares, waits) {
  const off = points.flatMap(({ rate }, index) => (shares[index] === undefined ? [] : [Math.abs(/** @type {number} */ (shares[index]) - rate / peak)]));
  const factors = points.flatMap(({ p50 }, index) => (waits[index] === undefined || !p50 ? [] : [Math.abs(Math.log2(/** @type {number} */ (waits[index]) / p50))]));
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const said = [];
  if (off.length) said.push(`Your throughput was off by ${Math.round(mean(off) * 100)} points of the peak on average, over ${count(off.length, "point")}.`);
  if (factors.length) said.push(`Your waits were off by a factor of ${(2 ** mean(factors)).toFixed(1)} on average.`);
  return said.join(" ");
}

// What `cargo workshop bench N` has measured here, for the chart of that benchmark.

import { areClose, spoken } from "./read.js";

/** @typedef {{contender: string, parameter: string, median: number, range: [number, number]}} Measured in nanoseconds */

/** @type {Record<string, number>} */
const NANOSECONDS = { ns: 1, µs: 1e3, ms: 1e6 };
const DIGITS = 3;

/**
 * The reader's version and ours, of one run on the reader's machine, as rows of the chart's table.
 *
 * @param {Measured[]} measured
 * @param {number} exercise
 * @param {string[]} parameters one for each column; empty where nothing is measured
 * @param {string} unit
 */
export function ownRows(measured, exercise, parameters, unit) {
  const size = NANOSECONDS[unit] ?? 1;
  const inUnit = (/** @type {number} */ time) => Number((time / size).toPrecision(DIGITS));
  const rows = [`exercise-${exercise}`, `solution-${exercise}`].map((contender, at) => ({
    name: at === 0 ? "yours, on your machine" : `solution ${exercise}, on your machine`,
    cells: parameters.map((parameter) => {
      const found = measured.find((one) => one.contender === contender && one.parameter === parameter);
      return found && { value: inUnit(found.median), low: inUnit(found.range[0]), high: inUnit(found.range[1]) };
    }),
  }));
  return rows.filter(({ cells }) => cells.some((cell) => cell));
}

/**
 * How the reader's version does, compared with ours in the same run. (Figures of two machines aren't compared.)
 *
 * @param {import("./read.js").Cell} yours
 * @param {import("./read.js").Cell} ours
 * @param {number} exercise
 */
export function comparison(yours, ours, exercise) {
  if (areClose(yours, ours)) return `On your machine, there is no clear difference between yours and solution ${exercise}.`;
  const [slow, fast, ratio] = yours.value > ours.value ? ["yours", `solution ${exercise}`, yours.value / ours.value] : [`solution ${exercise}`, "yours", ours.value / yours.value];
  return `On your machine, ${slow} takes ${spoken(Number(ratio.toPrecision(DIGITS)))} times as long as ${fast}.`;
}

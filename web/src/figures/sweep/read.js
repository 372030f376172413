// `workshop.sweep/1`: throughput and waits for several values of a knob.

import { quantile as quantileOf } from "../scale.js";
import { machineOf } from "../timeline/read.js";
import { Unreadable, checkSchema, parseDocument, textOf } from "../unreadable.js";

const SCHEMA = "workshop.sweep/1";
const REMEDY = "load a file that a sweep of this book has written";
/** More than any sweep measures. */
const MOST_POINTS = 1000;
const MOST_NUMBERS = 100_000;

/**
 * @typedef {object} Point
 * @property {number} n
 * @property {number} rate the median of the repeats, in items a second
 * @property {number} low
 * @property {number} high
 * @property {number} repeats
 * @property {number[]} waits a fair choice of them, sorted, in ns; empty if only quantiles are known
 * @property {number | undefined} p10
 * @property {number | undefined} p50
 * @property {number | undefined} p90
 */

/**
 * @typedef {object} Sweep
 * @property {string} title
 * @property {string} machine
 * @property {string} runtime
 * @property {number | undefined} noise by how much the same work took longer at one time than at another
 * @property {string} recorded a date, or empty
 * @property {string} x the knob's name
 * @property {Point[]} points by n
 * @property {number} peak the greatest rate
 * @property {any} document as it came
 */

/** @param {string} text @returns {Sweep} */
export function parseSweep(text) {
  return readSweep(parseDocument(text, SCHEMA, REMEDY));
}

/** @param {any} document @returns {Sweep} */
export function readSweep(document) {
  checkSchema(document, SCHEMA, REMEDY);
  const meta = { ...document, ...document.meta };
  const x = textOf(meta.x, "N");
  const all = Array.isArray(document.points) ? document.points : [];
  if (all.length > MOST_POINTS) throw new Unreadable(`This sweep has ${all.length} points, and a page draws ${MOST_POINTS} at most: measure fewer values.`);
  /** @type {Point[]} */
  const points = all.map((/** @type {any} */ point) => readPoint(point ?? {}, x)).filter(isUsable);
  if (points.length < 2) throw new Unreadable("This sweep has fewer than two points: let the program measure several values.");
  points.sort((one, other) => one.n - other.n);
  return {
    title: textOf(meta.title) || "measured",
    runtime: textOf(meta.runtime),
    noise: noiseOf(numbers(meta.calibration_ns)),
    machine: machineOf(meta.host ?? {}),
    recorded: textOf(meta.recorded).slice(0, 10),
    x,
    points,
    peak: Math.max(...points.map(({ rate }) => rate)),
    document,
  };
}

/** @param {any} point @param {string} x @returns {Point} */
function readPoint(point, x) {
  const rates = numbers(point.items_per_s).sort((one, other) => one - other);
  const waits = numbers(point.wake_ns?.samples).sort((one, other) => one - other);
  const quantile = (/** @type {number} */ part, /** @type {unknown} */ told) =>
    Number.isFinite(told) ? /** @type {number} */ (told) : quantileOf(waits, part);
  return {
    n: numbers(point[x] ?? point.x ?? point.n)[0] ?? NaN,
    rate: quantileOf(rates, 0.5) ?? 0,
    low: rates[0] ?? 0,
    high: rates.at(-1) ?? 0,
    repeats: rates.length,
    waits,
    p10: quantile(0.1, point.wake_ns?.p10),
    p50: quantile(0.5, point.wake_ns?.p50),
    p90: quantile(0.9, point.wake_ns?.p90),
  };
}

/** @param {number[]} times of the same work, in between */
function noiseOf(times) {
  return times.length > 1 ? Math.max(...times) / Math.max(1, Math.min(...times)) - 1 : undefined;
}

/** @param {Point} point */
function isUsable({ n, rate }) {
  return n > 0 && Number.isFinite(n) && rate > 0;
}

/** @param {unknown} values @returns {number[]} */
function numbers(values) {
  return (Array.isArray(values) ? values.slice(0, MOST_NUMBERS) : [values]).filter((value) => Number.isFinite(value) && value >= 0);
}

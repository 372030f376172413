// What the reader has chosen, as a value.

import { pointOf } from "./derive.js";
import { LOADS } from "./loads.js";
import { COSTS, PARTS } from "./model.js";
import { choiceOf } from "./names.js";
import { runOf } from "./run.js";

/** @typedef {import("./model.js").Parts} Parts */
/** @typedef {import("./run.js").Run} Run */
/** @typedef {{load: string, workers: number, seed: number, unpark: number, wake: number, before: Parts, now: Parts}} Choice the parts before the last change, and now */
/** @typedef {{before: Run | undefined, now: Run}} Runs */

export const FEWEST = 2;
export const MOST = 4;
export const MOST_SEED = 9999;
/** Of the costs that can be chosen, in tenths of a microsecond. */
export const MOST_COST = { unpark: 50, wake: 200 };

export const ALL = /** @type {Parts} */ (Object.fromEntries(PARTS.map((part) => [part, true])));

/** What the attributes of `<ws-scheduler>` say. @param {DOMStringMap} data @returns {Choice} */
export function firstChoice(data) {
  const missing = (data.without ?? "").split(/\s+/);
  const now = /** @type {Parts} */ (Object.fromEntries(PARTS.map((part) => [part, !missing.includes(part)])));
  return { load: loadCalled(data.load), workers: workersIn(data.workers), seed: 1, unpark: COSTS.unpark, wake: COSTS.wake, before: ALL, now };
}

/** @param {string | undefined} name */
export function loadCalled(name) {
  return LOADS.find((load) => load === name) ?? "long";
}

/** @param {string | undefined} text */
export function workersIn(text) {
  const workers = Number(text);
  return Number.isInteger(workers) && workers >= FEWEST && workers <= MOST ? workers : 3;
}

/** @param {keyof typeof MOST_COST} which @param {string | undefined} text */
export function costIn(which, text) {
  const cost = Number(text);
  return text && Number.isInteger(cost) && cost >= 0 && cost <= MOST_COST[which] ? cost : COSTS[which];
}

/** @param {Choice} choice @returns {Runs} `before` only where something was changed */
export function runsOf({ before, now, ...rest }) {
  const run = (/** @type {Parts} */ parts) => runOf({ ...rest, parts });
  return { before: bitsOf(before) === bitsOf(now) ? undefined : run(before), now: run(now) };
}

/** @param {Runs} runs @returns {Run[]} */
export function shownOf({ before, now }) {
  return before ? [before, now] : [now];
}

/** What is drawn. @param {Runs} runs */
export function panelsOf(runs) {
  return shownOf(runs).map((run, index) => ({ title: `${runs.before ? (index === 0 ? "Before: " : "Now: ") : ""}${choiceOf(run.settings.parts)}`, run }));
}

/** @param {Runs} runs */
export function endOf(runs) {
  return Math.max(...shownOf(runs).map(({ meters }) => meters.end));
}

/** @param {Runs} runs */
export function firstAt(runs) {
  return pointOf(shownOf(runs));
}

/** `11011` @param {Parts} parts */
export function bitsOf(parts) {
  return PARTS.map((part) => (parts[part] ? "1" : "0")).join("");
}

/** @param {string | undefined} bits @returns {Parts | undefined} */
export function partsIn(bits) {
  if (!new RegExp(`^[01]{${PARTS.length}}$`).test(bits ?? "")) return undefined;
  return /** @type {Parts} */ (Object.fromEntries(PARTS.map((part, index) => [part, bits?.charAt(index) === "1"])));
}

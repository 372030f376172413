// One order, ready to be drawn: a recorded one, or one that the reader makes.

import { listed } from "../format.js";
import { follow, keyOf, nextOf } from "./machine.js";

/** @typedef {import("./read.js").Value} Value */
/** @typedef {import("./read.js").Steps} Steps */
/** @typedef {import("./read.js").End} End */
/** @typedef {import("./machine.js").Solution} Solution */

/**
 * @typedef {object} Row one step
 * @property {number} thread
 * @property {string} does the operation, or the line of code
 * @property {string} says what came of it, or empty
 * @property {string} ordering
 * @property {string} place
 * @property {string} where the place without the folders
 * @property {string} code of a recorded line
 * @property {string} note
 * @property {string} stale the newest value that a load missed, or empty
 * @property {{cell: number, before: Value, after: Value}[]} changes
 * @property {number[]} wakes
 * @property {Moment} then
 */

/**
 * @typedef {object} Moment between two steps
 * @property {Value[]} values
 * @property {string[]} waits why each thread can't go on; empty if it can
 * @property {number[]} lines the next line of each thread's program
 * @property {boolean[]} ended whether each program has ended
 */

/** @typedef {{steps: Steps, start: Moment, rows: Row[], end: End | undefined}} Run */

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How a value is shown. @param {Value | undefined} value */
export function shown(value) {
  return value === "" || value === undefined ? "–" : String(value);
}

/** @param {Steps} steps @returns {Run} */
export function recordedRun(steps) {
  const start = { values: steps.cells.map(({ initial }) => initial), waits: steps.threads.map(() => ""), lines: [], ended: steps.threads.map(() => false) };
  /** @type {Row[]} */
  const rows = [];
  let before = /** @type {Moment} */ (start);
  for (const step of steps.steps) {
    const values = [...before.values];
    const changes = step.changes.map(([cell, after]) => {
      const change = { cell, before: /** @type {Value} */ (values[cell]), after };
      values[cell] = after;
      return change;
    });
    const waits = before.waits.map((text, thread) => (thread === step.thread ? (step.blocks ? step.text : "") : step.wakes.includes(thread) ? "" : text));
    const then = { ...before, values, waits };
    rows.push({ thread: step.thread, does: step.text, says: "", ordering: step.ordering, place: step.place, where: placeIn(steps.steps, step.place), code: step.code, note: step.note, stale: staleOf(steps, rows, step), changes, wakes: step.wakes, then });
    before = then;
  }
  return { steps, start, rows, end: steps.end };
}

/** A place without its folders, or with the last of them where steps stand in several files of that name. @param {import("./read.js").Recorded[]} steps @param {string} place */
function placeIn(steps, place) {
  const name = (/** @type {string} */ path) => path.split(/[\\/]/).at(-1) ?? "";
  const file = (/** @type {string} */ path) => path.replace(/:\d+$/, "");
  const isAmbiguous = steps.some((other) => file(other.place) !== file(place) && name(file(other.place)) === name(file(place)));
  const folder = place.split(/[\\/]/).slice(0, -1).findLast((part) => part !== "src");
  return isAmbiguous && folder ? `${folder}/${name(place)}` : name(place);
}

/** The newest value, if a load missed it, and which step has left it. @param {Steps} steps @param {Row[]} rows before the load @param {import("./read.js").Recorded} step */
function staleOf({ cells }, rows, { stale, text }) {
  if (stale === undefined) return "";
  const cell = cells.findIndex(({ name }) => name === text.split(".")[0]);
  const from = rows.findLastIndex(({ changes }) => changes.some((change) => change.cell === cell));
  return shown(stale) + (from < 0 ? "" : `, from step ${from + 1}`);
}

/** @param {Steps} steps @param {number[]} order @param {Solution} solution @returns {Run} */
export function orderedRun(steps, order, solution) {
  const { order: taken, states } = follow(steps, order);
  const moments = states.map((state) => momentOf(steps, state));
  const rows = taken.map((thread, index) => {
    const [from, state] = [/** @type {import("./machine.js").State} */ (states[index]), states[index + 1]];
    const [before, then] = [/** @type {Moment} */ (moments[index]), /** @type {Moment} */ (moments[index + 1])];
    const next = nextOf(steps, from, thread);
    const changes = from.values.flatMap((value, cell) => {
      const after = state?.values[cell];
      return after === undefined || after === value ? [] : [{ cell, before: value, after }];
    });
    const wakes = before.waits.flatMap((text, other) => (other !== thread && text && !then.waits[other] ? [other] : []));
    return { thread, does: next?.line.code.trim() ?? "", says: filled(next?.happens?.says ?? "", steps, from.values), ordering: "", place: "", where: "", code: "", note: "", stale: "", changes, wakes, then };
  });
  const last = /** @type {import("./machine.js").State} */ (states.at(-1));
  return { steps, start: /** @type {Moment} */ (moments[0]), rows, end: endOf(steps, last, solution) };
}

/** @param {Steps} steps @param {import("./machine.js").State} state @returns {Moment} */
function momentOf(steps, state) {
  const ahead = steps.threads.map((_, thread) => nextOf(steps, state, thread));
  return { values: state.values, waits: ahead.map((next) => (next && !next.happens ? next.line.waits : "")), lines: state.at, ended: ahead.map((next) => !next) };
}

/** `{state}` is the value of that cell before the step. @param {string} says @param {Steps} steps @param {Value[]} values */
function filled(says, { cells }, values) {
  return says.replace(/\{([^{}]+)\}/g, (whole, name) => {
    const cell = cells.findIndex((one) => one.name === name);
    return cell < 0 ? whole : shown(values[cell]);
  });
}

/** @param {Steps} steps @param {import("./machine.js").State} state @param {Solution} solution @returns {End | undefined} */
function endOf(steps, state, { nodes }) {
  const { end } = nodes.get(keyOf(state)) ?? {};
  if (!end) return undefined;
  if (end === "failure") return { kind: end, text: state.failed, threads: [] };
  const waiting = steps.threads.flatMap((name, thread) => {
    const next = nextOf(steps, state, thread);
    return next ? [{ thread, text: `${name} ${next.line.waits}` }] : [];
  });
  if (end === "done") return { kind: end, text: waiting.length > 0 ? `${capital(listed(waiting.map(({ text }) => text)))}, with nothing left to do.` : "Every thread has ended.", threads: [] };
  return { kind: end, text: `${capital(listed(waiting.map(({ text }) => text)))}, and no thread is left to change that: a hang.`, threads: waiting.map(({ thread }) => thread) };
}

/** What the cells held before the last of so many steps. @param {Pick<Run, "start" | "rows">} run @param {number} at */
export function valuesBefore({ start, rows }, at) {
  return (rows[at - 2]?.then ?? start).values;
}

/** What is the case after so many steps. @param {Run} run @param {number} at @returns {Moment} */
export function momentAt({ start, rows }, at) {
  return rows[at - 1]?.then ?? start;
}

// `workshop.trace/1`, as written by the crate `trace`, checked and made plain.

import { Unreadable, checkSchema, parseDocument, textOf } from "../unreadable.js";

const SCHEMA = "workshop.trace/1";
const REMEDY = "load a file that `cargo workshop trace` or `record` has written";
const MOST_EVENTS = 50_000;
/** More than any program of the book records. What is beyond would only keep the page busy. */
const MOST_ROWS = 2_000_000;
const MOST_WORKERS = 256;
const MOST_NAMES = 100_000;
const COLUMNS = ["t", "k", "w", "task", "arg", "count"];
const REQUIRED = COLUMNS.slice(0, 4);

/** @typedef {{t: number, k: string, w: number, task: number, arg: number, count: number}} TraceEvent */

/**
 * @typedef {object} Trace
 * @property {string} title
 * @property {string} runtime
 * @property {number} workers
 * @property {string} machine in words; empty if unknown
 * @property {string} recorded a date, or empty
 * @property {number | undefined} eventCostNs what recording cost, an event
 * @property {number} dropped events that found no room
 * @property {number | undefined} droppedFrom when the first of them was lost
 * @property {string[]} marks
 * @property {Map<number, string>} names of tasks
 * @property {TraceEvent[]} events sorted by time
 * @property {number} leftOut events of the middle that aren't shown, of a very long trace
 * @property {any} document as it came
 */

/** @param {string} text @returns {Trace} */
export function parseTrace(text) {
  return readTrace(parseDocument(text, SCHEMA, REMEDY));
}

/**
 * @param {any} document
 * @returns {Trace}
 */
export function readTrace(document) {
  checkSchema(document, SCHEMA, REMEDY);
  const meta = document.meta ?? {};
  const rows = Array.isArray(document.events) ? document.events : [];
  if (rows.length === 0) throw new Unreadable("This trace has no events: let the program spawn its futures through `trace::task`.");
  if (rows.length > MOST_ROWS) throw new Unreadable(`This trace has ${rows.length} events, more than a page can draw: record a shorter run.`);
  /** @type {TraceEvent[]} */
  const events = rows.map(reader(document.cols ?? COLUMNS));
  events.sort((one, other) => one.t - other.t);
  return {
    title: textOf(meta.title, "Trace"),
    runtime: textOf(meta.runtime),
    workers: workersOf(meta.workers ?? 0),
    machine: machineOf(meta.host ?? {}),
    recorded: textOf(meta.recorded).slice(0, 10),
    eventCostNs: Number.isFinite(meta.event_cost_ns) ? meta.event_cost_ns : undefined,
    dropped: Number.isFinite(meta.dropped) ? meta.dropped : 0,
    droppedFrom: Number.isFinite(meta.dropped_from_ns) ? meta.dropped_from_ns : undefined,
    marks: Array.isArray(meta.marks) ? meta.marks.map((/** @type {unknown} */ mark) => textOf(mark)) : [],
    names: new Map(Object.entries(document.names ?? {}).slice(0, MOST_NAMES).map(([id, name]) => [Number(id), textOf(name, `task ${id}`)])),
    ...endsOf(events),
    document,
  };
}

/** @param {unknown} workers */
function workersOf(workers) {
  if (!isWhole(workers) || workers < 0 || workers > MOST_WORKERS) {
    throw new Unreadable(`This trace has ${textOf(JSON.stringify(workers))} workers, and a page draws ${MOST_WORKERS} at most: ${REMEDY}.`);
  }
  return workers;
}

/** @param {unknown} value @returns {value is number} */
function isWhole(value) {
  return Number.isSafeInteger(value);
}

/** @param {unknown} columns @returns {(row: unknown, index: number) => TraceEvent} */
function reader(columns) {
  const names = Array.isArray(columns) ? columns : [];
  const [t = 0, k = 1, w = 2, task = 3, arg = 4, count = 5] = COLUMNS.map((name) => names.indexOf(name));
  if (Math.min(t, k, w, task) < 0) throw new Unreadable(`This trace lacks a column of ${REQUIRED.join(", ")}: ${REMEDY}.`);
  return (row, index) => {
    const field = (/** @type {number} */ column) => (Array.isArray(row) ? row[column] : undefined);
    const event = { t: field(t), k: field(k), w: field(w), task: field(task), arg: field(arg) ?? 0, count: field(count) ?? 0 };
    const numbers = [event.w, event.task, event.arg, event.count];
    const isSound = Number.isFinite(event.t) && event.t >= 0 && event.t <= Number.MAX_SAFE_INTEGER && typeof event.k === "string" && numbers.every(isWhole);
    if (!isSound) throw new Unreadable(`Event ${index + 1} of this trace isn't one: ${REMEDY}.`);
    if (event.w < -1 || event.w >= MOST_WORKERS) throw new Unreadable(`Event ${index + 1} of this trace is of worker ${event.w}, and a page draws ${MOST_WORKERS} at most: ${REMEDY}.`);
    return event;
  };
}

/**
 * The machine in words.
 *
 * @param {{cpu?: string, cores?: number, os?: string}} host
 */
export function machineOf({ cpu, cores, os }) {
  return [textOf(cpu), Number.isFinite(cores) && cores ? `${cores} cores` : "", textOf(os)].filter(Boolean).join(", ");
}

/** @param {TraceEvent[]} events */
function endsOf(events) {
  const leftOut = Math.max(0, events.length - MOST_EVENTS);
  if (leftOut === 0) return { events, leftOut };
  const half = MOST_EVENTS / 2;
  return { events: [...events.slice(0, half), ...events.slice(-half)], leftOut };
}

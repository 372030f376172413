// `workshop.trace/1`, as written by the crate `trace`, checked and made plain.

import { Unreadable, checkSchema, parseDocument } from "../unreadable.js";

const SCHEMA = "workshop.trace/1";
const REMEDY = "load a file that `cargo workshop trace` or `record` has written";
const MOST_EVENTS = 50_000;
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
 * @property {number} leftOut events of the middle that are not shown, of a very long trace
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
  /** @type {TraceEvent[]} */
  const events = rows.map(reader(document.cols ?? COLUMNS));
  events.sort((one, other) => one.t - other.t);
  const host = meta.host ?? {};
  return {
    title: String(meta.title ?? "Trace"),
    runtime: String(meta.runtime ?? ""),
    workers: Number(meta.workers ?? 0),
    machine: machineOf(host),
    recorded: String(meta.recorded ?? "").slice(0, 10),
    eventCostNs: Number.isFinite(meta.event_cost_ns) ? meta.event_cost_ns : undefined,
    dropped: Number(meta.dropped ?? 0),
    droppedFrom: Number.isFinite(meta.dropped_from_ns) ? meta.dropped_from_ns : undefined,
    marks: Array.isArray(meta.marks) ? meta.marks.map(String) : [],
    names: new Map(Object.entries(document.names ?? {}).map(([id, name]) => [Number(id), String(name)])),
    ...endsOf(events),
    document,
  };
}

/** @param {string[]} columns @returns {(row: any[]) => TraceEvent} */
function reader(columns) {
  const [t = 0, k = 1, w = 2, task = 3, arg = 4, count = 5] = COLUMNS.map((name) => columns.indexOf(name));
  if (Math.min(t, k, w, task) < 0) throw new Unreadable(`This trace lacks a column of ${REQUIRED.join(", ")}: ${REMEDY}.`);
  return (row) => ({ t: Number(row[t]), k: String(row[k]), w: Number(row[w]), task: Number(row[task]), arg: Number(row[arg] ?? 0), count: Number(row[count] ?? 0) });
}

/**
 * The machine in words.
 *
 * @param {{cpu?: string, cores?: number, os?: string}} host
 */
export function machineOf({ cpu, cores, os }) {
  return [cpu, cores && `${cores} cores`, os].filter(Boolean).join(", ");
}

/** @param {TraceEvent[]} events */
function endsOf(events) {
  const leftOut = Math.max(0, events.length - MOST_EVENTS);
  if (leftOut === 0) return { events, leftOut };
  const half = MOST_EVENTS / 2;
  return { events: [...events.slice(0, half), ...events.slice(-half)], leftOut };
}

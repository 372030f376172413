// What is drawn of a run: what each worker did when, and the state at a time.

import { KIND } from "./model.js";

/** @typedef {import("./run.js").Run} Run */
/** @typedef {{kind: "poll" | "parked" | "waking" | "search", worker: number, start: number, end: number, task: number}} Span */

/** @param {Run} run @param {number} end of what is drawn @returns {Span[]} */
export function spansOf({ moments, events }, end) {
  const first = /** @type {import("./run.js").Moment} */ (moments[0]).state;
  /** @type {Span[]} */
  const spans = [];
  /** @type {(Span | undefined)[]} what each worker is at */
  const open = first.workers.map(({ phase }, worker) => (phase === "parked" ? { kind: "parked", worker, start: 0, end, task: -1 } : undefined));
  /** @param {number} worker @param {number} time @param {Span["kind"]} [kind] @param {number} [task] */
  const turn = (worker, time, kind, task = -1) => {
    const before = open[worker];
    if (before) spans.push({ ...before, end: time });
    open[worker] = kind && { kind, worker, start: time, end, task };
  };
  for (const [time, kind, who, a] of events) {
    if (kind === KIND.began) turn(who, time, "poll", a);
    else if (kind === KIND.parked) turn(who, time, "parked");
    else if (kind === KIND.notified) turn(a, time, "waking");
    else if (kind === KIND.searched) turn(who, time, "search");
    else if (kind === KIND.ended || kind === KIND.unparked || kind === KIND.stole || kind === KIND.took || kind === KIND.looked) turn(who, time);
  }
  open.forEach((span) => span && spans.push(span));
  return spans.filter(({ start, end }) => end > start);
}

/** The state after all that happened up to a time. @param {Run} run @param {number} at */
export function stateAt({ moments }, at) {
  return /** @type {import("./run.js").Moment} */ (moments.findLast(({ state }) => state.time <= at) ?? moments[0]).state;
}

/** The times at which something happens. @param {Run} run */
export function timesOf({ events }) {
  return [...new Set([0, ...events.map(([time]) => time)])];
}

/** The place to look at first: where the longest wait is nearly over, or the end if a task waits forever. @param {Run[]} runs */
export function pointOf(runs) {
  const waiters = runs.map(({ meters }) => meters.waiter ?? { start: meters.end, end: meters.end });
  const longest = waiters.reduce((one, other) => (other.end - other.start > one.end - one.start ? other : one));
  return Math.round(longest.start + 0.9 * (longest.end - longest.start));
}

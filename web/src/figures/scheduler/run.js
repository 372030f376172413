// A whole run: what happened, what it came to, and the state after each step.

import { DONE, END, KIND, advance, init, step } from "./model.js";

/** @typedef {import("./model.js").Settings} Settings */
/** @typedef {import("./model.js").State} State */
/** @typedef {import("./model.js").Event} Event */

/**
 * @typedef {object} Meters
 * @property {number} makespan until the last task ended; Infinity if one never does
 * @property {number} longest the longest wait of a ready task; Infinity if one is never polled
 * @property {{task: number, worker: number, from: number, start: number, end: number} | undefined} waiter of that wait; nothing if it never ends
 * @property {number[]} polls of each worker
 * @property {number} steals
 * @property {number} stolen how many tasks
 * @property {number} unparks
 * @property {number} useless of those
 * @property {number} parks
 * @property {number} stuck how many tasks have not ended
 * @property {number} end when the last thing happened
 */

/** Longer than any run takes, so that a mistake in the rules is seen. */
const MOST_STEPS = 5000;

/** @param {Settings} settings @returns {{events: Event[], last: State}} */
export function played(settings) {
  const last = init(settings);
  /** @type {Event[]} */
  const events = [];
  for (let steps = 0; advance(last, events); steps += 1) {
    if (steps === MOST_STEPS) throw new Error(`no end after ${MOST_STEPS} steps: ${JSON.stringify(settings)}`);
  }
  return { events, last };
}

/** @typedef {{state: State, events: Event[]}} Moment after a step */
/** @typedef {{settings: Settings, moments: Moment[], events: Event[], meters: Meters}} Run */

/** @param {Settings} settings @returns {Run} */
export function runOf(settings) {
  /** @type {Moment[]} */
  const moments = [{ state: init(settings), events: [] }];
  for (;;) {
    const { state } = /** @type {Moment} */ (moments.at(-1));
    const next = step(state);
    if (next.state === state) break;
    moments.push(next);
  }
  const events = moments.flatMap((moment) => moment.events);
  const last = /** @type {Moment} */ (moments.at(-1)).state;
  return { settings, moments, events, meters: metersOf(events, last) };
}

/** @param {Event[]} events @param {State} last @returns {Meters} */
export function metersOf(events, last) {
  const stuck = last.tasks.filter(({ state }) => state !== DONE).length;
  const isHung = stuck > 0;
  /** @type {Meters} */
  const meters = { makespan: isHung ? Infinity : 0, longest: isHung ? Infinity : 0, waiter: undefined, polls: last.workers.map(() => 0), steals: 0, stolen: 0, unparks: 0, useless: 0, parks: 0, stuck, end: events.at(-1)?.[0] ?? 0 };
  // Whether each worker has polled since it was unparked.
  const idle = last.workers.map(() => false);
  for (const [time, kind, who, a, b, c] of events) {
    if (kind === KIND.began) {
      meters.polls[who] = (meters.polls[who] ?? 0) + 1;
      idle[who] = false;
      if (!isHung && (b > meters.longest || !meters.waiter)) {
        meters.longest = b;
        meters.waiter = { task: a, worker: who, from: c, start: time - b, end: time };
      }
    } else if (kind === KIND.ended && b === END.ready && !isHung) meters.makespan = time;
    else if (kind === KIND.stole) [meters.steals, meters.stolen] = [meters.steals + 1, meters.stolen + b];
    else if (kind === KIND.notified) [meters.unparks, idle[a]] = [meters.unparks + 1, true];
    else if (kind === KIND.parked) [meters.parks, meters.useless, idle[who]] = [meters.parks + 1, meters.useless + (idle[who] ? 1 : 0), false];
  }
  return meters;
}

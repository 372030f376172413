// What the parts, the loads and the costs are called.

import { listed } from "../format.js";
import { COSTS, INTERVAL, PARTS, STREAK } from "./model.js";

/** @typedef {typeof PARTS[number]} Part */

/** @type {Record<Part, {name: string, does: string}>} */
export const PART = {
  slot: { name: "LIFO slot", does: `what a task spawns or wakes is the next task of its worker, up to ${STREAK} in a row, and can't be stolen` },
  stealing: { name: "stealing", does: "a worker without tasks takes half of another worker's queue" },
  throttle: { name: "throttling", does: "no worker is unparked while one searches, and at most half of them search" },
  notification: { name: "notification", does: "after a push, a parked worker is unparked" },
  interval: { name: "interval", does: `at every ${INTERVAL}th poll, a worker looks at the injector first` },
};

/** @type {Record<string, {name: string, says: string}>} */
export const LOAD = {
  long: { name: "a long poll", says: "Task S spawns eight tasks, and then its poll goes on for 40 µs. The other workers are parked." },
  burst: { name: "a burst", says: "A thread that is not a worker spawns sixteen tasks of about 1 µs. All workers are parked." },
  pair: { name: "a pair", says: "Tasks A and B wake each other, twelve polls each. A also spawns C. The other workers are parked." },
  busy: { name: "busy workers", says: "Each worker polls two tasks that yield. A thread that is not a worker spawns tasks 1, 2 and 3, one after the other." },
};

/** @param {{unpark: number, wake: number}} chosen @returns {[string, number, string][]} */
export const costsOf = ({ unpark, wake }) => [
  ["Unparking a worker, for the thread that does it", unpark, `${unpark === COSTS.unpark ? "" : `your choice; at first ${us(COSTS.unpark)}, by `}“Who wakes whom”: a microsecond or two`],
  ["Until an unparked worker runs", wake, `${wake === COSTS.wake ? "" : `your choice; at first ${us(COSTS.wake)}, by `}the same: a few more`],
  ["Looking at another worker's queue, or at all of them before parking", COSTS.look, "a guess: the least that the model has"],
  ["Taking tasks from the injector", COSTS.take, "a guess"],
  ["Taking tasks from another worker's queue", COSTS.steal, "a guess"],
  ["Fetching a task that another thread made ready", COSTS.move, "a guess: a line of another core's cache"],
  ["All else: pushing, popping, looking at the own queue", 0, "“How fast is it?”, yield_many: hundredths of a microsecond for all of it"],
];

/** A time of the model: `4.3 µs`. @param {number} tenths */
export function us(tenths) {
  return `${(tenths / 10).toFixed(1)} µs`;
}

/** `with all parts`, `without the LIFO slot and stealing` @param {import("./model.js").Parts} parts */
export function choiceOf(parts) {
  const missing = PARTS.filter((part) => !parts[part]);
  if (missing.length === 0) return "with all parts";
  return `without ${listed(missing.map((part) => `${part === "slot" || part === "interval" ? "the " : ""}${PART[part].name}`))}`;
}

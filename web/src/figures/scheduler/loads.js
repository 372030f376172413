// What the workers have to do: the same for every choice of parts.

import { below } from "./random.js";

/** @typedef {{work: number} | {spawn: number} | {wake: number}} Op */
/** @typedef {{ops: Op[], end: number}} Poll */
/** @typedef {{after: number, task: number}} Push by a thread that is not a worker, so long after the one before */

/**
 * @typedef {object} Load
 * @property {{name: string, polls: Poll[]}[]} tasks
 * @property {number[][]} queues what is in each worker's queue at first
 * @property {Push[]} outside
 */

const READY = 0;
const YIELDS = 1;
const WAITS = 2;

const BURST = 16;
const CHILDREN = 8;
const LONG = 400;
const ROUNDS = 12;
const REQUESTS = 3;

/**
 * @param {string} name
 * @param {number} workers
 * @param {number} random
 * @returns {{load: Load, random: number}}
 */
export function loadOf(name, workers, random) {
  let state = random;
  /** About a length, up to a fifth less or more. */
  const about = (/** @type {number} */ length) => {
    const fifth = Math.floor(length / 5);
    const [more, next] = below(state, 2 * fifth + 1);
    state = next;
    return length - fifth + more;
  };
  /** @param {number} length */
  const work = (length) => [{ ops: [{ work: length }], end: READY }];
  /** @type {Record<string, () => Load>} */
  const loads = {
    burst: () => ({
      tasks: numbered(BURST, () => work(about(10))),
      queues: [],
      outside: Array.from({ length: BURST }, (_, task) => ({ after: task === 0 ? 0 : 2, task })),
    }),
    long: () => {
      const spawns = Array.from({ length: CHILDREN }, (_, child) => [{ work: 2 }, { spawn: child + 1 }]).flat();
      const long = { name: "S", polls: [{ ops: [...spawns, { work: LONG }], end: READY }] };
      return { tasks: [long, ...numbered(CHILDREN, () => work(about(30)))], queues: [[0]], outside: [] };
    },
    pair: () => {
      const lengths = [about(10), about(10)];
      const polls = (/** @type {number} */ own) => Array.from({ length: ROUNDS }, (_, round) => {
        const isLast = round === ROUNDS - 1;
        const spawns = own === 0 && round === 0 ? [{ spawn: 2 }] : [];
        const wakes = own === 1 && isLast ? [] : [{ wake: 1 - own }];
        return { ops: [{ work: lengths[own] ?? 0 }, ...spawns, ...wakes], end: isLast ? READY : WAITS };
      });
      const tasks = [{ name: "A", polls: polls(0) }, { name: "B", polls: polls(1) }, { name: "C", polls: work(about(10)) }];
      return { tasks, queues: [[0]], outside: [] };
    },
    busy: () => {
      const count = 2 * workers;
      const busy = Array.from({ length: count }, (_, index) => {
        const length = about(10);
        return { name: "ABCDEFGH".charAt(index), polls: Array.from({ length: ROUNDS }, (_, round) => ({ ops: [{ work: length }], end: round === ROUNDS - 1 ? READY : YIELDS })) };
      });
      const requests = numbered(REQUESTS, () => work(about(10)));
      return {
        tasks: [...busy, ...requests],
        queues: Array.from({ length: workers }, (_, worker) => [2 * worker, 2 * worker + 1]),
        outside: requests.map((_, index) => ({ after: index === 0 ? 30 : 40, task: count + index })),
      };
    },
  };
  const load = /** @type {() => Load} */ (loads[name])();
  return { load, random: state };
}

export const LOADS = /** @type {const} */ (["burst", "long", "pair", "busy"]);

/** @param {number} count @param {() => Poll[]} polls */
function numbered(count, polls) {
  return Array.from({ length: count }, (_, index) => ({ name: String(index + 1), polls: polls() }));
}

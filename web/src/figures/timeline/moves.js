// What a scheduler tells of its queues: what moved from where to where, and how
// many tasks lie in each.

/** The owner of the global queue. */
export const GLOBAL = -2;

const LOCAL_QUEUE = 0;
const SLOT = 1;
const GLOBAL_QUEUE = 2;

/**
 * @typedef {object} Move
 * @property {number} t
 * @property {"push" | "pop" | "overflow" | "steal" | "take" | "notify"} kind
 * @property {number} worker that did it
 * @property {number} task 0 where it isn't known
 * @property {number} arg the queue of a push or pop, the victim of a steal, the target of a notify
 * @property {number} count of the tasks that moved
 */

/** @typedef {{t: number, owner: number, length: number}} Step how long a queue is from then on */
/** @typedef {{worker: number, start: number, end: number, found: boolean}} Search */

const KINDS = new Set(["push", "pop", "overflow", "steal", "take", "notify"]);

export class Queues {
  /** @type {Move[]} */
  moves = [];
  /** @type {Step[]} */
  steps = [];
  /** @type {Search[]} */
  searches = [];
  /** @type {Map<number, number>} */
  lengths = new Map();
  /** @type {Set<number>} the workers whose slots hold a task */
  slots = new Set();
  /** @type {Map<number, number>} since when a worker searches */
  searching = new Map();

  /** @param {import("./read.js").TraceEvent} event */
  take({ t, k, w, task, arg, count }) {
    if (k === "search+") this.searching.set(w, this.searching.get(w) ?? t);
    else if (k === "search-") this.found(t, w, arg === 1);
    if (!KINDS.has(k)) return;
    const move = { t, kind: /** @type {Move["kind"]} */ (k), worker: w, task, arg, count };
    this.moves.push(move);
    for (const [owner, change] of this.hides(move) ? [] : changes(move)) {
      const length = (this.lengths.get(owner) ?? 0) + change;
      this.lengths.set(owner, length);
      // Below 0 for a moment if two threads tell of the same task at once.
      this.steps.push({ t, owner, length: Math.max(0, length) });
    }
  }

  /** The task that a slot loses is pushed, and so counted, next. @param {Move} move */
  hides({ kind, worker, arg }) {
    if (arg !== SLOT || (kind !== "push" && kind !== "pop")) return false;
    const isFull = this.slots.has(worker);
    if (kind === "push") this.slots.add(worker);
    else this.slots.delete(worker);
    return isFull === (kind === "push");
  }

  /** @param {number} end @param {number} worker @param {boolean} found */
  found(end, worker, found) {
    const start = this.searching.get(worker);
    this.searching.delete(worker);
    if (start !== undefined) this.searches.push({ worker, start, end, found });
  }

  /** @param {number} end */
  close(end) {
    for (const worker of [...this.searching.keys()]) this.found(end, worker, false);
  }
}

/** Whose queue grows by how much. @param {Move} move @returns {[number, number][]} */
function changes({ kind, worker, arg, count }) {
  const queue = arg === GLOBAL_QUEUE ? GLOBAL : worker;
  switch (kind) {
    case "push":
      return [[queue, 1]];
    case "pop":
      return [[queue, -1]];
    case "overflow":
      // One of them wasn't in the own queue yet.
      return [[worker, 1 - count], [GLOBAL, count]];
    case "steal":
      return [[arg, -count], [worker, count]];
    case "take":
      return [[GLOBAL, -count], [worker, count]];
    case "notify":
      return [];
  }
}

/** The length of a queue at a time. @param {Step[]} steps @param {number} owner @param {number} at */
export function lengthAt(steps, owner, at) {
  return steps.findLast((step) => step.owner === owner && step.t <= at)?.length ?? 0;
}

/** A move in words: `steals 2 from worker 1`. @param {Move} move @param {(task: number) => string} name */
export function moveInWords({ kind, task, arg, count }, name) {
  const queue = arg === SLOT ? "its next-task slot" : arg === GLOBAL_QUEUE ? "the global queue" : arg === LOCAL_QUEUE ? "its own queue" : "a queue";
  switch (kind) {
    case "push":
      return `puts ${name(task)} into ${queue}`;
    case "pop":
      return `takes ${name(task)} from ${queue}, to poll it`;
    case "overflow":
      return `finds its queue full: ${count} go to the global queue`;
    case "steal":
      return `steals ${count} from worker ${arg}`;
    case "take":
      return `takes ${count} from the global queue into its own`;
    case "notify":
      return `wakes worker ${arg} to help`;
  }
}

/**
 * What became of the queues, in one sentence; empty if nothing is known of them.
 *
 * @param {Move[]} moves
 * @param {Search[]} searches
 */
export function queueSentence(moves, searches) {
  const of = (/** @type {Move["kind"]} */ kind) => moves.filter((move) => move.kind === kind);
  const counted = (/** @type {number} */ many, /** @type {string} */ one, /** @type {string} */ several) => (many ? [`${many} ${many === 1 ? one : several}`] : []);
  const moved = (/** @type {Move["kind"]} */ kind, /** @type {string} */ one, /** @type {string} */ several, /** @type {string} */ what) => {
    const tasks = of(kind).reduce((sum, { count }) => sum + count, 0);
    return counted(of(kind).length, one, several).map((times) => `${times} ${what} ${tasks} ${tasks === 1 ? "task" : "tasks"}`);
  };
  const parts = [
    ...counted(of("push").length, "push", "pushes"),
    ...counted(of("pop").length, "pop", "pops"),
    ...moved("overflow", "overflow", "overflows", "of"),
    ...moved("steal", "steal", "steals", "of"),
    ...moved("take", "batch", "batches", "from the global queue, of"),
    ...counted(searches.length, "search", "searches").map((times) => `${times}, ${searches.filter(({ found }) => found).length} with success`),
    ...counted(of("notify").length, "notification", "notifications"),
  ];
  return parts.length ? `The queues: ${parts.join("; ")}.` : "";
}

/**
 * How a task came to the worker that polls it, after it was woken or spawned: into
 * which queue, and who moved it on. Empty if nothing is known.
 *
 * @param {import("./derive.js").Poll} poll
 * @param {Move[]} moves
 * @param {(ns: number) => string} time
 */
export function wayOf(poll, moves, time) {
  const between = moves.filter(({ t }) => t >= (poll.wake?.t ?? poll.readyAt) && t <= poll.start);
  const push = between.find(({ kind, task }) => task === poll.task && (kind === "push" || kind === "overflow"));
  if (!push) return "";
  const from = push.worker;
  const after = between.filter(({ t }) => t > push.t);
  const stolen = after.findLast(({ kind, worker, arg }) => kind === "steal" && worker === poll.worker && arg === from);
  const spilled = push.kind === "overflow" || push.arg === GLOBAL_QUEUE || after.some(({ kind, worker }) => kind === "overflow" && worker === from);
  const taken = after.findLast(({ kind, worker }) => kind === "take" && worker === poll.worker);
  const whose = from < 0 ? "the global queue" : `the queue of worker ${from}`;
  const into = push.kind === "overflow" ? `found ${whose} full at ${time(push.t)} and went to the global one` : `entered ${push.arg === GLOBAL_QUEUE ? "the global queue" : push.arg === SLOT ? `the next-task slot of worker ${from}` : whose} at ${time(push.t)}`;
  if (poll.worker === from && !spilled) return `It ${into}.`;
  if (stolen && poll.worker !== from) return `It ${into}; worker ${poll.worker} stole it at ${time(stolen.t)}.`;
  if (taken && spilled) return `It ${into}; worker ${poll.worker} took it from the global queue at ${time(taken.t)}.`;
  return `It ${into}.`;
}

// A scheduler in the model's own time: some workers, their queues, and the parts
// that can be taken out. `tools/scheduler-model` has the same rules in Rust, and
// says them in words; a test compares the two, event by event.

import { loadOf } from "./loads.js";
import { below, seeded } from "./random.js";

/** The parts that can be taken out, in the order of their keys. */
export const PARTS = /** @type {const} */ (["slot", "stealing", "throttle", "notification", "interval"]);

/** What takes time, in tenths of a microsecond. What isn't here takes none. The first two can be chosen. */
export const COSTS = {
  /** Unparking a worker, for the thread that does it. */
  unpark: 15,
  /** Until an unparked worker runs. */
  wake: 50,
  /** Looking at another worker's queue, and at all of them again before parking. */
  look: 1,
  /** Taking tasks from the injector. */
  take: 1,
  /** Taking tasks from another worker's queue. */
  steal: 2,
  /** Fetching a task that another thread made ready. */
  move: 1,
};

/** As many as these loads ever need: no queue overflows. */
export const CAPACITY = 8;
/** A worker looks at the injector at every poll of this number. */
export const INTERVAL = 7;
/** How many tasks in a row come from the LIFO slot while others wait. */
export const STREAK = 3;
/** Who acts, if it isn't a worker. */
export const OUTSIDE = 9;

/** Kinds of events; each is `[time, kind, who, a, b, c]`. */
export const KIND = /** @type {const} */ ({
  injected: 0, // a: the task
  spawned: 1, // a: the task
  woke: 2, // a: the task
  began: 3, // a: the task, b: how long it waited, c: where it came from
  ended: 4, // a: the task, b: how its poll ended
  took: 5, // a: how many tasks came from the injector
  searched: 6,
  stole: 7, // a: from whom, b: how many tasks
  notified: 8, // a: the worker
  unparked: 9,
  looked: 10, // the last look found something
  parked: 11,
});

/** Where a task was taken from. */
export const FROM = /** @type {const} */ ({ slot: 0, queue: 1, injector: 2, steal: 3 });
/** How a poll ends. */
export const END = /** @type {const} */ ({ ready: 0, yields: 1, waits: 2 });

const IDLE = 0;
const READY = 1;
const RUNNING = 2;
export const DONE = 3;

/** @typedef {"parked" | "waking" | "next" | "search" | "poll"} Phase */
/** @typedef {Record<typeof PARTS[number], boolean>} Parts which parts are there */
/** @typedef {{load: string, workers: number, seed: number, unpark: number, wake: number, parts: Parts}} Settings */
/** @typedef {[number, number, number, number, number, number]} Event */
/** @typedef {{state: number, poll: number, since: number, home: number, isNotified: boolean}} Task `home`: who made it ready */

/**
 * @typedef {object} Worker
 * @property {Phase} phase
 * @property {number} until when it acts next, unless it's parked
 * @property {boolean} isSearching whether it's counted as searching
 * @property {number} slot the task in its LIFO slot, or -1
 * @property {number[]} queue
 * @property {number} streak how many tasks in a row came from the slot
 * @property {number} polls how many it has begun
 * @property {number} task that it polls, or -1
 * @property {number} from where that came from
 * @property {number} op the next step of the poll; -1 before it begins
 * @property {number} start the first victim of its search
 * @property {number} looked how many victims it has looked at
 */

/**
 * @typedef {object} State
 * @property {Settings} settings
 * @property {import("./loads.js").Load} load
 * @property {number} time
 * @property {number} random
 * @property {number} searching how many workers are counted as searching
 * @property {Task[]} tasks
 * @property {number[]} injector
 * @property {Worker[]} workers
 * @property {{pushed: number, until: number}} outside
 */

/** @param {Settings} settings @returns {State} */
export function init(settings) {
  const { load, random } = loadOf(settings.load, settings.workers, seeded(settings.seed));
  const tasks = load.tasks.map(() => ({ state: IDLE, poll: 0, since: 0, home: OUTSIDE, isNotified: false }));
  const workers = Array.from({ length: settings.workers }, (_, worker) => {
    const queue = [...(load.queues[worker] ?? [])];
    for (const task of queue) Object.assign(/** @type {Task} */ (tasks[task]), { state: READY, home: worker });
    return { phase: /** @type {Phase} */ (queue.length > 0 ? "next" : "parked"), until: 0, isSearching: false, slot: -1, queue, streak: 0, polls: 0, task: -1, from: 0, op: -1, start: 0, looked: 0 };
  });
  return { settings, load, time: 0, random, searching: 0, tasks, injector: [], workers, outside: { pushed: 0, until: load.outside[0]?.after ?? 0 } };
}

/** One action of one worker, or of the thread that is none. @param {State} state @returns {{state: State, events: Event[]}} without events at the end */
export function step(state) {
  const after = copied(state);
  /** @type {Event[]} */
  const events = [];
  const isOver = !advance(after, events);
  return { state: isOver ? state : after, events };
}

/** @param {State} state */
function copied(state) {
  return {
    ...state,
    tasks: state.tasks.map((task) => ({ ...task })),
    injector: [...state.injector],
    workers: state.workers.map((worker) => ({ ...worker, queue: [...worker.queue] })),
    outside: { ...state.outside },
  };
}

/**
 * Takes a step in place, which is faster where no state is kept.
 *
 * @param {State} s
 * @param {Event[]} events of this step are added
 * @returns {boolean} false if nothing is left to happen
 */
export function advance(s, events) {
  const { outside, workers, load } = s;
  let who = outside.pushed < load.outside.length ? OUTSIDE : -1;
  let time = who === OUTSIDE ? outside.until : Infinity;
  workers.forEach(({ phase, until }, index) => {
    if (phase !== "parked" && until < time) [who, time] = [index, until];
  });
  if (who === -1) return false;
  s.time = time;
  const actor = new Actor(s, who, events);
  if (who === OUTSIDE) actor.push();
  else actor.act();
  return true;
}

/** Who acts now. */
class Actor {
  /** @param {State} state @param {number} who @param {Event[]} events */
  constructor(state, who, events) {
    this.s = state;
    this.who = who;
    this.events = events;
    this.w = /** @type {Worker} */ (state.workers[who]);
    this.parts = state.settings.parts;
  }

  /** @param {number} kind @param {number} [a] @param {number} [b] @param {number} [c] */
  emit(kind, a = 0, b = 0, c = 0) {
    this.events.push([this.s.time, kind, this.who, a, b, c]);
  }

  // ---- the thread that is not a worker

  push() {
    const { s } = this;
    const { outside, load } = s;
    const { task } = /** @type {import("./loads.js").Push} */ (load.outside[outside.pushed]);
    this.makeReady(task);
    s.injector.push(task);
    this.emit(KIND.injected, task);
    const paid = this.notify();
    outside.pushed += 1;
    outside.until = s.time + paid + (load.outside[outside.pushed]?.after ?? 0);
  }

  // ---- a worker

  act() {
    const { w } = this;
    if (w.phase === "poll") this.goOn();
    else if (w.phase === "search") this.look();
    else if (w.phase === "waking") {
      this.emit(KIND.unparked);
      w.phase = "next";
    } else this.findNext();
  }

  /** @param {number} cost */
  spend(cost) {
    this.w.until = this.s.time + cost;
  }

  findNext() {
    const { s, w, parts } = this;
    const { injector } = s;
    if (parts.interval && w.polls % INTERVAL === INTERVAL - 1 && injector.length > 0) {
      this.emit(KIND.took, 1);
      return this.begin(/** @type {number} */ (injector.shift()), FROM.injector, COSTS.take);
    }
    if (this.takeOwn()) return;
    if (injector.length > 0) return this.takeShare();
    if (!parts.stealing || !(w.isSearching || this.beginSearch())) return this.park();
    w.phase = "search";
    [w.start, s.random] = below(s.random, s.workers.length);
    w.looked = 0;
    this.emit(KIND.searched);
  }

  /** From the slot or from the queue. @returns {boolean} true if there was a task */
  takeOwn() {
    const { w } = this;
    const next = w.slot;
    const isCapped = w.streak >= STREAK && w.queue.length > 0;
    if (next >= 0 && !isCapped) {
      w.streak = w.streak >= STREAK ? 0 : w.streak + 1;
      w.slot = -1;
      this.begin(next, FROM.slot, 0);
      return true;
    }
    w.streak = 0;
    const task = w.queue.shift();
    if (task === undefined) return false;
    let paid = 0;
    if (next >= 0) {
      // It's the queue's turn; the task from the slot shouldn't have to wait for this worker.
      w.slot = -1;
      w.queue.push(next);
      paid = this.notifyOfQueue();
    }
    this.begin(task, FROM.queue, paid);
    return true;
  }

  takeShare() {
    const { s, w } = this;
    const share = Math.ceil(s.injector.length / s.workers.length);
    const [first = -1, ...rest] = s.injector.splice(0, share);
    w.queue.push(...rest);
    this.emit(KIND.took, rest.length + 1);
    this.begin(first, FROM.injector, COSTS.take);
  }

  beginSearch() {
    const { s, w, parts } = this;
    if (parts.throttle && s.searching >= Math.ceil(s.workers.length / 2)) return false;
    w.isSearching = true;
    s.searching += 1;
    return true;
  }

  /** Looks at one victim's queue, or at the injector after the last. */
  look() {
    const { s, w } = this;
    if (w.looked < s.workers.length && (w.start + w.looked) % s.workers.length === this.who) w.looked += 1;
    if (w.looked < s.workers.length) {
      const from = (w.start + w.looked) % s.workers.length;
      const { queue } = /** @type {Worker} */ (s.workers[from]);
      w.looked += 1;
      if (queue.length === 0) return this.spend(COSTS.look);
      const [first = -1, ...rest] = queue.splice(0, Math.ceil(queue.length / 2));
      w.queue.push(...rest);
      this.emit(KIND.stole, from, rest.length + 1);
      return this.begin(first, FROM.steal, COSTS.steal);
    }
    if (s.injector.length > 0) this.takeShare();
    else this.park();
  }

  park() {
    const { s, w, parts } = this;
    if (w.isSearching) s.searching -= 1;
    w.isSearching = false;
    const isLast = s.searching === 0 || !parts.throttle;
    const hasWork = s.injector.length > 0 || (parts.stealing && s.workers.some(({ queue }) => queue.length > 0));
    if (isLast && hasWork) {
      this.emit(KIND.looked);
      if (parts.stealing) this.beginSearch();
      w.phase = "next";
      return this.spend(COSTS.look);
    }
    w.phase = "parked";
    this.emit(KIND.parked);
  }

  // ---- a poll

  /** @param {number} task @param {number} from @param {number} cost until the poll begins */
  begin(task, from, cost) {
    const { s, w, parts } = this;
    let paid = cost;
    if (w.isSearching) {
      w.isSearching = false;
      s.searching -= 1;
      if (parts.throttle && s.searching === 0) paid += this.notify();
    }
    const its = /** @type {Task} */ (s.tasks[task]);
    its.state = RUNNING;
    if (its.home !== this.who) paid += COSTS.move;
    Object.assign(w, { phase: "poll", task, from, op: -1, polls: w.polls + 1 });
    this.spend(paid);
  }

  goOn() {
    const { s, w } = this;
    const its = /** @type {Task} */ (s.tasks[w.task]);
    const poll = /** @type {import("./loads.js").Poll} */ (s.load.tasks[w.task]?.polls[its.poll]);
    if (w.op === -1) {
      w.op = 0;
      return this.emit(KIND.began, w.task, s.time - its.since, w.from);
    }
    const op = poll.ops[w.op];
    w.op += 1;
    if (!op) return this.end(its, poll.end);
    if ("work" in op) return this.spend(op.work);
    const task = "spawn" in op ? op.spawn : op.wake;
    this.emit("spawn" in op ? KIND.spawned : KIND.woke, task);
    this.spend(this.wake(task));
  }

  /** @param {Task} its @param {number} end */
  end(its, end) {
    const { s, w } = this;
    const { task } = w;
    this.emit(KIND.ended, task, end);
    its.poll += 1;
    w.phase = "next";
    w.task = -1;
    let paid = 0;
    if (end === END.ready) its.state = DONE;
    else if (end === END.yields) {
      this.makeReady(task);
      w.queue.push(task);
      if (w.slot >= 0) paid = this.notifyOfQueue();
    } else if (its.isNotified) {
      its.isNotified = false;
      paid = this.schedule(task);
    } else its.state = IDLE;
    w.until = s.time + paid;
  }

  /** @param {number} task @returns {number} what it costs */
  wake(task) {
    const its = /** @type {Task} */ (this.s.tasks[task]);
    if (its.state === RUNNING) its.isNotified = true;
    return its.state === IDLE ? this.schedule(task) : 0;
  }

  /** @param {number} task */
  makeReady(task) {
    Object.assign(/** @type {Task} */ (this.s.tasks[task]), { state: READY, since: this.s.time, home: this.who });
  }

  /** A task that was woken or spawned on a worker. @param {number} task @returns {number} what it costs */
  schedule(task) {
    const { w, parts } = this;
    this.makeReady(task);
    const pushed = parts.slot ? w.slot : task;
    if (parts.slot) w.slot = task;
    if (pushed < 0) return 0;
    w.queue.push(pushed);
    return this.notifyOfQueue();
  }

  /** Without stealing, no worker could come for what is in a queue. @returns {number} */
  notifyOfQueue() {
    return this.parts.stealing ? this.notify() : 0;
  }

  /** @returns {number} what it costs to unpark a worker, if one is unparked */
  notify() {
    const { s, parts } = this;
    const { unpark, wake } = s.settings;
    if (!parts.notification || (parts.throttle && s.searching > 0)) return 0;
    const index = s.workers.findIndex(({ phase }) => phase === "parked");
    const chosen = s.workers[index];
    if (!chosen) return 0;
    Object.assign(chosen, { phase: "waking", until: s.time + wake, isSearching: true });
    s.searching += 1;
    this.emit(KIND.notified, index);
    return unpark;
  }
}

// From the events of a trace to what is drawn and said: polls, waits, parks.

import { Unreadable } from "../unreadable.js";
import { Queues } from "./moves.js";

/** @typedef {import("./read.js").Trace} Trace */

/**
 * @typedef {object} Wake
 * @property {number} t
 * @property {number} worker that issued it; −1 for a thread that isn't a worker
 * @property {number} task woken
 * @property {number} by the task that was polled meanwhile, or 0
 * @property {boolean} spawned true for the spawn, which counts as the first wake-up
 */

/**
 * @typedef {object} Poll
 * @property {number} index in `Timeline.polls`
 * @property {number} task
 * @property {number} number of this task's polls, from 1
 * @property {number} worker
 * @property {number} start
 * @property {number} end
 * @property {number} depth 1 within another poll of the same worker, and so on
 * @property {number} self its length without the polls within it
 * @property {"ready" | "pending" | "yielded" | "open"} result `open` when its end isn't in the trace
 * @property {Wake | undefined} wake the first that led to it
 * @property {number} readyAt when it could have started
 * @property {number} waited from then to its start
 * @property {boolean} harmless a job on a thread that has nothing but jobs: it keeps no task waiting
 */

/**
 * @typedef {object} Task
 * @property {number} id
 * @property {string} name
 * @property {string} letter
 * @property {number} hue 0 to 5
 * @property {boolean} striped when another task has its hue, too
 * @property {boolean} isJob work that runs once and isn't a future
 * @property {Poll[]} polls
 * @property {Wake[]} wakes
 */

/**
 * @typedef {object} Timeline
 * @property {Trace} trace
 * @property {number} first the time of the first event
 * @property {number} end
 * @property {Task[]} tasks in the order in which they were made
 * @property {Map<number, Task>} byId
 * @property {number[]} workers ascending; −1, threads that aren't workers, comes last
 * @property {Poll[]} polls by start
 * @property {Wake[]} wakes
 * @property {{worker: number, start: number, end: number}[]} parks by start
 * @property {{t: number, text: string, task: number, isNote?: boolean}[]} marks of the program, and what the figure notes
 * @property {import("./moves.js").Move[]} moves of tasks between queues, if the scheduler told
 * @property {import("./moves.js").Step[]} steps of the queues' lengths
 * @property {import("./moves.js").Search[]} searches
 */

/**
 * @param {Trace} trace
 * @returns {Timeline}
 */
export function derive(trace) {
  const { events } = trace;
  const end = events.at(-1)?.t ?? 0;
  const reading = new Reading(trace, end);
  for (const event of events) reading.take(event);
  reading.close();
  const tasks = [...reading.tasks.values()].sort((one, other) => one.id - other.id);
  nameTasks(tasks);
  const workers = [...reading.workers].sort((one, other) => (one < 0 ? 1 : other < 0 ? -1 : one - other));
  const polls = reading.polls.sort((one, other) => one.start - other.start || one.depth - other.depth);
  polls.forEach((poll, index) => (poll.index = index));
  markHarmless(polls, reading.tasks);
  if (polls.length === 0) throw new Unreadable("This trace has no poll in it: let the program spawn its futures through `trace::task`.");
  return {
    trace,
    first: events[0]?.t ?? 0,
    end: Math.max(end, 1),
    tasks,
    byId: reading.tasks,
    workers,
    polls,
    wakes: reading.wakes,
    parks: reading.parks.sort((one, other) => one.start - other.start),
    marks: reading.marks,
    moves: reading.queues.moves,
    steps: reading.queues.steps,
    searches: reading.queues.searches,
  };
}

/** @param {Poll[]} polls @param {Map<number, Task>} tasks */
function markHarmless(polls, tasks) {
  const isJob = (/** @type {Poll} */ { task }) => tasks.get(task)?.isJob ?? false;
  const withTasks = new Set(polls.filter((poll) => !isJob(poll)).map(({ worker }) => worker));
  for (const poll of polls) poll.harmless = isJob(poll) && poll.depth === 0 && (poll.worker < 0 || !withTasks.has(poll.worker));
}

/** A poll within a poll within a poll is rare. */
const DEEPEST = 32;

/** What is known so far while the events are read in order. */
class Reading {
  /** @param {Trace} trace @param {number} end */
  constructor(trace, end) {
    this.trace = trace;
    this.end = end;
    /** @type {Map<number, Task>} */
    this.tasks = new Map();
    /** @type {Set<number>} */
    this.workers = new Set(Array.from({ length: trace.workers }, (_, index) => index));
    /** @type {Poll[]} */
    this.polls = [];
    /** @type {Wake[]} */
    this.wakes = [];
    /** @type {{worker: number, start: number, end: number}[]} */
    this.parks = [];
    /** @type {{t: number, text: string, task: number}[]} */
    this.marks = [];
    this.queues = new Queues();
    /** @type {Map<number, Poll>} of each task that is being polled */
    this.open = new Map();
    /** @type {Map<number, Wake>} of each task: the first wake-up that no poll has answered */
    this.pending = new Map();
    /** @type {Map<number, number>} */
    this.parked = new Map();
    /** @type {Map<number, Poll[]>} of each worker: those that go on, the outermost first */
    this.nested = new Map();
    /** @type {Set<number>} */
    this.yielded = new Set();
  }

  /** @param {import("./read.js").TraceEvent} event */
  take(event) {
    const { t, k, w, task, arg } = event;
    this.queues.take(event);
    switch (k) {
      case "spawn":
        return this.wake({ t, worker: w, task, by: arg, spawned: true });
      case "job":
        this.task(task).isJob = true;
        return this.wake({ t, worker: w, task, by: arg, spawned: true });
      case "wake":
        return this.wake({ t, worker: w, task, by: arg, spawned: false });
      case "poll+":
        return this.begin(t, w, task);
      case "poll-":
        return this.finish(t, task, arg === 1);
      case "yield":
        return void this.yielded.add(task);
      case "park":
        this.workers.add(w);
        return void this.parked.set(w, t);
      case "unpark":
        return this.unpark(t, w);
      case "mark":
        return void this.marks.push({ t, text: this.trace.marks[arg] ?? "", task });
    }
  }

  /** @param {Wake} wake */
  wake(wake) {
    this.task(wake.task).wakes.push(wake);
    this.wakes.push(wake);
    if (!this.pending.has(wake.task)) this.pending.set(wake.task, wake);
  }

  /** @param {number} t @param {number} worker @param {number} id */
  begin(t, worker, id) {
    if (this.open.has(id)) {
      if (!this.isTorn()) throw this.unbalanced(id);
      this.leave(/** @type {Poll} */ (this.open.get(id)));
    }
    const task = this.task(id);
    this.workers.add(worker);
    const wake = this.pending.get(id);
    this.pending.delete(id);
    const readyAt = wake ? Math.min(t, Math.max(wake.t, task.polls.at(-1)?.end ?? wake.t)) : t;
    const around = this.pollsOn(worker);
    const depth = worker < 0 ? 0 : around.length;
    if (depth > DEEPEST) throw new Unreadable(`More than ${DEEPEST} polls lie within each other on worker ${worker}: record the trace again, in a program that ends its polls.`);
    const poll = /** @type {Poll} */ ({
      index: 0, task: id, number: task.polls.length + 1, worker, start: t, end: this.end, depth, self: 0, result: "open", wake, readyAt, waited: t - readyAt, harmless: false,
    });
    task.polls.push(poll);
    this.polls.push(poll);
    this.open.set(id, poll);
    if (worker >= 0) around.push(poll);
  }

  /** @param {number} worker @returns {Poll[]} those that go on there, the outermost first */
  pollsOn(worker) {
    let polls = this.nested.get(worker);
    if (!polls) this.nested.set(worker, (polls = []));
    return polls;
  }

  /** The poll goes on no more. @param {Poll} poll */
  leave(poll) {
    this.open.delete(poll.task);
    const polls = this.pollsOn(poll.worker);
    const place = polls.lastIndexOf(poll);
    if (place >= 0) polls.splice(place, 1);
  }

  /** @param {number} t @param {number} id @param {boolean} ready */
  finish(t, id, ready) {
    const poll = this.open.get(id);
    if (!poll) {
      if (this.isTorn()) return;
      throw this.unbalanced(id);
    }
    this.leave(poll);
    poll.end = t;
    poll.result = ready ? "ready" : this.yielded.delete(id) ? "yielded" : "pending";
    this.settle(poll);
  }

  /** Where events are missing, halves of polls are. */
  isTorn() {
    return this.trace.dropped > 0 || this.trace.leftOut > 0;
  }

  /** Takes a poll's length off the poll around it. @param {Poll} poll */
  settle(poll) {
    const length = poll.end - poll.start;
    poll.self += length;
    const around = this.pollsOn(poll.worker).find((other) => other.depth === poll.depth - 1);
    if (around) around.self -= length;
  }

  /** @param {number} t @param {number} worker */
  unpark(t, worker) {
    const since = this.parked.get(worker);
    this.parked.delete(worker);
    if (since !== undefined) this.parks.push({ worker, start: since, end: t });
  }

  close() {
    for (const poll of [...this.open.values()].reverse()) {
      this.leave(poll);
      this.settle(poll);
    }
    for (const [worker, start] of this.parked) this.parks.push({ worker, start, end: this.end });
    this.queues.close(this.end);
  }

  /** @param {number} id @returns {Task} */
  task(id) {
    let task = this.tasks.get(id);
    if (!task) {
      const name = this.trace.names.get(id) ?? `task ${id}`;
      task = { id, name, letter: "", hue: 0, striped: false, isJob: false, polls: [], wakes: [] };
      this.tasks.set(id, task);
    }
    return task;
  }

  /** @param {number} id */
  unbalanced(id) {
    const name = this.trace.names.get(id) ?? `task ${id}`;
    return new Unreadable(`A poll of ${name} begins or ends without its counterpart: record the trace again, or raise the recorder's room if it dropped events.`);
  }
}

const HUES = "ABCDEF";

/**
 * Gives each task the sign in its block and a hue: A to F keep their own.
 *
 * @param {Task[]} tasks
 */
export function nameTasks(tasks) {
  const taken = new Set();
  const sign = (/** @type {Task} */ task, /** @type {string | undefined} */ wanted) => {
    if (!wanted || task.letter || taken.has(wanted)) return;
    task.letter = wanted;
    taken.add(wanted);
  };
  for (const task of tasks) sign(task, /^([A-Z])(?![A-Za-z])/.exec(task.name)?.[1]);
  for (const task of tasks) sign(task, /(?:^|\D)(\d{1,3})$/.exec(task.name)?.[1]);
  for (const task of tasks) for (const letter of task.name.toUpperCase().match(/[A-Z]/g) ?? []) sign(task, letter);
  for (const task of tasks) sign(task, String(task.id));

  const used = new Set(tasks.map((task) => HUES.indexOf(task.letter)));
  const free = [...HUES].map((_, hue) => hue).filter((hue) => !used.has(hue));
  let next = 0;
  for (const task of tasks) {
    const own = HUES.indexOf(task.letter);
    task.hue = own >= 0 ? own : (free[next] ?? next % HUES.length);
    task.striped = own < 0 && next >= free.length;
    if (own < 0) next += 1;
  }
}

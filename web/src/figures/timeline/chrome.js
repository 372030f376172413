// A trace as Chrome's trace events, which Perfetto opens.

import { GLOBAL } from "./moves.js";

/** @typedef {import("./derive.js").Timeline} Timeline */

const WORKERS = 1;
const TASKS = 2;
/** No number may stand twice, not even in two processes: Perfetto names threads by it alone. */
const FIRST_WORKER = 1000;
const ELSEWHERE = 1_000_000;
const FIRST_TASK = 2_000_000;

/** @param {Timeline} timeline */
export function toChrome(timeline) {
  return { traceEvents: [...names(timeline), ...slices(timeline), ...states(timeline), ...flows(timeline), ...queues(timeline)], displayTimeUnit: "ns" };
}

/** What runs on other threads may overlap, so that each task gets a lane there. @param {number} worker @param {number} task */
function lane(worker, task) {
  return worker < 0 ? ELSEWHERE + task : FIRST_WORKER + worker;
}

/** @param {Timeline} timeline */
function* names({ workers, tasks, polls }) {
  const thread = (/** @type {number} */ pid, /** @type {number} */ tid, /** @type {string} */ name) => [
    { ph: "M", pid, tid, name: "thread_name", args: { name } },
    { ph: "M", pid, tid, name: "thread_sort_index", args: { sort_index: tid } },
  ];
  yield { ph: "M", pid: WORKERS, name: "process_name", args: { name: "Workers" } };
  yield { ph: "M", pid: TASKS, name: "process_name", args: { name: "Tasks" } };
  for (const worker of workers) if (worker >= 0) yield* thread(WORKERS, lane(worker, 0), `worker ${worker}`);
  yield* thread(WORKERS, ELSEWHERE, "other threads");
  for (const { id, name } of tasks) {
    yield* thread(TASKS, FIRST_TASK + id, name);
    if (polls.some(({ task, worker }) => task === id && worker < 0)) yield* thread(WORKERS, lane(-1, id), `${name}, on no worker`);
  }
}

/** @param {Timeline} timeline */
function* slices({ polls, byId }) {
  for (const { task, worker, start, end, readyAt, waited, result } of polls) {
    const times = { ts: micros(start), dur: micros(end - start) };
    yield { ph: "X", cat: "poll", pid: WORKERS, tid: lane(worker, task), ...times, name: byId.get(task)?.name, args: { task, result, waited_us: micros(waited) } };
    yield { ph: "X", cat: "task", pid: TASKS, tid: FIRST_TASK + task, ...times, name: "running", args: { worker } };
    if (waited > 0) yield { ph: "X", cat: "task", pid: TASKS, tid: FIRST_TASK + task, ts: micros(readyAt), dur: micros(waited), name: "waiting" };
  }
}

/** @param {Timeline} timeline */
function* states({ parks, searches }) {
  for (const [name, spans] of /** @type {const} */ ([["parked", parks], ["searching", searches]])) {
    for (const { worker, start, end } of spans) {
      yield { ph: "X", cat: "worker", pid: WORKERS, tid: lane(worker, 0), ts: micros(start), dur: micros(end - start), name };
    }
  }
}

/** Arrows begin and end in polls: one from nowhere isn't drawn. @param {Timeline} timeline */
function* flows({ polls, byId }) {
  for (const { wake, index, task, worker, start } of polls) {
    const isInPoll = wake && !wake.spawned && byId.get(wake.by)?.polls.some((poll) => poll.start <= wake.t && wake.t <= poll.end);
    if (!isInPoll) continue;
    const flow = { cat: "wake", name: "wake", id: index + 1, pid: WORKERS };
    yield { ph: "s", ...flow, tid: lane(wake.worker, wake.by), ts: micros(wake.t) };
    yield { ph: "f", bp: "e", ...flow, tid: lane(worker, task), ts: micros(start) };
  }
}

/** @param {Timeline} timeline */
function* queues({ steps, moves }) {
  for (const { t, owner, length } of steps) {
    yield { ph: "C", pid: WORKERS, ts: micros(t), name: owner === GLOBAL ? "global queue" : `queue of worker ${owner}`, args: { tasks: length } };
  }
  for (const { t, kind, worker, arg, count } of moves) {
    const name = { steal: `steals ${count} from worker ${arg}`, take: `takes ${count} from the global queue`, overflow: `overflow: ${count} tasks`, notify: `notifies worker ${arg}` }[/** @type {"steal"} */ (kind)];
    if (name) yield { ph: "i", s: "t", cat: kind, pid: WORKERS, tid: lane(worker, 0), ts: micros(t), name };
  }
}

function micros(/** @type {number} */ ns) {
  return ns / 1000;
}

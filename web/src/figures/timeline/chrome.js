// A trace as Chrome's trace events, which Perfetto opens.

/** @typedef {import("./derive.js").Timeline} Timeline */

const WORKERS = 1;
const TASKS = 2;
/** Chrome wants positive thread numbers; other threads are −1 with us. */
const OTHER_THREADS = 1000;

/** @param {Timeline} timeline */
export function toChrome(timeline) {
  return { traceEvents: [...names(timeline), ...slices(timeline), ...flows(timeline), ...parked(timeline), ...queue(timeline)], displayTimeUnit: "ns" };
}

/** @param {number} worker */
function thread(worker) {
  return worker < 0 ? OTHER_THREADS : worker + 1;
}

/** @param {Timeline} timeline */
function* names({ workers, tasks }) {
  yield { ph: "M", pid: WORKERS, name: "process_name", args: { name: "Workers" } };
  yield { ph: "M", pid: TASKS, name: "process_name", args: { name: "Tasks" } };
  for (const worker of workers) {
    const name = worker < 0 ? "other threads" : `worker ${worker}`;
    yield { ph: "M", pid: WORKERS, tid: thread(worker), name: "thread_name", args: { name } };
    yield { ph: "M", pid: WORKERS, tid: thread(worker), name: "thread_sort_index", args: { sort_index: thread(worker) } };
  }
  for (const [index, task] of tasks.entries()) {
    yield { ph: "M", pid: TASKS, tid: task.id, name: "thread_name", args: { name: task.name } };
    yield { ph: "M", pid: TASKS, tid: task.id, name: "thread_sort_index", args: { sort_index: index } };
  }
}

/** @param {Timeline} timeline */
function* slices({ polls, byId }) {
  for (const poll of polls) {
    const { task, worker, start, end, readyAt, waited, result } = poll;
    const name = byId.get(task)?.name;
    const times = { ts: micros(start), dur: micros(end - start) };
    yield { ph: "X", cat: "poll", pid: WORKERS, tid: thread(worker), ...times, name, args: { task, result, waited_us: micros(waited) } };
    yield { ph: "X", cat: "running", pid: TASKS, tid: task, ...times, name: "running", args: { worker } };
    if (waited > 0) yield { ph: "X", cat: "waiting", pid: TASKS, tid: task, ts: micros(readyAt), dur: micros(waited), name: "waiting" };
  }
}

/** @param {Timeline} timeline */
function* flows({ polls }) {
  for (const { wake, index, worker, start } of polls) {
    if (!wake) continue;
    const flow = { cat: "wake", name: "wake", id: index + 1, pid: WORKERS };
    yield { ph: "s", ...flow, tid: thread(wake.worker), ts: micros(wake.t) };
    yield { ph: "f", bp: "e", ...flow, tid: thread(worker), ts: micros(start) };
  }
}

/** @param {Timeline} timeline */
function* parked({ parks }) {
  for (const { worker, start, end } of parks) {
    yield { ph: "X", cat: "parked", pid: WORKERS, tid: thread(worker), ts: micros(start), dur: micros(end - start), name: "parked" };
  }
}

/** @param {Timeline} timeline */
function* queue({ queue }) {
  for (const { t, depth } of queue) yield { ph: "C", pid: WORKERS, ts: micros(t), name: "longest queue", args: { depth } };
}

function micros(/** @type {number} */ ns) {
  return ns / 1000;
}

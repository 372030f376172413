// What a figure can be about, beside what moves between queues. Each moment is defined
// so narrowly that a few words about it hold in every trace that has it.

/** @typedef {import("./derive.js").Timeline} Timeline */

/** Whether all workers are parked at that time, but for one. @param {Timeline} timeline @param {number} at @param {number} [but] */
function areParked({ workers, parks }, at, but) {
  return workers.every((worker) => worker < 0 || worker === but || parks.some((park) => park.worker === worker && park.start <= at && at < park.end));
}

/** @type {Record<string, (timeline: Timeline) => {worker: number, task?: number, start: number} | {worker: number, task: number, t: number} | undefined>} */
export const MOMENTS = {
  /** The first wake-up, if each task has had a poll by then. */
  wake({ wakes, tasks }) {
    const first = wakes.find(({ spawned }) => !spawned);
    return first && tasks.every(({ polls: [poll] }) => poll && poll.end <= first.t) ? first : undefined;
  },

  /** A worker parks and polls no more, while another does. */
  park({ parks, polls }) {
    const last = new Map(polls.map(({ worker, start }) => [worker, start]));
    return parks.find(({ worker, start }) => start > (last.get(worker) ?? -1) && polls.some((poll) => poll.start > start && poll.worker >= 0));
  },

  /** All workers are parked: each task has had a poll, none waits for one, and some will have more. */
  idle(timeline) {
    const { parks, polls, tasks } = timeline;
    return parks.find(({ start }) => areParked(timeline, start) && tasks.every(({ polls: [poll] }) => poll && poll.end <= start)
      && polls.every((poll) => poll.start <= start || poll.readyAt > start) && polls.some((poll) => poll.start > start));
  },

  /** A worker polls on while all the others are parked. */
  alone(timeline) {
    const { polls, workers } = timeline;
    const isNext = (/** @type {import("./derive.js").Poll} */ { worker, index }) => worker >= 0 && polls.findIndex((poll) => poll.worker === worker) < index;
    return (workers[1] ?? -1) < 0 ? undefined : polls.find((poll) => isNext(poll) && areParked(timeline, poll.start, poll.worker));
  },

  /** A worker that has come round to its own tasks begins one that was there before, so not in its queue. */
  adopt({ polls }) {
    /** @type {Map<number, import("./derive.js").Poll>} */
    const last = new Map();
    return polls.find((poll) => {
      const before = last.get(poll.worker);
      last.set(poll.worker, poll);
      return poll.number === 1 && before && before.number > 1 && poll.readyAt < before.start;
    });
  },
};

// Which lanes a timeline has, and the blocks in them.

/** @typedef {import("./derive.js").Timeline} Timeline */
/** @typedef {import("./derive.js").Poll} Poll */
/** @typedef {import("./derive.js").Task} Task */

/**
 * @typedef {object} Lane
 * @property {string} label
 * @property {Task | undefined} task of a lane that belongs to one
 * @property {number | undefined} worker likewise
 * @property {Poll[]} polls by start
 */

/**
 * What stands in one place: a poll, or many that are too narrow to be told apart.
 *
 * @typedef {object} Block
 * @property {number} x0
 * @property {number} x1
 * @property {Poll[]} polls
 * @property {boolean} [isCut] whether it goes on at the right of what is shown
 */

const MOST_LANES = 12;
/** No block is narrower than this, in pixels. */
const THINNEST = 1.5;
const MOST_BLOCKS = 1200;

/**
 * @param {Timeline} timeline
 * @param {"task" | "worker"} view
 * @param {string[]} wanted names of tasks, in order; empty for all
 * @returns {Lane[]}
 */
export function lanesOf(timeline, view, wanted) {
  return view === "worker" ? workerLanes(timeline) : taskLanes(timeline, wanted);
}

/** @param {Timeline} timeline @returns {Lane[]} */
function workerLanes({ workers, polls }) {
  return workers.map((worker) => ({
    label: worker < 0 ? "other threads" : `W${worker}`,
    task: undefined,
    worker,
    polls: polls.filter((poll) => poll.worker === worker),
  }));
}

/** @param {Timeline} timeline @param {string[]} wanted @returns {Lane[]} */
function taskLanes({ tasks, polls }, wanted) {
  const named = wanted.flatMap((name) => tasks.find((task) => task.name === name) ?? []);
  const shown = named.length > 0 ? named : tasks.filter((task) => task.polls.length > 0);
  const few = shown.length > MOST_LANES ? shown.slice(0, MOST_LANES - 1) : shown;
  const rest = new Set(tasks.filter((task) => !few.includes(task) && task.polls.length > 0).map(({ id }) => id));
  const lanes = few.map((task) => /** @type {Lane} */ ({ label: task.name, task, worker: undefined, polls: task.polls }));
  if (rest.size > 0) {
    const letters = tasks.filter(({ id }) => rest.has(id)).map(({ letter }) => letter);
    const label = letters.length <= 4 ? letters.join(" ") : `${letters.length} more`;
    lanes.push({ label, task: undefined, worker: undefined, polls: polls.filter((poll) => rest.has(poll.task)) });
  }
  return lanes;
}

/**
 * The blocks of some lanes, merged as far as is needed to draw them.
 *
 * @param {Lane[]} lanes
 * @param {(t: number) => number} x
 * @param {[number, number]} range of pixels
 * @returns {Block[][]} of each lane
 */
export function blocksOf(lanes, x, range) {
  for (let gap = 1; ; gap *= 2) {
    const all = lanes.map((lane) => merged(lane.polls, x, range, gap));
    if (gap > 64 || all.reduce((sum, blocks) => sum + blocks.length, 0) <= MOST_BLOCKS) return all;
  }
}

/**
 * @param {Poll[]} polls
 * @param {(t: number) => number} x
 * @param {[number, number]} range
 * @param {number} gap pixels between two narrow blocks that become one
 */
function merged(polls, x, [left, right], gap) {
  /** @type {Block[]} */
  const blocks = [];
  let wasNarrow = false;
  for (const poll of polls) {
    const [start, end] = [x(poll.start), x(poll.end)];
    if (end < left || start > right) continue;
    const x0 = Math.max(start, left);
    const x1 = Math.min(Math.max(end, x0 + THINNEST), right);
    const isNarrow = end - start < gap;
    const last = blocks.at(-1);
    if (last && isNarrow && wasNarrow && x0 - last.x1 < gap) {
      last.x1 = Math.max(last.x1, x1);
      last.polls.push(poll);
      last.isCut = end > right;
    } else {
      blocks.push({ x0, x1, polls: [poll], isCut: end > right });
      wasNarrow = isNarrow;
    }
  }
  return blocks;
}

/**
 * The poll nearest to a place in a lane, the innermost first.
 *
 * @param {Lane} lane
 * @param {number} t
 * @param {number} slack how far beside a poll one may point, in ns
 * @returns {Poll | undefined}
 */
export function pollAt(lane, t, slack) {
  let best;
  let least = slack;
  for (const poll of lane.polls) {
    const distance = Math.max(poll.start - t, t - poll.end, 0);
    if (distance < least || (distance === least && (best === undefined || poll.depth >= best.depth))) {
      best = poll;
      least = distance;
    }
  }
  return best;
}

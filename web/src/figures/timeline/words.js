// What a timeline says in words: its statistics, three sentences, and why one
// poll came when it did.

import { count, listed, share, time } from "../format.js";
import { lengthAt, queueSentence, wayOf } from "./moves.js";

/** @typedef {import("./derive.js").Timeline} Timeline */
/** @typedef {import("./derive.js").Poll} Poll */

const MOST_POINTS = 12;
/** A wake-up by no task this soon after a long poll of the same worker was seen late: its worker hadn't looked. */
const SOON_AFTER = 0.1;

/**
 * @typedef {object} Statistics
 * @property {Poll} longestPoll by its own length, of those that may keep a task waiting if there are any
 * @property {Poll | undefined} longestJob of those that keep no task waiting
 * @property {Poll | undefined} longestWait
 * @property {Poll[]} longPolls the worst first
 * @property {{worker: number, part: number}[]} idle of each worker
 */

/**
 * @param {Timeline} timeline
 * @param {number} longNs from which length on a poll is long
 * @returns {Statistics}
 */
export function statistics(timeline, longNs) {
  const { polls, parks, workers, first, end } = timeline;
  const all = [...polls].sort((one, other) => other.self - one.self);
  const inTheWay = all.filter(({ harmless }) => !harmless);
  const byLength = inTheWay.length > 0 ? inTheWay : all;
  const byWait = [...polls].sort((one, other) => other.waited - one.waited);
  const busyOr = parks.length > 0 ? undefined : polls.filter((poll) => poll.depth === 0);
  const idle = workers
    .filter((worker) => worker >= 0)
    .map((worker) => {
      const spans = (busyOr ?? parks).filter((span) => span.worker === worker);
      const part = spans.reduce((sum, span) => sum + span.end - span.start, 0) / Math.max(1, end - first);
      return { worker, part: Math.min(1, Math.max(0, busyOr ? 1 - part : part)) };
    });
  const [longestWait] = byWait;
  return {
    longestPoll: /** @type {Poll} */ (byLength[0]),
    longestWait: longestWait && longestWait.waited > 0 ? longestWait : undefined,
    longestJob: inTheWay.length > 0 ? all.find(({ harmless }) => harmless) : undefined,
    longPolls: all.filter((poll) => isLong(poll, longNs)),
    idle,
  };
}

/** Whether a poll blocks its worker. @param {Poll} poll @param {number} longNs */
export function isLong({ harmless, self }, longNs) {
  return !harmless && self >= longNs;
}

/**
 * Where `p` and the buttons go: long polls and long waits, the worst first.
 *
 * @param {Timeline} timeline
 * @param {Statistics} found
 */
export function pointsOfInterest({ polls }, { longestPoll, longestWait, longPolls }) {
  const waits = polls.filter((poll) => longestWait && poll.waited >= longestWait.waited / 4);
  const points = new Map([longestPoll, ...longPolls].map((poll) => [poll, poll.self]));
  for (const poll of waits) points.set(poll, Math.max(poll.waited, points.get(poll) ?? 0));
  const sorted = [...points].sort(([, one], [, other]) => other - one);
  return sorted.slice(0, MOST_POINTS).map(([poll]) => poll);
}

/** @param {number} worker */
export function workerName(worker) {
  return worker < 0 ? "another thread" : `worker ${worker}`;
}

/**
 * Totals, the worst wait, the longest poll.
 *
 * @param {Timeline} timeline
 * @param {Statistics} found
 */
export function sentences(timeline, { longestPoll, longestJob, longestWait, idle }) {
  const { tasks, polls, workers, first, end, trace } = timeline;
  const name = (/** @type {Poll} */ poll) => timeline.byId.get(poll.task)?.name ?? "";
  const jobs = tasks.filter(({ isJob }) => isJob).length;
  const ran = polls.filter(({ task }) => !timeline.byId.get(task)?.isJob).length;
  const what = [...(jobs < tasks.length || !jobs ? [count(tasks.length - jobs, "task")] : []), ...(jobs ? [count(jobs, "job")] : [])].join(" and ");
  const said = [
    `${what} on ${count(workers.filter((worker) => worker >= 0).length, "worker")}: ${ran || !jobs ? `${count(ran, "poll")} in ` : ""}${time(end - first)}` +
      (idle.length ? `; ${listed(idle.map(({ worker, part }) => `worker ${worker} idle for ${share(part)}`))}.` : "."),
    longestWait
      ? `The longest wait: ${name(longestWait)}, ${wokenHow(longestWait, timeline)} at ${time(longestWait.wake?.t ?? longestWait.readyAt)}, waited ${time(longestWait.waited)} for its ${turn(longestWait, timeline)}.`
      : "No task had to wait for a poll.",
    `The longest ${turn(longestPoll, timeline)}: ${name(longestPoll)} kept ${workerName(longestPoll.worker)} for ${time(longestPoll.self)}.`,
    ...(longestJob ? [`The longest job: ${name(longestJob)} took ${time(longestJob.self)} on ${workerName(longestJob.worker)}, where it was in no task's way.`] : []),
    queueSentence(timeline.moves, timeline.searches),
  ].filter(Boolean);
  if (trace.dropped > 0) said.push(`${count(trace.dropped, "event")} found no room and are missing after the torn edge.`);
  if (trace.leftOut > 0) said.push(`${count(trace.leftOut, "event")} of the middle are left out here: open the whole trace in Perfetto.`);
  return said;
}

/** What a poll is called. @param {Poll} poll @param {Timeline} timeline */
export function turn({ task }, { byId }) {
  return byId.get(task)?.isJob ? "job" : "poll";
}

/** @param {Poll} poll @param {Timeline} timeline */
function wokenHow(poll, timeline) {
  return turn(poll, timeline) === "job" ? "handed over" : poll.wake?.spawned ? "spawned" : "woken";
}

/** @param {import("./derive.js").Wake} wake @param {Timeline} timeline */
function caller(wake, timeline) {
  if (wake.by) return timeline.byId.get(wake.by)?.name ?? `task ${wake.by}`;
  if (wake.worker < 0) return wake.spawned ? "a thread outside of any task" : "another thread";
  return `worker ${wake.worker}, for no task (a timer, or I/O)`;
}

/**
 * Why this poll came when it came, in two or three sentences.
 *
 * @param {Poll} poll
 * @param {Timeline} timeline
 */
export function explain(poll, timeline) {
  const name = timeline.byId.get(poll.task)?.name ?? "";
  const { wake } = poll;
  const isJob = turn(poll, timeline) === "job";
  const ran = isJob ? "run" : "polled";
  const polled = `at ${time(poll.start)} on ${workerName(poll.worker)}, for ${time(poll.end - poll.start)}`;
  if (!wake) return `${name} was ${ran} ${polled}; what woke it is not known.`;
  const cause = `${wokenHow(poll, timeline)} at ${time(wake.t)} by ${caller(wake, timeline)}`;
  const which = isJob ? "its turn" : `its poll ${poll.number}`;
  const said = [
    poll.waited > 0
      ? `${name} waited ${time(poll.waited)} for ${which}: ${cause}, ${ran} ${polled}.`
      : `${isJob ? `The job ${name}` : `Poll ${poll.number} of ${name}`}: ${cause}, ${ran} at once, ${polled}.`,
    wayOf(poll, timeline.moves, time),
  ].filter(Boolean);
  const [culprit, ...more] = holders(poll, timeline);
  const late = seenLate(poll, timeline);
  if (culprit) {
    const who = listed([...new Set([culprit, ...more].map(({ task }) => timeline.byId.get(task)?.name ?? ""))]);
    const kind = turn(culprit, timeline) === "job" ? "job" : "poll";
    const what = more.length ? `${more.length + 1} ${kind}s: of ${who}` : kind === "job" ? `the job ${who}, ${time(culprit.end - culprit.start)} long` : `one poll of ${who}, ${time(culprit.end - culprit.start)} long`;
    said.push(`Meanwhile ${workerName(culprit.worker)} was busy with ${what}${sleepers(poll, timeline)}.`);
  } else if (late) {
    const who = timeline.byId.get(late.task)?.name ?? "";
    said.push(`The wake-up itself came only when ${workerName(late.worker)} had ended a poll of ${who}, ${time(late.end - late.start)} long.`);
  }
  return said.join(" ");
}

/** Which workers might have helped, and were parked instead. @param {Poll} poll @param {Timeline} timeline */
function sleepers({ readyAt, start }, { parks, workers }) {
  const parked = (/** @type {number} */ worker) =>
    parks.filter((park) => park.worker === worker).reduce((sum, park) => sum + Math.max(0, Math.min(park.end, start) - Math.max(park.start, readyAt)), 0);
  const idle = workers.filter((worker) => worker >= 0 && parked(worker) >= (start - readyAt) * 0.9);
  if (idle.length === 0) return "";
  return `; ${listed(idle.map(workerName))} ${idle.length === 1 ? "was" : "were"} parked, and ${idle.length === 1 ? "was" : "were"} not woken for this`;
}

/** More polls in the way than this would be too long a story. */
const HOLDERS_MOST = 8;

/**
 * The polls that kept a worker for the better part of this poll's wait: a single
 * one on any worker, or several on the worker that polled it at last.
 *
 * @param {Poll} poll
 * @param {Timeline} timeline
 * @returns {Poll[]}
 */
export function holders(poll, { polls }) {
  const overlap = (/** @type {Poll} */ other) => Math.min(other.end, poll.start) - Math.max(other.start, poll.readyAt);
  // A job among jobs is in no task's way but a job's.
  const mayHold = (/** @type {Poll} */ other) => !other.harmless || poll.harmless;
  const others = polls.filter((other) => other.task !== poll.task && mayHold(other) && other.start < poll.start && overlap(other) > 0);
  const longest = others.reduce((/** @type {Poll | undefined} */ best, other) => {
    const gain = best ? overlap(other) - overlap(best) : 1;
    return gain > 0 || (gain === 0 && other.worker === poll.worker) ? other : best;
  }, undefined);
  if (longest && overlap(longest) >= poll.waited / 2) return [longest];
  const here = others.filter(({ worker }) => worker === poll.worker);
  const kept = here.reduce((sum, other) => sum + overlap(other), 0);
  return here.length <= HOLDERS_MOST && kept >= poll.waited / 2 ? here : [];
}

/**
 * The poll after which a timer was seen, at last.
 *
 * @param {Poll} poll
 * @param {Timeline} timeline
 * @returns {Poll | undefined}
 */
export function seenLate({ wake }, { polls }) {
  if (!wake || wake.by || wake.spawned || wake.worker < 0) return undefined;
  const before = polls.filter((other) => other.worker === wake.worker && other.end <= wake.t && other.result !== "open");
  const last = before.reduce((/** @type {Poll | undefined} */ latest, other) => (latest && latest.end > other.end ? latest : other), undefined);
  return last && last.self > 100_000 && wake.t - last.end <= SOON_AFTER * last.self ? last : undefined;
}

/**
 * What goes on at a time: `worker 0 polls D, worker 1 is parked`.
 *
 * @param {Timeline} timeline
 * @param {number} at
 */
export function describe(timeline, at) {
  if (at > timeline.end) return "this run is over";
  const { workers, polls, parks, searches, steps } = timeline;
  const goesOn = (/** @type {{worker: number, start: number, end: number}} */ { worker, start, end }, /** @type {number} */ of) => worker === of && start <= at && at < end;
  const parts = workers.map((worker) => {
    const name = workerName(worker);
    const queued = steps.length > 0 && worker >= 0 ? lengthAt(steps, worker, at) : 0;
    const queue = queued > 0 ? ` (${queued} in its queue)` : "";
    const running = polls.filter((poll) => goesOn(poll, worker)).at(-1);
    if (running) return `${name} ${turn(running, timeline) === "job" ? "runs" : "polls"} ${timeline.byId.get(running.task)?.name}${queue}`;
    if (searches.some((search) => goesOn(search, worker))) return `${name} searches the others' queues`;
    if (parks.some((park) => goesOn(park, worker))) return `${name} is parked`;
    return worker < 0 ? "" : `${name} polls no task${queue}`;
  });
  return parts.filter(Boolean).join(", ");
}

/** A longer one would be too long a story, with too many arrows. */
const LONGEST_CHAIN = 200;

/**
 * The wake-up of a poll, the poll in which that was called, its wake-up, and
 * so on back to the first known cause.
 *
 * @param {Poll} poll
 * @param {Timeline} timeline
 * @returns {Poll[]} the given one first
 */
export function chain(poll, timeline) {
  const links = [poll];
  for (let { wake } = poll; wake?.by; ) {
    const { t, by } = wake;
    const cause = timeline.byId.get(by)?.polls.findLast((earlier) => earlier.start <= t && t <= earlier.end);
    if (!cause || links.includes(cause) || links.length === LONGEST_CHAIN) break;
    links.push(cause);
    wake = cause.wake;
  }
  return links;
}

// What a run says, in sentences.

import { count, listed } from "../format.js";
import { END, FROM, KIND, OUTSIDE } from "./model.js";
import { LOAD, choiceOf, us } from "./names.js";

/** @typedef {import("./run.js").Run} Run */
/** @typedef {import("./run.js").Meters} Meters */
/** @typedef {import("./model.js").State} State */

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {State} state @param {number} task */
export function nameOf(state, task) {
  return state.load.tasks[task]?.name ?? "";
}

/** @param {number} who */
function actor(who) {
  return who === OUTSIDE ? "a thread that is not a worker" : `worker ${who}`;
}

/** @param {number} from @param {number} worker */
function place(from, worker) {
  return { [FROM.slot]: `in the LIFO slot of worker ${worker}`, [FROM.queue]: `last in the queue of worker ${worker}`, [FROM.injector]: "last in the injector" }[from] ?? "until it is stolen";
}

/** @param {State} state @param {import("./model.js").Event} event */
export function eventInWords(state, [, kind, who, a, b, c]) {
  const name = nameOf(state, a);
  const its = nameOf(state, state.workers[who]?.task ?? -1);
  switch (kind) {
    case KIND.injected:
      return `${actor(who)} spawns ${name}, which goes to the injector`;
    case KIND.spawned:
      return `${actor(who)}: ${its} spawns ${name}`;
    case KIND.woke:
      return `${actor(who)}: ${its} wakes ${name}`;
    case KIND.began:
      return `${actor(who)} polls ${name}, which has waited for ${us(b)}${b > 0 ? `, ${place(c, who)}` : ""}`;
    case KIND.ended:
      return `${actor(who)}: ${name} ${b === END.ready ? "is ready" : b === END.yields ? "yields" : "waits"}`;
    case KIND.took:
      return `${actor(who)} takes ${count(a, "task")} from the injector`;
    case KIND.searched:
      return `${actor(who)} searches`;
    case KIND.stole:
      return `${actor(who)} takes ${count(b, "task")} from the queue of worker ${a}`;
    case KIND.notified:
      return `${actor(who)} unparks worker ${a}`;
    case KIND.unparked:
      return `${actor(who)} runs`;
    case KIND.looked:
      return `${actor(who)} finds something at its last look, and doesn't park`;
    default:
      return `${actor(who)} parks`;
  }
}

/** What happens at a time, or what is the case then. @param {Run} run @param {number} at */
export function momentSentence(run, at) {
  const told = run.moments.filter(({ state }) => state.time === at).flatMap(({ state, events }) => events.map((event) => eventInWords(state, event)));
  const state = run.moments.findLast(({ state }) => state.time <= at)?.state;
  const now = told.length > 0 ? told.join("; ") : state ? state.workers.map((_, worker) => `worker ${worker} ${doing(state, worker)}`).join(", ") : "";
  return `${us(at)}: ${now}.`;
}

/** What a worker does: `polls S`. @param {State} state @param {number} worker */
export function doing(state, worker) {
  const { phase, task, op } = /** @type {import("./model.js").Worker} */ (state.workers[worker]);
  if (phase === "poll") return `${op === -1 ? "gets" : "polls"} ${nameOf(state, task)}`;
  return { parked: "is parked", waking: "wakes up", search: "searches", next: "looks" }[phase];
}

/** What is in the queues of a state. @param {State} state */
export function queuesOf(state) {
  const names = (/** @type {number[]} */ tasks) => listed(tasks.map((task) => nameOf(state, task))) || "empty";
  return [
    `injector: ${names(state.injector)}`,
    ...state.workers.map(({ slot, queue }, worker) => `worker ${worker} ${doing(state, worker)}${state.settings.parts.slot ? `, slot: ${names(slot < 0 ? [] : [slot])}` : ""}, queue: ${names(queue)}`),
  ];
}

/** How long something takes, which may be forever. @param {number} tenths */
export function lasts(tenths) {
  return tenths === Infinity ? "never" : us(tenths);
}

/** The run in a sentence or two. @param {Run} run */
export function summary({ settings, meters, moments }) {
  const { makespan, longest, waiter, steals, stolen, unparks, useless, stuck } = meters;
  const state = /** @type {import("./run.js").Moment} */ (moments[0]).state;
  const title = capital(choiceOf(settings.parts));
  if (makespan === Infinity) return `${title}, it hangs: ${count(stuck, "task")} ${stuck === 1 ? "is" : "are"} ready, and every worker is parked.`;
  const wait = waiter && longest > 0 ? `Task ${nameOf(state, waiter.task)} waits longest, for ${us(longest)}, ${place(waiter.from, waiter.worker)}.` : "No ready task waits.";
  const moved = steals === 0 ? "Nothing is stolen" : `${count(steals, "steal")} ${steals === 1 ? "moves" : "move"} ${count(stolen, "task")}`;
  const woken = unparks === 0 ? "no worker is unparked" : `workers are unparked ${times(unparks)}${useless > 0 ? `, ${times(useless)} for nothing` : ""}`;
  return `${title}, the last task ends after ${us(makespan)}. ${wait} ${moved}, and ${woken}.`;
}

/** @param {number} many */
function times(many) {
  return many === 1 ? "once" : many === 2 ? "twice" : `${many} times`;
}

/** What has changed from one run to the other. @param {Run} before @param {Run} now */
export function compared(before, now) {
  const [one, other] = [before.meters, now.meters];
  const choice = capital(choiceOf(now.settings.parts));
  if (other.makespan === Infinity) return summary(now);
  if (one.makespan === Infinity) return `${summary(now)} Before, it hung.`;
  const changes = [
    change("the last task ends", one.makespan, other.makespan, true),
    change("the longest wait is", one.longest, other.longest, true),
    change("unparked workers:", one.unparks, other.unparks, false),
    change("of these for nothing:", one.useless, other.useless, false),
    change("steals:", one.steals, other.steals, false),
  ].filter(Boolean);
  if (changes.length === 0) return `${choice}, nothing changes in this load.`;
  return `${choice}: ${changes.join("; ")}.`;
}

/** @param {string} what @param {number} before @param {number} after @param {boolean} isTime */
function change(what, before, after, isTime) {
  if (before === after) return "";
  if (!isTime) return `${what} ${after} instead of ${before}`;
  return what.endsWith("is") ? `${what} ${us(after)} instead of ${us(before)}` : `${what} after ${us(after)} instead of ${us(before)}`;
}

/** The figure in a few sentences. @param {Run | undefined} before @param {Run} now */
export function sentences(before, now) {
  const { load, workers } = now.settings;
  return [`${LOAD[load]?.says} There are ${workers} workers.`, ...(before ? [summary(before)] : []), summary(now)];
}

export const MODEL = "A model, not a measurement: each worker has a core of its own, one thing happens at a time, and the costs are parameters.";

// The programs of `<ws-litmus>`: what each thread does, and which outcome is the
// one to fear. A `fixed` operation stands for plain data: it's always Relaxed.

/** @typedef {"load" | "store" | "swap" | "cas"} Kind */
/** @typedef {{kind: Kind, at: string, value: number, fixed: boolean, isQuiet: boolean}} Op a `cas` writes its value over a 0; what a quiet one reads is not told */
/** @typedef {{name: string, says: string, threads: {name: string, ops: Op[]}[], bad: string, fear: string}} Program `bad`: what the reads return, in the order of the threads */

/** @param {Kind} kind @param {string} at @param {number} [value] @returns {Op} */
const op = (kind, at, value = 1) => ({ kind, at, value, fixed: false, isQuiet: kind === "store" });
/** @param {Op} op @returns {Op} */
const plain = (op) => ({ ...op, fixed: true });
/** @param {Op} op @returns {Op} */
const quiet = (op) => ({ ...op, isQuiet: true });
/** @param {string} at */
const load = (at) => op("load", at);
/** @param {string} at */
const store = (at) => op("store", at);
/** @param {string} name @param {Op[]} ops */
const thread = (name, ...ops) => ({ name, ops });

/** @param {string} name @param {Op} second @returns {Program} */
const unparks = (name, second) => ({
  name,
  says: "Two threads unpark a third. The token is in state, where 1 is NOTIFIED, and the news of unparker 2 is in ready.",
  threads: [thread("unparker 1", quiet(op("swap", "state"))), thread("unparker 2", plain(store("ready")), second), thread("parker", op("swap", "state", 0), plain(load("ready")))],
  bad: "1 1 0",
  fear: "unparker 2 finds the token there already, and the parker takes it without seeing the news",
});

/** @type {Record<string, Program>} */
export const PROGRAMS = {
  mp: {
    name: "Message passing",
    says: "A writer stores data and then sets a flag. A reader looks at the flag and then at the data.",
    threads: [thread("writer", plain(store("data")), store("flag")), thread("reader", load("flag"), plain(load("data")))],
    bad: "1 0",
    fear: "the reader sees the flag but not the data",
  },
  sb: {
    name: "Store buffering",
    says: "Each thread writes, and then reads what the other writes.",
    threads: [thread("left", store("x"), load("y")), thread("right", store("y"), load("x"))],
    bad: "0 0",
    fear: "each thread misses the other's write",
  },
  parked: {
    name: "A push, and a worker that parks",
    says: "A pusher publishes a task and looks for a parked worker. The worker counts itself as parked and looks into the queue.",
    threads: [thread("pusher", store("queue"), load("parked")), thread("worker", quiet(op("swap", "parked")), load("queue"))],
    bad: "0 0",
    fear: "the task waits beside a parked worker",
  },
  unpark: unparks("Two unparks, by compare-exchange", op("cas", "state")),
  swap: unparks("Two unparks, by swap", op("swap", "state")),
  lb: {
    name: "Load buffering",
    says: "Each thread reads, and then writes what the other reads.",
    threads: [thread("left", load("x"), store("y")), thread("right", load("y"), store("x"))],
    bad: "1 1",
    fear: "each sees the other's write, although both read before they write",
  },
};

/** What an ordering does, as bits: of a fence, 0 means that there is none. */
export const ACQUIRE = 1;
export const RELEASE = 2;
export const SEQ = 4;
export const ORDERINGS = new Map([
  [0, "Relaxed"],
  [1, "Acquire"],
  [2, "Release"],
  [3, "AcqRel"],
  [7, "SeqCst"],
]);
/** The ordering of a compare-exchange that fails: a load, which releases nothing. @param {number} order */
export const failing = (order) => (order < SEQ ? order & ACQUIRE : order);
const ALLOWED = { load: [0, 1, 7], store: [0, 2, 7], swap: [0, 1, 2, 3, 7], cas: [0, 1, 2, 3, 7], fence: [0, 1, 2, 7] };

/** @typedef {{thread: number, op: Op | undefined, line: number, choices: number[]}} Slot without an `op`, where a fence may stand */

/** Everything in a program that has an ordering, thread by thread. @param {Program} program @returns {Slot[]} */
export function slotsOf({ threads }) {
  return threads.flatMap(({ ops }, thread) =>
    ops.flatMap((op, index) => {
      const slot = { thread, op, line: index + 1, choices: op.fixed ? [0] : ALLOWED[op.kind] };
      return index === 0 ? [slot] : [{ thread, op: undefined, line: index, choices: ALLOWED.fence }, slot];
    }),
  );
}

/** The orderings that can be chosen for all operations at once. */
export const PRESETS = [
  { id: "relaxed", name: "Relaxed" },
  { id: "pairs", name: "Release / Acquire" },
  { id: "seqcst", name: "SeqCst" },
  { id: "fences", name: "Relaxed, SeqCst fences" },
];

/** @param {Program} program @param {string} id of a preset @returns {number[]} for each slot */
export function preset(program, id) {
  const strongest = { relaxed: 0, pairs: 3, seqcst: 7 }[id] ?? 0;
  return slotsOf(program).map(({ op, choices }) => (op ? Math.max(...choices.filter((one) => one <= strongest)) : id === "fences" ? SEQ + 3 : 0));
}

/** `0201`: a digit for each slot. @param {Program} program @param {string | undefined} text */
export function orderingsIn(program, text) {
  const slots = slotsOf(program);
  const chosen = [...(text ?? "")].map(Number);
  return chosen.length === slots.length && slots.every(({ choices }, index) => choices.includes(chosen[index] ?? -1)) ? chosen : undefined;
}

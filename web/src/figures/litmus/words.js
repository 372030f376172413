// What can happen, as sentences.

import { listed } from "../format.js";
import { JUDGES } from "./model.js";
import { ORDERINGS, PRESETS, failing, preset, slotsOf } from "./programs.js";

/** @typedef {import("./programs.js").Program} Program */
/** @typedef {import("./model.js").Outcome} Outcome */
/** @typedef {import("./model.js").Witness} Witness */
/** @typedef {{thread: number, does: string, overtakes: string}} Step */

export const START = "Every value is 0 at first.";
export const NAME = { rust: "Rust", x86: "x86-64", arm: "ARM" };
export const MODEL = "Computed, not measured: every execution is judged by the axioms of C++20 (which are Rust's), x86-TSO and Armv8. In a machine's column, “can” means that the architecture permits it; your machine may never do it. For the two machines, the compiler is assumed to keep the program's order, which it must do only as far as the orderings ask: if it doesn't, x86-64 can show more. For ARM, it's also assumed to emit the weakest instructions that will do: ldapr for an Acquire load, and a loop for a read-modify-write.";

/** What each read returns: the thread, and for instance `flag = 1`. @param {Program} program @param {string} key */
export function partsOf({ threads }, key) {
  const values = key.split(" ");
  return threads.flatMap(({ ops }, thread) => ops.filter(({ isQuiet }) => !isQuiet).map(({ at }) => ({ thread, at }))).map(({ thread, at }, index) => ({ thread, text: `${at} = ${values[index]}` }));
}

/** `reader: flag = 1, data = 0` @param {Program} program @param {string} key */
export function labelOf(program, key) {
  const parts = partsOf(program, key);
  return program.threads.flatMap(({ name }, thread) => {
    const own = parts.filter((part) => part.thread === thread).map(({ text }) => text);
    return own.length > 0 ? [`${name} reads ${own.join(", ")}`] : [];
  }).join("; ");
}

/** @param {Program} program @param {number[]} orders */
export function choiceOf(program, orders) {
  return PRESETS.find(({ id }) => String(preset(program, id)) === String(orders))?.name ?? "as chosen";
}

/** @param {Program} program @param {import("./model.js").Event[]} clash */
function clashOf({ threads }, clash) {
  const [one, other, first, second] = clash.map(({ op, at }) => (op ? `${at}.${nameOf(op)}` : "fence"));
  const [giver, taker] = clash.map(({ thread }) => threads[thread]?.name);
  return `${giver}'s ${one} releases what ${taker}'s ${other} acquires, so ${first} happens before ${second}, ${clash[3]?.isRead ? "which can't return an older value" : "and can't return what is written there"}`;
}

/** @param {Program} program @param {Outcome} outcome */
export function verdict(program, { can, why, clash }) {
  const machines = JUDGES.filter((judge) => judge !== "rust");
  const [able, unable] = [true, false].map((is) => machines.filter((judge) => can[judge] === is).map((judge) => NAME[judge]));
  if (can.rust) return `Yes: Rust's memory model allows it, ${able?.length ? `and ${listed(able)} can show it${unable?.length ? `; ${listed(unable)} can't` : ""}` : "although neither machine can show it"}.`;
  const reason = {
    hb: clashOf(program, clash),
    sc: "all SeqCst operations and fences have a single order, and in each one that's possible, a thread sees a write that it misses here",
    one: "whatever the order of the writes to each location, the reads can't return this",
    "": "",
  }[why];
  return `No: ${reason}.`;
}

/** What the figure shows, in a sentence. @param {Program} program @param {number[]} orders @param {Outcome | undefined} outcome */
export function conclusion(program, orders, outcome) {
  if (!outcome) return "";
  const which = outcome.key === program.bad ? program.fear : labelOf(program, outcome.key);
  return `${program.name}, ${choiceOf(program, orders)}. Can it happen that ${which}? ${verdict(program, outcome)}`;
}

/** @param {import("./programs.js").Op} op */
function nameOf({ kind }) {
  return kind === "cas" ? "compare_exchange" : kind;
}

/** The code of a slot up to its ordering, and after it. @param {import("./programs.js").Slot} slot @param {number} order */
export function codeOf({ op }, order) {
  if (!op) return { before: "", after: "" };
  const { kind, at, value } = op;
  const given = { load: "", store: `${value}, `, swap: `${value}, `, cas: `0, ${value}, ` }[kind];
  return { before: `${at}.${nameOf(op)}(${given}`, after: kind === "cas" ? `, ${ORDERINGS.get(failing(order))})` : ")" };
}

/** @param {import("./programs.js").Slot} slot @param {number} order */
export function orderOf({ op }, order) {
  const name = ORDERINGS.get(order);
  return op ? name : order === 0 ? "no fence" : `fence(${name})`;
}

/** The lines of each thread, as they stand. @param {Program} program @param {number[]} orders */
export function codeLines(program, orders) {
  const slots = slotsOf(program);
  return program.threads.map((_, thread) => slots.flatMap((slot, index) => {
    const order = orders[index] ?? 0;
    const { before, after } = codeOf(slot, order);
    return slot.thread === thread && (slot.op || order) ? [`${before}${orderOf(slot, order)}${after}`] : [];
  }));
}

/** @param {Witness} witness @returns {Step[]} */
export function stepsOf({ events, accesses }) {
  const all = accesses.flatMap((access, place) => {
    const event = events[access.event];
    // The two halves of a read-modify-write are one step where nothing comes between them.
    const isSecond = access.writes && accesses[place - 1]?.event === access.event;
    const isWhole = access.writes === access.reads || accesses[place + 1]?.event === access.event;
    return event?.op && !isSecond ? [{ ...access, ...event, op: event.op, place, isWhole }] : [];
  });
  return all.map((one) => {
    const { op, thread, line, reads, isWhole } = one;
    const seen = events[one.source]?.value;
    const does = one.isRead && one.isWrite && isWhole ? `${op.at}: ${seen} → ${op.value}` : reads ? `reads ${op.at}: ${seen}` : `${op.at} = ${op.value}`;
    const late = all.find((other) => other.thread === thread && other.line < line && other.place > one.place);
    return { thread, does, overtakes: late ? `before ${late.op.at} ${late.writes ? `= ${late.op.value}` : "is read"}` : "" };
  });
}

/** @param {Outcome} outcome */
export function heading({ witness, can }) {
  if (!witness) return "No execution has this outcome.";
  return {
    steps: "How: one step after the other.",
    x86: "How, on x86-64, as memory sees it: a store waits in its core's store buffer while a later load is performed.",
    arm: "How, on ARM, as memory sees it: a core may perform accesses in another order where no ordering forbids it.",
    rust: `How: each read returns the value shown here${can.x86 || can.arm ? "" : ", although neither machine can do that"}.`,
  }[witness.kind];
}

/** @param {Program} program @param {number[]} orders @param {Outcome[]} all @param {Outcome | undefined} chosen */
export function sentences(program, orders, all, chosen) {
  const can = all.filter(({ can }) => can.rust).length;
  return [`${program.says} ${START} The outcome to fear is “${labelOf(program, program.bad)}”: ${program.fear}.`, conclusion(program, orders, chosen), `Of ${all.length} outcomes, Rust's model allows ${can}.`];
}

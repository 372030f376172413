// Which outcomes a program can have, by trying every execution: which write each
// read returns, and in which order the writes to each location come. An execution
// is judged by the axioms of three models:
//
// - C++20's [intro.races], [atomics.order] and [atomics.fences], which are Rust's;
// - x86-TSO (Owens, Sarkar and Sewell, 2009), for the instructions that rustc emits;
// - Armv8 (Pulte and others, 2018), for the weakest that will do: `ldapr` for Acquire
//   (where the target may lack it, rustc emits `ldar`, which promises more), `ldar` for
//   SeqCst, `stlr`, `dmb`, and a loop of `ldxr` and `stxr` for a read-modify-write
//   (newer cores have single instructions, which promise more).
//
// A machine is taken to run the lines in the order of the program: what a compiler
// reorders before that is only in the first model.

import { ACQUIRE, RELEASE, SEQ, failing, slotsOf } from "./programs.js";

/** @typedef {import("./programs.js").Program} Program */
/** @typedef {"rust" | "x86" | "arm"} Judge */
/** @typedef {{thread: number, op: import("./programs.js").Op | undefined, line: number, at: string, order: number, isRead: boolean, isWrite: boolean, value: number, source: number}} Event
 *     `value`: what it writes; `source`: the event whose write it reads, or -1 */
/** @typedef {{event: number, reads: boolean, writes: boolean}} Access */
/** @typedef {{kind: "steps" | "x86" | "arm" | "rust", events: Event[], accesses: Access[]}} Witness an execution, its accesses in the order in which the memory sees them */
/** @typedef {{key: string, can: Record<Judge, boolean>, why: "" | "hb" | "sc" | "one", clash: Event[], witness: Witness | undefined}} Outcome `why` the first model forbids it; `clash`: for "hb", what releases and what acquires it, and the accesses before and after these whose values contradict that */

/** @type {Judge[]} */
export const JUDGES = ["rust", "x86", "arm"];

/** A relation on n things: of each, the set of those that it leads to, as bits. @param {number} n @param {(from: number, to: number) => unknown} holds @returns {number[]} */
function relation(n, holds) {
  return Array.from({ length: n }, (_, from) => {
    let set = 0;
    for (let to = 0; to < n; to += 1) if (holds(from, to)) set |= 1 << to;
    return set;
  });
}

/** @param {number[]} sets */
function closure(sets) {
  const all = [...sets];
  for (let middle = 0; middle < all.length; middle += 1) {
    for (let from = 0; from < all.length; from += 1) if (has(all, from, middle)) all[from] = (all[from] ?? 0) | (all[middle] ?? 0);
  }
  return all;
}

/** @param {number[]} sets @param {number} from @param {number} to */
function has(sets, from, to) {
  return (((sets[from] ?? 0) >> to) & 1) === 1;
}

/** @param {number[]} sets */
function isAcyclic(sets) {
  return closure(sets).every((_, index, all) => !has(all, index, index));
}

/** The events before anything is read: the first values, and then the operations and fences. @param {Program} program @param {number[]} orders @returns {Event[]} */
function eventsOf(program, orders) {
  const slots = slotsOf(program);
  const places = [...new Set(slots.flatMap(({ op }) => (op ? [op.at] : [])))];
  const first = places.map((at) => ({ thread: -1, op: undefined, line: 0, at, order: 0, isRead: false, isWrite: true, value: 0, source: -1 }));
  const own = slots.map(({ thread, op, line }, index) => ({ thread, op, line, at: op?.at ?? "", order: orders[index] ?? 0, isRead: op !== undefined && op.kind !== "store", isWrite: op !== undefined && op.kind !== "load", value: op?.value ?? 0, source: -1 }));
  return [...first, ...own.filter(({ op, order }) => op || order)];
}

/** Every choice of one from each list. @template T @param {T[][]} lists @returns {T[][]} */
function product(lists) {
  return lists.reduce((all, list) => all.flatMap((one) => list.map((next) => [...one, next])), /** @type {T[][]} */ ([[]]));
}

/** @param {number[]} list @returns {number[][]} */
function permutations(list) {
  return list.length < 2 ? [list] : list.flatMap((one) => permutations(list.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}

/** Executions in which each read returns something that was written, and a read-modify-write the value just before its own. @param {Program} program @param {number[]} orders @returns {{events: Event[], place: number[]}[]} `place`: of each write in the order of its location */
function executions(program, orders) {
  const first = eventsOf(program, orders);
  const reads = first.flatMap(({ isRead }, index) => (isRead ? [index] : []));
  const sources = reads.map((read) => first.flatMap(({ isWrite, at }, index) => (isWrite && index !== read && at === first[read]?.at ? [index] : [])));
  return product(sources).flatMap((chosen) => {
    const events = first.map((event, index) => {
      const source = event.isRead ? (chosen[reads.indexOf(index)] ?? -1) : -1;
      const fails = event.op?.kind === "cas" && first[source]?.value !== 0;
      return { ...event, source, isWrite: event.isWrite && !fails, order: fails ? failing(event.order) : event.order };
    });
    if (events.some(({ source }) => source >= 0 && !events[source]?.isWrite)) return [];
    const starts = events.flatMap(({ thread }, index) => (thread < 0 ? [index] : []));
    const orders = starts.map((start) => permutations(events.flatMap(({ isWrite, at, thread }, index) => (isWrite && thread >= 0 && at === events[start]?.at ? [index] : []))).map((rest) => [start, ...rest]));
    return product(orders).flatMap((all) => {
      /** @type {number[]} */
      const place = [];
      for (const order of all) order.forEach((write, index) => (place[write] = index));
      const isWhole = events.every(({ isRead, isWrite, source }, index) => !(isRead && isWrite) || place[index] === (place[source] ?? 0) + 1);
      return isWhole ? [{ events, place }] : [];
    });
  });
}

/** @param {{events: Event[], place: number[]}} execution */
function judged({ events, place }) {
  const n = events.length;
  const of = (/** @type {number} */ index) => /** @type {Event} */ (events[index]);
  /** @param {number} from @param {number} to */
  const before = (from, to) => from < to && of(to).thread >= 0 && (of(from).thread < 0 || of(from).thread === of(to).thread);
  /** Reads-from, the order of the writes, and from a read to the writes after the one that it returns. @param {number} from @param {number} to */
  const talks = (from, to) => {
    const [one, other] = [of(from), of(to)];
    if (from === to || one.at !== other.at) return false;
    const isRead = other.isRead && other.source === from;
    return isRead || (other.isWrite && ((one.isWrite && (place[from] ?? 0) < (place[to] ?? 0)) || (one.isRead && (place[one.source] ?? 0) < (place[to] ?? 0))));
  };
  const isFence = (/** @type {number} */ index) => !of(index).op && of(index).thread >= 0;
  const does = (/** @type {number} */ index, /** @type {number} */ what) => (of(index).order & what) !== 0;

  // C++20. A release sequence: a write, and the read-modify-writes that follow it.
  /** @param {number} read @returns {number[]} */
  const heads = (read) => (of(read).source < 0 ? [] : [of(read).source, ...heads(of(read).source)]);
  const releases = (/** @type {number} */ from, /** @type {number} */ head) => does(from, RELEASE) && (isFence(from) ? before(from, head) : from === head);
  const acquires = (/** @type {number} */ read, /** @type {number} */ to) => does(to, ACQUIRE) && (isFence(to) ? before(read, to) : read === to);
  const synchronizes = relation(n, (from, to) => events.some((_, read) => acquires(read, to) && heads(read).some((head) => releases(from, head))));
  const happens = closure(relation(n, (from, to) => before(from, to) || has(synchronizes, from, to)));
  const talk = closure(relation(n, talks));
  const isCoherent = (/** @type {number[]} */ order) => order.every((_, from) => !has(order, from, from) && order.every((_, to) => !(has(order, from, to) && has(talk, to, from))));
  const one = talk.every((_, index) => !has(talk, index, index)) && isCoherent(closure(relation(n, before)));
  const hb = one && isCoherent(happens);
  const strongly = closure(relation(n, (from, to) => before(from, to) || (has(synchronizes, from, to) && does(from, SEQ) && does(to, SEQ)) || events.some((_, x) => before(from, x) && events.some((_, y) => has(happens, x, y) && before(y, to)))));
  /** @param {number} index @param {number} end */
  const ahead = (index, end) => index === end || (isFence(index) && has(happens, index, end));
  /** @param {number} end @param {number} index */
  const behind = (end, index) => index === end || (isFence(index) && has(happens, end, index));
  const single = relation(n, (from, to) => from !== to && does(from, SEQ) && does(to, SEQ) && (has(strongly, from, to) || events.some((_, a) => ahead(from, a) && events.some((_, b) => has(talk, a, b) && behind(b, to)))));
  const sc = hb && isAcyclic(single);

  // The machines.
  const steps = relation(n, (from, to) => before(from, to) || talks(from, to));
  const isLoad = (/** @type {number} */ index) => of(index).op?.kind === "load";
  /** All others are locked instructions, or an `mfence`. */
  const isBuffered = (/** @type {number} */ index) => of(index).op?.kind === "store" && !does(index, SEQ);
  const isEmitted = (/** @type {number} */ index) => !isFence(index) || does(index, SEQ);
  const buffered = relation(n, (from, to) => (talks(from, to) && !(of(to).source === from && of(from).thread === of(to).thread)) || (before(from, to) && isEmitted(from) && isEmitted(to) && !(isBuffered(from) && isLoad(to))));
  /** @type {Access[]} */
  const accesses = events.flatMap(({ isRead, isWrite }, event) => (isRead && isWrite ? [{ event, reads: true, writes: false }, { event, reads: false, writes: true }] : [{ event, reads: isRead, writes: isWrite }]));
  const isStrong = (/** @type {number} */ index) => does(index, SEQ) || (does(index, ACQUIRE) && !isLoad(index));
  const ordered = relation(accesses.length, (from, to) => {
    const [p, q] = /** @type {[Access, Access]} */ ([accesses[from], accesses[to]]);
    if (p.event === q.event) return p.reads && q.writes;
    if (of(p.event).thread !== of(q.event).thread) {
      if (q.reads) return p.writes && of(q.event).source === p.event;
      return q.writes && of(p.event).at === of(q.event).at && (place[p.writes ? p.event : of(p.event).source] ?? 0) < (place[q.event] ?? 0);
    }
    if (!before(p.event, q.event)) return false;
    if (isFence(p.event)) return true;
    if (isFence(q.event)) return does(q.event, RELEASE) || p.reads;
    return (p.reads && does(p.event, ACQUIRE)) || (q.writes && does(q.event, RELEASE)) || (p.writes && does(p.event, RELEASE) && q.reads && isStrong(q.event));
  });
  const whole = events.map((event, index) => ({ event: index, reads: event.isRead, writes: event.isWrite }));
  return {
    one,
    hb,
    can: { rust: sc, x86: one && isAcyclic(buffered), arm: one && isAcyclic(ordered) },
    steps: isAcyclic(steps) ? steps : undefined,
    /** Called only where it's needed, which is rare. */
    clash: () => {
      const all = events.map((_, index) => index);
      const pairs = product([all, all]);
      const synchronized = pairs.filter(([from = 0, to = 0]) => has(synchronizes, from, to));
      const contrary = pairs.filter(([from = 0, to = 0]) => has(talk, to, from));
      const [found = []] = product([synchronized, contrary]).map((two) => two.flat()).filter(([one = 0, other = 0, from = 0, to = 0]) => (one === from || before(from, one)) && (other === to || before(other, to)));
      return found.map(of);
    },
    orders: { steps: { order: steps, accesses: whole }, x86: { order: buffered, accesses: whole }, arm: { order: ordered, accesses }, rust: { order: [], accesses: whole } },
  };
}

/** The accesses in an order that keeps to the relation, and else to the program. @param {number[]} order @param {Access[]} accesses */
function sorted(order, accesses) {
  const left = accesses.map((_, index) => index);
  /** @type {Access[]} */
  const done = [];
  while (left.length > 0) {
    const next = left.findIndex((to) => left.every((from) => !has(order, from, to)));
    done.push(.../** @type {Access[]} */ (left.splice(next, 1).map((index) => accesses[index])));
  }
  return done;
}

/**
 * Every outcome in which each read returns a value that is written somewhere.
 *
 * @param {Program} program
 * @param {number[]} orders for each slot
 * @returns {Outcome[]}
 */
export function outcomes(program, orders) {
  /** @type {Map<string, Outcome & {rank: number}>} */
  const found = new Map();
  const ops = program.threads.flatMap(({ ops }) => ops);
  const values = ops.filter(({ isQuiet }) => !isQuiet).map(({ at }) => [...new Set([0, ...ops.flatMap((op) => (op.at === at && op.kind !== "load" ? [op.value] : []))])]);
  for (const chosen of product(values)) {
    found.set(chosen.join(" "), { key: chosen.join(" "), can: { rust: false, x86: false, arm: false }, why: "one", clash: [], witness: undefined, rank: 9 });
  }
  for (const execution of executions(program, orders)) {
    const { events } = execution;
    const outcome = found.get(events.flatMap(({ source, op }) => (!op || op.isQuiet ? [] : [events[source]?.value])).join(" "));
    const { one, hb, can, steps, clash, orders } = judged(execution);
    if (!outcome) continue;
    for (const judge of JUDGES) outcome.can[judge] ||= can[judge];
    if (hb) outcome.why = "sc";
    else if (one && outcome.why === "one") Object.assign(outcome, { why: "hb", clash: clash() });
    const kind = steps ? "steps" : can.x86 ? "x86" : can.arm ? "arm" : "rust";
    const rank = ["steps", "x86", "arm", "rust"].indexOf(kind);
    if (rank >= outcome.rank || !(can.rust || can.x86 || can.arm)) continue;
    const { order, accesses } = orders[kind];
    Object.assign(outcome, { rank, witness: { kind, events, accesses: kind === "rust" ? accesses : sorted(order, accesses) } });
  }
  return [...found.values()].map(({ rank: _, ...outcome }) => ({ ...outcome, why: outcome.can.rust ? "" : outcome.why }));
}

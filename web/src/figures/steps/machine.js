// Programs that take one step at a time, in every order. All of it is values.

import { Unreadable } from "../unreadable.js";
import { fieldOf } from "./fields.js";

/** @typedef {import("./read.js").Value} Value */
/** @typedef {import("./read.js").Steps} Steps */
/** @typedef {import("./read.js").Case} Case */
/** @typedef {import("./read.js").Line} Line */
/** @typedef {{at: number[], values: Value[], failed: string}} State the next line of each thread, and the values of the cells */

/**
 * What is known of a state.
 *
 * @typedef {object} Node
 * @property {State} state
 * @property {{thread: number, key: string}[]} next
 * @property {"" | "done" | "deadlock" | "failure"} end
 * @property {number} distance steps to the nearest failure; `Infinity` if there is none
 * @property {number | undefined} orders how many lead on from here; nothing if they may go in circles
 * @property {number | undefined} failing how many of them fail
 */

/** @typedef {{nodes: Map<string, Node>, first: Node, kind: "hang" | "failure", canFail: boolean, values: Set<Value>[]}} Solution */

/** What a page solves within moments. */
const MOST_STATES = 20_000;

/** @param {Steps} steps @returns {State} */
export function firstOf({ programs, cells }) {
  return { at: programs.map(() => 0), values: cells.map(({ initial }) => initial), failed: "" };
}

/** @param {State} state */
export function keyOf({ at, values, failed }) {
  return JSON.stringify([at, values, failed]);
}

/** What a thread would do next, if it can. @param {Steps} steps @param {State} state @param {number} thread @returns {{line: Line, happens: Case | undefined} | undefined} nothing if it has ended */
export function nextOf({ programs }, { at, values }, thread) {
  const line = programs[thread]?.[at[thread] ?? Infinity];
  return line && { line, happens: line.cases.find(({ when }) => holds(when, values)) };
}

/** @param {import("./read.js").Condition[]} when @param {Value[]} values */
function holds(when, values) {
  return when.every(([cell, value, field]) => (field ? fieldOf(values[cell], field) : values[cell]) === value);
}

/** @param {Steps} steps @param {State} state @param {number} thread @returns {State | undefined} */
export function stepped(steps, state, thread) {
  const happens = state.failed ? undefined : nextOf(steps, state, thread)?.happens;
  if (!happens) return undefined;
  const values = [...state.values];
  for (const [cell, update] of happens.set) values[cell] = update(state.values, values[cell]);
  return { at: state.at.map((line, index) => (index === thread ? happens.to : line)), values, failed: happens.fails };
}

/** How a state ends, if nothing can happen any more. @param {Steps} steps @param {State} state @returns {Node["end"]} */
function endOf(steps, state) {
  if (state.failed) return "failure";
  const ahead = steps.threads.map((_, thread) => nextOf(steps, state, thread));
  if (ahead.some((next) => next?.happens)) return "";
  return ahead.every((next) => !next || (next.line.rests && holds(next.line.rests, state.values))) ? "done" : "deadlock";
}

/** Tries every order. @param {Steps} steps @returns {Solution} */
export function solve(steps) {
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  const values = steps.cells.map(() => new Set(/** @type {Value[]} */ ([])));
  const find = (/** @type {State} */ state) => {
    const key = keyOf(state);
    if (!nodes.has(key)) {
      if (nodes.size === MOST_STATES) throw new Unreadable(`These programs have more than ${MOST_STATES} states: make them smaller.`);
      nodes.set(key, { state, next: [], end: endOf(steps, state), distance: Infinity, orders: undefined, failing: undefined });
      state.values.forEach((value, cell) => values[cell]?.add(value));
    }
    return key;
  };
  const first = find(firstOf(steps));
  // A map goes through what is added meanwhile, too.
  for (const node of nodes.values()) {
    steps.threads.forEach((_, thread) => {
      const state = stepped(steps, node.state, thread);
      if (state) node.next.push({ thread, key: find(state) });
    });
  }
  measure(nodes);
  count(nodes);
  const fails = steps.programs.flat().some(({ cases }) => cases.some((one) => one.fails));
  const node = /** @type {Node} */ (nodes.get(first));
  return { nodes, first: node, values, kind: fails ? "failure" : "hang", canFail: node.distance < Infinity };
}

/** How far each state is from a failure, backward from those. @param {Map<string, Node>} nodes */
function measure(nodes) {
  const before = predecessors(nodes);
  let layer = [...nodes.values()].filter(({ end }) => end === "deadlock" || end === "failure");
  for (let distance = 0; layer.length > 0; distance += 1) {
    for (const node of layer) node.distance = distance;
    const earlier = new Set(layer.flatMap(({ state }) => before.get(keyOf(state)) ?? []));
    layer = [...earlier].flatMap((key) => nodes.get(key) ?? []).filter((node) => node.distance === Infinity);
  }
}

/** @param {Map<string, Node>} nodes */
function predecessors(nodes) {
  /** @type {Map<string, string[]>} */
  const before = new Map([...nodes.keys()].map((key) => [key, []]));
  for (const [key, { next }] of nodes) for (const to of next) before.get(to.key)?.push(key);
  return before;
}

/** How many orders lead on from each state, unless one may go in circles. @param {Map<string, Node>} nodes */
function count(nodes) {
  const open = new Map([...nodes].map(([key, { next }]) => [key, next.length]));
  const before = predecessors(nodes);
  const ready = [...nodes].filter(([, { next }]) => next.length === 0).map(([key]) => key);
  for (let key = ready.pop(); key !== undefined; key = ready.pop()) {
    const node = /** @type {Node} */ (nodes.get(key));
    const sum = (/** @type {"orders" | "failing"} */ what) => node.next.reduce((total, to) => total + (nodes.get(to.key)?.[what] ?? 0), 0);
    node.orders = node.end ? 1 : sum("orders");
    node.failing = node.end ? Number(node.end !== "done") : sum("failing");
    for (const earlier of before.get(key) ?? []) {
      const left = (open.get(earlier) ?? 0) - 1;
      open.set(earlier, left);
      if (left === 0) ready.push(earlier);
    }
  }
}

/** The shortest way from a state to a failure, as threads. @param {Solution} solution @param {Node} from @returns {number[]} */
export function failingOrder({ nodes }, from) {
  const order = [];
  for (let node = from; node.distance > 0 && node.distance < Infinity; ) {
    const { distance } = node;
    const step = node.next.find(({ key }) => nodes.get(key)?.distance === distance - 1);
    if (!step) break;
    order.push(step.thread);
    node = /** @type {Node} */ (nodes.get(step.key));
  }
  return order;
}

/** As much of an order as the programs can take. @param {Steps} steps @param {number[]} order @returns {{order: number[], states: State[]}} `states` has one more, the first */
export function follow(steps, order) {
  const states = [firstOf(steps)];
  const taken = [];
  for (const thread of order) {
    const state = stepped(steps, /** @type {State} */ (states.at(-1)), thread);
    if (!state) break;
    states.push(state);
    taken.push(thread);
  }
  return { order: taken, states };
}

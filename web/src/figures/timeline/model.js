// What the reader has chosen, as a value; every change makes a new one.

import { parseTime } from "../format.js";

/** @typedef {import("./derive.js").Timeline} Timeline */
/** @typedef {import("./derive.js").Poll} Poll */

/**
 * @typedef {object} State
 * @property {"task" | "worker"} view
 * @property {number} at the cursor, in ns
 * @property {number} from
 * @property {number} to
 * @property {{panel: number, poll: number} | undefined} selected
 * @property {"asking" | "shown"} phase
 * @property {number | undefined} guess
 */

/**
 * @typedef {{type: "seek", at: number} | {type: "select", panel: number, poll: number, show?: boolean} | {type: "deselect"}
 *   | {type: "view", view: "task" | "worker"} | {type: "zoom", factor: number, around?: number} | {type: "all"} | {type: "range", from: number, to: number}
 *   | {type: "guess", at: number} | {type: "reveal", guessed: boolean}} Action
 */

const ZOOM_MOST = 1e-4;
const MARGIN = 0.02;
/** A poll one jumps to is at least this part of what is shown. */
const JUMP_PART = 1 / 40;

/**
 * @param {State} state
 * @param {Action} action
 * @param {Timeline[]} panels
 * @returns {State}
 */
export function step(state, action, panels) {
  const end = endOf(panels);
  switch (action.type) {
    case "seek":
      return { ...state, at: clamp(action.at, 0, end) };
    case "select": {
      const poll = panels[action.panel]?.polls[action.poll];
      if (!poll) return state;
      const selected = { ...state, selected: { panel: action.panel, poll: action.poll }, at: poll.start };
      return action.show ? bringIntoView(selected, poll, end) : selected;
    }
    case "deselect":
      return { ...state, selected: undefined };
    case "view":
      return { ...state, view: action.view };
    case "zoom":
      return zoom(state, action.factor, end, action.around);
    case "range":
      return { ...state, ...within(action.from, action.to - action.from, end) };
    case "all":
      return { ...state, from: startOf(panels), to: end };
    case "guess":
      return { ...state, guess: clamp(action.at, 0, end) };
    case "reveal":
      return { ...state, phase: "shown", guess: action.guessed ? state.guess : undefined };
  }
}

/** @param {Timeline[]} panels */
export function endOf(panels) {
  return Math.max(1, ...panels.map((panel) => panel.end));
}

/** Where the picture begins: a little before the first event. @param {Timeline[]} panels */
export function startOf(panels) {
  const first = panels.length > 0 ? Math.min(...panels.map((panel) => panel.first)) : 0;
  return Math.max(0, first - (endOf(panels) - first) * MARGIN);
}

/** @param {State} state @param {number} factor below 1 shows less @param {number} end @param {number} [around] what keeps its place on the screen: by default the cursor */
function zoom(state, factor, end, around = state.at) {
  const width = clamp((state.to - state.from) * factor, end * ZOOM_MOST, end);
  const middle = around >= state.from && around <= state.to ? around : (state.from + state.to) / 2;
  const part = (middle - state.from) / (state.to - state.from);
  return { ...state, ...within(middle - part * width, width, end) };
}

/** A part of the time as wide as wanted, within what there is. @param {number} from @param {number} wanted @param {number} end */
function within(from, wanted, end) {
  const width = clamp(wanted, end * ZOOM_MOST, end);
  const start = clamp(from, 0, end - width);
  return { from: start, to: start + width };
}

/** @param {State} state @param {Poll} poll @param {number} end */
function bringIntoView(state, poll, end) {
  const from = Math.min(poll.readyAt, poll.start);
  const length = poll.end - from;
  const width = state.to - state.from;
  if (from >= state.from && poll.end <= state.to && length >= width * JUMP_PART) return state;
  const wanted = clamp(length >= width * JUMP_PART ? Math.max(width, length * 1.5) : length / JUMP_PART, end * ZOOM_MOST, end);
  const start = clamp((from + poll.end - wanted) / 2, 0, end - wanted);
  return { ...state, from: start, to: start + wanted };
}

export function clamp(/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * The poll that `longest-wait`, `longest-poll` or `poll:NAME:3` stands for.
 *
 * @param {string | undefined} words
 * @param {Timeline[]} panels
 * @param {import("./words.js").Statistics[]} found
 * @returns {{panel: number, poll: Poll} | undefined}
 */
export function pollCalled(words, panels, found) {
  if (words === "longest-poll") return worst(found.map(({ longestPoll }) => longestPoll), "self");
  if (words === "longest-wait") return worst(found.map(({ longestWait }) => longestWait), "waited");
  const match = /^poll:(.+):(\d+)$/.exec(words ?? "");
  if (!match) return undefined;
  const panel = panels.findIndex(({ tasks }) => tasks.some(({ name }) => name === match[1]));
  const poll = panels[panel]?.tasks.find(({ name }) => name === match[1])?.polls[Number(match[2]) - 1];
  return poll && { panel, poll };
}

/** @param {(Poll | undefined)[]} polls one a panel @param {"self" | "waited"} by */
function worst(polls, by) {
  let panel = -1;
  polls.forEach((poll, index) => {
    if (poll && poll[by] > (polls[panel]?.[by] ?? -1)) panel = index;
  });
  const poll = polls[panel];
  return poll && { panel, poll };
}

/**
 * What `data-predict` asks for: a time, and where its lane is covered.
 *
 * @param {string | undefined} words
 * @param {Timeline[]} panels
 * @returns {{panel: number, task: number, from: number, answer: number} | undefined}
 */
export function questionOf(words, panels) {
  const ending = /^end:(.+)$/.exec(words ?? "");
  if (!ending) {
    const asked = pollCalled(words, panels, []);
    if (!asked) return undefined;
    const { panel, poll } = asked;
    const before = panels[panel]?.byId.get(poll.task)?.polls[poll.number - 2];
    return { panel, task: poll.task, from: before?.end ?? 0, answer: poll.start };
  }
  const panel = panels.findIndex(({ tasks }) => tasks.some(({ name }) => name === ending[1]));
  const task = panels[panel]?.tasks.find(({ name }) => name === ending[1]);
  const [first, last] = [task?.polls[0], task?.polls.at(-1)];
  return task && first && last && { panel, task: task.id, from: first.start, answer: last.end };
}

/**
 * `0ms..12ms`, within what there is.
 *
 * @param {string | undefined} words
 * @param {number} end
 * @param {number} [start] where it begins if nothing is said
 * @returns {{from: number, to: number}}
 */
export function rangeOf(words, end, start = 0) {
  const [from, to] = (words ?? "").split("..").map(parseTime);
  if (from === undefined || to === undefined || to <= from || from >= end) return { from: start, to: end };
  return { from, to: Math.min(to, end) };
}

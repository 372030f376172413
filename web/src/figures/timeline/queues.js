// The queues in the picture: below each worker how many tasks lie in its own, at
// the foot the global one, and arrows where tasks move from one to another.

import { nothing, svg } from "lit/html.js";
import { rectangle, round, staircase } from "../paths.js";
import { GLOBAL, lengthAt } from "./moves.js";

/** @typedef {import("./view.js").Panel} Panel */
/** @typedef {import("./view.js").Plan} Plan */
/** @typedef {import("./view.js").Row} Row */
/** @typedef {import("./moves.js").Step} Step */

/** Of a worker's queue, below its blocks; and of the global one. */
export const STRIP = 17;
export const FOOT = 30;
const HEIGHT = 12;
const GAP = 3;
/** Arrows between the same two queues are at least so far apart, in pixels. */
const APART = 4;
const MOST_COUNTS = 40;
const COUNT_ROOM = 16;
const CHIP = 7;
const CHIP_ROOM = 9;
const MOST_CHIPS = 16;
/** Tasks that move are on their way for such a part of what is shown. */
const FLIGHT_PART = 1 / 25;

/** Whether there is a global queue to draw. @param {Step[]} steps */
export function hasGlobal(steps) {
  return steps.some(({ owner }) => owner === GLOBAL);
}

/** The greatest length of the workers' queues, or of the global one. @param {Step[]} steps @param {boolean} global */
export function longest(steps, global) {
  return steps.reduce((most, { owner, length }) => (global === (owner === GLOBAL) ? Math.max(most, length) : most), 1);
}

/** The strip of a worker. @param {Row} row @param {Panel} panel @param {Plan} planned @param {number} top of the strip */
export function strip({ lane: { worker } }, { timeline: { steps, end } }, planned, top) {
  if (worker === undefined || worker < 0) return nothing;
  const area = areaOf(steps.filter(({ owner }) => owner === worker), longest(steps, false), end, planned, top + GAP);
  return svg`<path class="queue" d=${area}></path>${planned.narrow ? nothing : svg`<text class="queue-name" x="0" y=${top + HEIGHT}>its queue</text>`}`;
}

/** The global queue at the foot. @param {Panel} panel @param {Plan} planned */
export function foot({ timeline: { steps, end }, footY }, planned) {
  if (footY === undefined) return nothing;
  const area = areaOf(steps.filter(({ owner }) => owner === GLOBAL), longest(steps, true), end, planned, footY + 9);
  const { left, right, narrow } = planned;
  return svg`<line class="lane-line" x1=${left} x2=${right} y1=${footY + 9.5 + HEIGHT} y2=${footY + 9.5 + HEIGHT}></line>
    <path class="queue" d=${area}></path>
    <text class="queue-name back" x="0" y=${narrow ? footY + 4 : footY + 8 + HEIGHT}>global queue</text>`;
}

/** @param {Step[]} steps @param {number} most @param {number} end @param {Plan} planned @param {number} top */
function areaOf(steps, most, end, { x, left, right }, top) {
  const base = top + HEIGHT;
  const y = (/** @type {number} */ length) => base - (HEIGHT * length) / most;
  const before = steps.findLast(({ t }) => x(t) < left);
  /** @type {[number, number][]} */
  const places = [[left, y(before?.length ?? 0)]];
  for (const { t, length } of steps) {
    const place = x(t);
    if (place < left || place > right) continue;
    const last = /** @type {[number, number]} */ (places.at(-1));
    // Of several steps in one pixel the highest is seen.
    if (place - last[0] < 1 && places.length > 1) last[1] = Math.min(last[1], y(length));
    else places.push([place, y(length)]);
  }
  if (places.length === 1 && !before) return "";
  const stop = Math.min(x(end), right);
  return `M${left} ${base}V${round(places[0]?.[1] ?? base)}${staircase(places).replace(/^M[^HV]*/, "")}H${round(stop)}V${base}Z`;
}

/** The middle of a queue, if it's drawn. @param {Panel} panel @param {number} owner */
function queueAt({ rows, footY }, owner) {
  const strip = rows.find(({ lane }) => lane.worker === owner)?.stripY;
  return owner === GLOBAL ? footY && footY + 9 + HEIGHT / 2 : strip && strip + GAP + HEIGHT / 2;
}

/** From whose queue tasks move to whose. @param {import("./moves.js").Move} move @returns {[number, number] | undefined} */
function wayOf({ kind, worker, arg }) {
  return kind === "steal" ? [arg, worker] : kind === "overflow" ? [worker, GLOBAL] : kind === "take" ? [GLOBAL, worker] : undefined;
}

/** At the cursor the tasks of each queue, as chips; those that a worker has just moved are on their way. @param {Panel} panel @param {Plan} planned @param {number} at */
export function chips(panel, { x, right }, at) {
  const { moves, steps } = panel.timeline;
  const [from = 0, to = 0] = x.domain;
  const flight = (to - from) * FLIGHT_PART;
  const flying = moves.flatMap((move) => {
    const way = move.t <= at && at < move.t + flight ? wayOf(move) : undefined;
    return way ? [{ way, count: move.count, part: (at - move.t) / flight }] : [];
  });
  const row = (/** @type {number} */ count, /** @type {number} */ y) => {
    const many = Math.min(count, MOST_CHIPS);
    const start = Math.min(x(at) + 5, right - many * CHIP_ROOM);
    return Array.from({ length: many }, (_, index) => rectangle(start + index * CHIP_ROOM, round(y - CHIP / 2), CHIP, CHIP)).join("");
  };
  const lying = [GLOBAL, ...panel.rows.flatMap(({ lane: { worker } }) => worker ?? [])].map((owner) => {
    const coming = flying.reduce((sum, { way, count }) => (way[1] === owner ? sum + count : sum), 0);
    const y = queueAt(panel, owner);
    return y ? row(Math.max(0, lengthAt(steps, owner, at) - coming), y) : "";
  });
  const moving = flying.map(({ way, count, part }) => {
    const [start, end] = way.map((owner) => queueAt(panel, owner));
    return start && end ? row(count, start + (end - start) * part) : "";
  });
  return svg`<path class="queue-chips" d=${[...lying, ...moving].join("")}></path>`;
}

/** Where tasks move, and who wakes whom to help. @param {Panel} panel @param {Plan} planned */
export function arrows(panel, { x, left, right }) {
  const { timeline: { moves }, rows, top } = panel;
  const rowOf = (/** @type {number} */ worker) => rows.find(({ lane }) => lane.worker === worker);
  /** @type {Map<string, number>} */
  const lastAt = new Map();
  const isFree = (/** @type {string} */ key, /** @type {number} */ place) => {
    const isSeen = place >= left && place <= right && place - (lastAt.get(key) ?? -Infinity) >= APART;
    if (isSeen) lastAt.set(key, place);
    return isSeen;
  };
  /** @type {string[]} */
  const carried = [];
  /** @type {string[]} */
  const called = [];
  /** @type {unknown[]} */
  const counts = [];
  for (const move of moves) {
    const { t, kind, worker, arg, count } = move;
    const place = x(t);
    const way = wayOf(move);
    if (way) {
      const [from = 0, to = 0] = way.map((owner) => queueAt(panel, owner));
      if (!from || !to || !isFree(`${way}`, place)) continue;
      carried.push(arrow(place, from, to));
      const hasRoom = isFree(`count ${way[1]}`, place) && place + COUNT_ROOM < right && counts.length < MOST_COUNTS;
      if (hasRoom && count > 1) counts.push(svg`<text class="queue-count back" x=${round(place + 5)} y=${to + 5}>${count}</text>`);
    } else if (kind === "notify") {
      const [from, to] = [rowOf(worker), rowOf(arg)];
      if (!to || !isFree(`notify ${worker} ${arg}`, place)) continue;
      const start = from ? from.y + (from.y < to.y ? 24 : -2) : top - 4;
      called.push(arrow(place, start, to.y + (start < to.y ? -1 : 24)));
    }
  }
  return svg`${called.length ? svg`<path class="notify" d=${called.join("")}></path>` : nothing}
    ${carried.length ? svg`<path class="carried" d=${carried.join("")}></path>` : nothing}${counts}`;
}

/** @param {number} x @param {number} from @param {number} to */
function arrow(x, from, to) {
  const back = to > from ? -5 : 5;
  return `M${round(x)} ${round(from)}V${round(to)}m-3.5 ${back}l3.5 ${-back}l3.5 ${back}`;
}

/** A dotted line where a worker searches. @param {Row} row @param {Panel} panel @param {Plan} planned */
export function searches({ lane: { worker }, y }, { timeline }, { x, left, right }) {
  const path = timeline.searches
    .filter((search) => search.worker === worker)
    .map(({ start, end }) => [Math.max(x(start), left), Math.min(x(end), right)])
    .filter(([from = 0, to = 0]) => to - from >= 1)
    .map(([from = 0, to = 0]) => `M${round(from)} ${y + 13}H${round(to)}`)
    .join("");
  return path ? svg`<path class="searching" d=${path}></path>` : nothing;
}

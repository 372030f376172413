// What a selected poll brings to the fore: the wake-ups that led to it, and
// the polls that kept it waiting.

import { nothing, svg } from "lit/html.js";
import { time } from "../format.js";
import { round } from "../paths.js";
import { BLOCK, blockPath, wakeGlyph } from "./view.js";
import { chain, holders, isLong, seenLate } from "./words.js";

/** @typedef {import("./derive.js").Poll} Poll */
/** @typedef {import("./view.js").Panel} Panel */
/** @typedef {import("./view.js").Plan} Plan */

const GLYPH = 6.4;
/** A wait shorter than this is told in words only. */
const SEEN_PX = 16;

/**
 * @param {Poll} selected
 * @param {Panel} panel
 * @param {Plan} planned
 * @param {import("./view.js").Settings} settings
 */
export function overlay(selected, panel, planned, settings) {
  const { timeline } = panel;
  const links = chain(selected, timeline);
  const held = holders(selected, timeline);
  const culprits = held.length ? held : [seenLate(selected, timeline)].filter((poll) => poll !== undefined);
  return svg`<g class="chain">
    ${culprits.map((poll) => block(poll, panel, planned, "culprit"))}
    ${links.toReversed().map((poll) => link(poll, panel, planned))}
    ${links.toReversed().map((poll) => block(poll, panel, planned, poll === selected ? "selected" : "cause"))}
    ${culprits.map((poll) => lengthLabel("keeps", poll, panel, planned))}
    ${isLong(selected, settings.longNs) ? lengthLabel("blocks", selected, panel, planned) : nothing}
    ${waitLabel(selected, panel, planned)}
  </g>`;
}

/** @param {Poll} poll @param {Panel} panel */
function rowOf(poll, { rows }) {
  return rows.find(({ lane: { task, worker, polls } }) => (task ? task.id === poll.task : worker === undefined ? polls.includes(poll) : worker === poll.worker));
}

/** @param {Poll} poll @param {Plan} planned */
function extent(poll, { x, left, right }) {
  const x0 = Math.min(Math.max(x(poll.start), left), right);
  return { x0, x1: Math.max(Math.min(x(poll.end), right), Math.min(x0 + 2, right)) };
}

/** @param {Poll} poll @param {Panel} panel @param {Plan} planned @param {string} kind */
function block(poll, panel, planned, kind) {
  const row = rowOf(poll, panel);
  const { x0, x1 } = extent(poll, planned);
  if (!row || x1 <= planned.left || x0 >= planned.right) return nothing;
  const task = panel.timeline.byId.get(poll.task);
  const d = blockPath({ x0, x1, polls: [poll], isCut: planned.x(poll.end) > planned.right }, row.y);
  const sign = x1 - x0 >= 13 ? svg`<text class=${`sign on-${task?.hue}`} x=${round(x1 - x0 > 40 ? x0 + 7 : (x0 + x1) / 2)} y=${row.y + 15.5} text-anchor=${x1 - x0 > 40 ? "start" : "middle"}>${task?.letter}</text>` : nothing;
  return svg`<path class=${`fill-${task?.hue} ${kind}`} d=${d}></path>${sign}`;
}

/** The wake-up as an arrow to the woken, and its wait as a line. @param {Poll} poll @param {Panel} panel @param {Plan} planned */
function link(poll, panel, planned) {
  const row = rowOf(poll, panel);
  const { x, left, right } = planned;
  if (!row || !poll.wake) return nothing;
  const hue = panel.timeline.byId.get(poll.task)?.hue;
  const y = row.lane.worker === undefined ? row.y + BLOCK / 2 : row.y - 3;
  const [from, to] = [Math.max(x(poll.readyAt), left), Math.min(x(poll.start), right)];
  const wait = to > from ? svg`<path class=${`wait strong stroke-${hue}`} d="M${round(from)} ${y}H${round(to)}"></path>` : nothing;
  const place = x(poll.wake.t);
  if (place < left || place > right) return wait;
  const origin = originOf(poll, panel);
  const start = origin === undefined ? row.y - 16 : origin + (origin < row.y ? BLOCK : 0);
  const tip = origin !== undefined && origin > row.y ? y : row.y - 6;
  return svg`${wait}<path class="arrow" d="M${round(place)} ${start}V${tip}"></path><path class="wake" d=${wakeGlyph(place, row.y)}></path>`;
}

/** The upper edge of the lane where the wake-up was issued, unless it is the same lane or none. @param {Poll} poll @param {Panel} panel */
function originOf({ wake, ...poll }, { rows }) {
  const from = rows.find(({ lane: { task, worker } }) => (task ? task.id === wake?.by : worker !== undefined && worker === wake?.worker));
  const isOwn = from?.lane.task ? from.lane.task.id === poll.task : from?.lane.worker === poll.worker;
  return from && !isOwn ? from.y : undefined;
}

/** @param {string} does @param {Poll} poll @param {Panel} panel @param {Plan} planned */
function lengthLabel(does, poll, panel, planned) {
  const row = rowOf(poll, panel);
  const { x0, x1 } = extent(poll, planned);
  const hue = panel.timeline.byId.get(poll.task)?.hue;
  const length = time(poll.end - poll.start);
  const words = [`${does} ${poll.worker < 0 ? "its thread" : `W${poll.worker}`} for ${length}`, length].find((text) => 26 + text.length * GLYPH <= x1 - x0);
  if (!row || !words) return nothing;
  return svg`<text class=${`long-label inside on-${hue}`} x=${round(x0 + 24)} y=${row.y + 15.5}>${words}</text>`;
}

/** @param {Poll} poll @param {Panel} panel @param {Plan} planned */
function waitLabel(poll, panel, { x, left, right }) {
  const row = rowOf(poll, panel);
  if (!row || poll.waited <= 0) return nothing;
  const words = `waits ${time(poll.waited)}`;
  const half = (words.length * GLYPH) / 2;
  const [from, to] = [Math.max(x(poll.readyAt), left), Math.min(x(poll.start), right)];
  if (to - from < SEEN_PX) return nothing;
  const middle = (from + to) / 2;
  const place = Math.min(Math.max(middle, left + half), right - half);
  const y = row.lane.worker === undefined ? row.y + BLOCK / 2 - 5 : row.y - 6;
  return svg`<text class="wait-label back" x=${round(place)} y=${y} text-anchor="middle">${words}</text>`;
}

// The third panel of a sweep: what the worker did at the chosen N, where that was
// recorded. The same stretch of time for every N, so that the turns can be compared.

import { html, nothing } from "lit/html.js";
import { count, grouped, listed, time } from "../format.js";
import { derive } from "../timeline/derive.js";
import { parseTrace } from "../timeline/read.js";
import { picture } from "../timeline/view.js";

/** @typedef {import("../timeline/derive.js").Timeline} Timeline */
/** @typedef {Map<number, Timeline>} Turns by N */

/** The N of a trace's name: `yield-now-stripes-256`. @param {string} name */
export function numberOf(name) {
  return Number(/\d+$/.exec(name)?.[0] ?? NaN);
}

/** @param {{name: string, text: string}[]} documents @returns {Turns} */
export function readTurns(documents) {
  return new Map(documents.map(({ name, text }) => /** @type {[number, Timeline]} */ ([numberOf(name), derive(parseTrace(text))])).filter(([n]) => n > 0));
}

/** From shortly after the start: first there is little to see. @param {Timeline} timeline @param {Turns} turns */
function stretch({ polls, first }, turns) {
  const start = polls.find(({ self }, index) => index > 0 && self > 0)?.start ?? first;
  const width = Math.min(...[...turns.values()].map((other) => other.end - (other.polls[0]?.start ?? other.first)));
  return { from: start, to: start + width * 0.9 };
}

/** What the panel shows, in words. @param {number} n @param {string} x @param {Turns} turns */
export function turnsSentence(n, x, turns) {
  const timeline = turns.get(n);
  if (!timeline) return "";
  const { from, to } = stretch(timeline, turns);
  const seen = timeline.polls.filter(({ start, end }) => end > from && start < to);
  const lengths = seen.map(({ self }) => self).sort((one, other) => one - other);
  const cost = timeline.trace.eventCostNs === undefined ? "" : ` (recording takes ${timeline.trace.eventCostNs} ns an event of that)`;
  return `A worker at ${x} = ${grouped(n)}: ${count(seen.length, "poll")} in ${time(to - from)}, half of them longer than ${time(lengths[lengths.length >> 1] ?? 0)}${cost}.`;
}

/**
 * @param {number} n
 * @param {string} x
 * @param {Turns} turns
 * @param {{width: number, id: string}} settings
 */
export function turnsPicture(n, x, turns, { width, id }) {
  const timeline = turns.get(n);
  if (!timeline) return nothing;
  const state = { view: /** @type {const} */ ("worker"), at: 0, ...stretch(timeline, turns), selected: undefined, phase: /** @type {const} */ ("shown"), guess: undefined };
  return picture([timeline], state, { width, id, longNs: Infinity, tasks: [], titles: [], label: turnsSentence(n, x, turns), question: undefined, queues: false, still: true });
}

/**
 * @param {number} n
 * @param {string} x
 * @param {Turns} turns
 * @param {{width: number, id: string}} settings
 * @param {(n: number) => void} go
 */
export function turnsPanel(n, x, turns, settings, go) {
  if (turns.size === 0) return nothing;
  const others = [...turns.keys()].filter((other) => other !== n).sort((one, other) => one - other);
  const link = (/** @type {number} */ other) => html`<button type="button" class="ws-button" @click=${() => go(other)}>${x} = ${grouped(other)}</button>`;
  const said = turnsSentence(n, x, turns) || `The worker was not recorded at ${x} = ${grouped(n)}, only at ${listed(others.map(grouped))}.`;
  return html`<div class="fig-turns"><div class="fig-bar"><span class="fig-said">${said}</span>${others.map(link)}</div>${turnsPicture(n, x, turns, settings)}</div>`;
}

// A sweep as a picture: throughput above, waits below, one axis for both.

import { nothing, svg } from "lit/html.js";
import { grouped, time } from "../format.js";
import { polyline, ribbon, round } from "../paths.js";
import { linear, logarithmic } from "../scale.js";
import { allowed, modelRate, modelWait } from "./model.js";

/** @typedef {import("./read.js").Sweep} Sweep */
/** @typedef {import("./read.js").Point} Point */
/** @typedef {import("./model.js").State} State */
/** @typedef {{sweep: Sweep, label: string, isOwn: boolean}} Curve */

/**
 * @typedef {object} Settings
 * @property {number} width
 * @property {string} xLabel
 * @property {string} items
 * @property {string} label the conclusion
 * @property {boolean} [still] without the handle
 */

/**
 * @typedef {object} Plan
 * @property {number} left
 * @property {number} right
 * @property {{top: number, bottom: number}} upper
 * @property {{top: number, bottom: number}} lower
 * @property {number} height
 * @property {import("../scale.js").Scale} x
 * @property {import("../scale.js").Scale} rate
 * @property {import("../scale.js").Scale} wait
 * @property {boolean} narrow
 */

const NARROW = 520;
const TITLE = 24;
const AXIS = 44;
const MOST_DOTS = 40;
const HEADROOM = 1.08;
/** Dots of one N lie beside each other, not on a line. */
const JITTER = [-4, 2, -1, 4, -3, 1, 3, -2, 0];
const MODEL_STEPS = 48;

/**
 * @param {Curve[]} curves
 * @param {Settings} settings
 * @returns {Plan}
 */
export function plan(curves, { width }) {
  const narrow = width < NARROW;
  const [left, right] = [narrow ? 46 : 58, width - (narrow ? 24 : 20)];
  const points = curves.flatMap(({ sweep }) => sweep.points);
  const least = Math.min(...points.map(({ n }) => n));
  const most = Math.max(...points.map(({ n }) => n));
  const upper = { top: TITLE, bottom: TITLE + (narrow ? 150 : 180) };
  const lower = { top: upper.bottom + 16 + TITLE, bottom: upper.bottom + 16 + TITLE + (narrow ? 170 : 210) };
  const waits = points.flatMap(({ waits, p10, p50, p90 }) => [waits[0], waits[Math.floor(waits.length * 0.99)], p10, p50, p90]).filter((wait) => wait !== undefined && wait > 0);
  const [shortest, longest] = waits.length ? [Math.min(.../** @type {number[]} */ (waits)), Math.max(.../** @type {number[]} */ (waits))] : [100, 1e6];
  return {
    left,
    right,
    upper,
    lower,
    height: lower.bottom + AXIS,
    x: logarithmic([least / 1.3, most * 1.3], [left, right]),
    rate: linear([0, Math.max(...points.map(({ high }) => high)) * HEADROOM], [upper.bottom, upper.top]),
    wait: logarithmic([shortest / 1.5, longest * 1.5], [lower.bottom, lower.top]),
    narrow,
  };
}

/** @param {Curve[]} curves @param {State} state @param {Settings} settings */
export function picture(curves, state, settings) {
  const planned = plan(curves, settings);
  const { height } = planned;
  const asking = state.phase === "asking";
  const first = curves[0];
  return svg`<svg class="fig-picture sweep" viewBox="0 0 ${settings.width} ${height}" width=${settings.width} height=${height} role="img" aria-label=${settings.label}>
    ${asking || !first ? nothing : permitted(first.sweep, state, planned)}
    ${axes(planned, curves, settings, asking)}
    ${asking ? nothing : curves.map((curve, hue) => curvePicture(curve, hue, curves.length, planned))}
    ${asking || !state.costs ? nothing : model(state.costs, planned)}
    ${first ? guessed(first.sweep, state, planned) : nothing}
    ${asking || !first ? nothing : budgetLine(state, planned)}
    ${asking || settings.still || !first ? nothing : handle(first.sweep, state, planned)}
  </svg>`;
}

/** @param {Plan} planned @param {Curve[]} curves @param {Settings} settings @param {boolean} asking */
function axes(planned, curves, { items, xLabel }, asking) {
  const { x, left, right, upper, lower, height, narrow } = planned;
  const peak = curves[0]?.sweep.peak ?? 1;
  const rate = asking ? linear([0, (100 * planned.rate.domain[1]) / peak], planned.rate.range) : planned.rate;
  const [factor, unit] = asking ? [1, ""] : rate.domain[1] >= 1e6 ? [1e6, "million "] : rate.domain[1] >= 1e3 ? [1e3, "thousand "] : [1, ""];
  const scaled = linear([0, rate.domain[1] / factor], rate.range);
  const title = asking ? "throughput, % of its peak" : `throughput, ${unit}${items} a second`;
  return svg`<g class="axis">
    <text class="title" x="0" y=${upper.top - 9}>${title}</text>
    ${scaled.ticks(4).map((tick) => rule(left, right, scaled(tick), asking ? `${tick} %` : String(tick)))}
    <text class="title" x="0" y=${lower.top - 9}>wait of a victim, from wake-up to poll</text>
    ${decades(planned.wait).map((tick) => rule(left, right, planned.wait(tick), time(tick)))}
    ${powers(x, narrow).map((n) => svg`<line class="grid" x1=${round(x(n))} x2=${round(x(n))} y1=${lower.bottom} y2=${lower.bottom + 5}></line>
      <text x=${round(x(n))} y=${lower.bottom + 19} text-anchor="middle">${grouped(n)}</text>`)}
    <line class="line" x1=${left} x2=${right} y1=${upper.bottom} y2=${upper.bottom}></line>
    <line class="line" x1=${left} x2=${right} y1=${lower.bottom} y2=${lower.bottom}></line>
    <text class="unit" x=${right} y=${height - 6} text-anchor="end">${xLabel}</text>
  </g>`;
}

/** @param {number} left @param {number} right @param {number} y @param {string} text */
function rule(left, right, y, text) {
  return svg`<line class="grid" x1=${left} x2=${right} y1=${round(y)} y2=${round(y)}></line><text x=${left - 7} y=${round(y + 4)} text-anchor="end">${text}</text>`;
}

/** @param {import("../scale.js").Scale} scale */
function decades(scale) {
  const [low, high] = scale.domain;
  const first = Math.ceil(Math.log10(low));
  const all = Array.from({ length: Math.max(0, Math.floor(Math.log10(high)) - first + 1) }, (_, index) => 10 ** (first + index));
  return all.length >= 2 ? all : scale.ticks(3);
}

/** Powers of two, as many as there is room for. @param {import("../scale.js").Scale} x @param {boolean} narrow */
function powers(x, narrow) {
  const [low, high] = x.domain;
  const [from, to] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
  const apart = Math.ceil((to - from + 1) / (narrow ? 5 : 10));
  return Array.from({ length: Math.floor((to - from) / apart) + 1 }, (_, index) => 2 ** (from + index * apart));
}

/** @param {Curve} curve @param {number} hue @param {number} curves @param {Plan} planned */
function curvePicture({ sweep: { points }, label, isOwn }, hue, curves, { x, rate, wait, right, lower }) {
  const withWaits = points.filter(({ p50 }) => p50 !== undefined && p50 > 0);
  const bounded = withWaits.filter(({ p10, p90 }) => p10 && p90);
  const rates = polyline(points.map(({ n, rate: median }) => [x(n), rate(median)]));
  const medians = polyline(withWaits.map(({ n, p50 }) => [x(n), wait(p50 ?? 1)]));
  const band = ribbon(bounded.map(({ n, p90 }) => [x(n), wait(p90 ?? 1)]), bounded.map(({ n, p10 }) => [x(n), wait(p10 ?? 1)]));
  const bars = points.filter(({ low, high }) => high > low).map(({ n, low, high }) => `M${round(x(n))} ${round(rate(low))}V${round(rate(high))}`).join("");
  const last = points.at(-1);
  const kind = isOwn ? "own" : "";
  return svg`<g class=${`curve hue-${hue % 6} ${kind}`}>
    <path class="band" d=${band}></path>
    <path class="dots" d=${dots(points, x, wait, lower)}></path>
    <path class="bars" d=${bars}></path>
    <path class="median" d=${rates}></path>
    <path class="median" d=${medians}></path>
    ${points.map(({ n, rate: median }) => svg`<circle cx=${round(x(n))} cy=${round(rate(median))} r="3.2"></circle>`)}
    ${withWaits.map(({ n, p50 }) => svg`<circle cx=${round(x(n))} cy=${round(wait(p50 ?? 1))} r="3.2"></circle>`)}
    ${curves > 1 && last ? svg`<text class="curve-label back" x=${right} y=${round(rate(last.rate) - 9 + (hue % 2 ? 26 : 0))} text-anchor="end">${label}</text>` : nothing}
  </g>`;
}

/** Every wait, or a fair choice of them, as a point. @param {Point[]} points @param {(n: number) => number} x @param {(wait: number) => number} wait @param {{top: number, bottom: number}} lower */
function dots(points, x, wait, { top, bottom }) {
  return points
    .flatMap(({ n, waits }) => {
      const step = Math.max(1, waits.length / MOST_DOTS);
      const chosen = Array.from({ length: Math.min(waits.length, MOST_DOTS) }, (_, index) => waits[Math.floor(index * step)] ?? 0);
      return chosen.map((sample, index) => ({ px: x(n) + (JITTER[index % JITTER.length] ?? 0), py: sample > 0 ? wait(sample) : bottom }));
    })
    .filter(({ py }) => py >= top && py <= bottom)
    .map(({ px, py }) => `M${round(px)} ${round(py)}h0`)
    .join("");
}

/** @param {import("./model.js").Costs} costs @param {Plan} planned */
function model(costs, { x, rate, wait, left, right, upper, lower }) {
  const all = Array.from({ length: MODEL_STEPS + 1 }, (_, index) => x.invert(left + ((right - left) * index) / MODEL_STEPS));
  const clipped = (/** @type {number[]} */ values, /** @type {(n: number) => number} */ y, /** @type {{top: number, bottom: number}} */ { top, bottom }) =>
    polyline(values.filter((n) => y(n) >= top - 1 && y(n) <= bottom + 1).map((n) => [x(n), y(n)]));
  return svg`<path class="model" d=${clipped(all, (n) => rate(modelRate(costs, n)), upper)}></path>
    <path class="model" d=${clipped(all, (n) => wait(modelWait(costs, n)), lower)}></path>`;
}

/** What the budget permits. @param {Sweep} sweep @param {State} state @param {Plan} planned */
function permitted(sweep, { budget }, { x, wait, left, upper, lower }) {
  if (budget === undefined) return nothing;
  const index = allowed(sweep, budget);
  const n = index === undefined ? undefined : sweep.points[index]?.n;
  if (n === undefined) return nothing;
  const width = round(x(n) - left + 6);
  const top = Math.max(lower.top, Math.min(wait(budget), lower.bottom));
  return svg`<rect class="permitted" x=${left} y=${upper.top} width=${width} height=${upper.bottom - upper.top}></rect>
    <rect class="permitted" x=${left} y=${round(top)} width=${width} height=${round(lower.bottom - top)}></rect>`;
}

/** @param {State} state @param {Plan} planned */
function budgetLine({ budget }, { wait, left, right, lower }) {
  if (budget === undefined) return nothing;
  const y = wait(budget);
  if (y < lower.top || y > lower.bottom) return nothing;
  return svg`<path class="budget" d="M${left} ${round(y)}H${right}"></path>
    <text class="budget-label back" x=${left + 8} y=${round(y - 6)}>at most ${time(budget)}</text>`;
}

/** @param {Sweep} sweep @param {State} state @param {Plan} planned */
function guessed({ points, peak }, { shares, waits, phase }, { x, rate, wait, left, right, upper, lower }) {
  const known = (/** @type {(number | undefined)[]} */ values) => points.flatMap(({ n }, index) => (values[index] === undefined ? [] : [{ n, value: /** @type {number} */ (values[index]) }]));
  const [byShare, byWait] = [known(shares), known(waits)];
  const path = (/** @type {{n: number, value: number}[]} */ values, /** @type {(value: number) => number} */ y) =>
    polyline(values.map(({ n, value }) => [x(n), y(value)]));
  const hint = (/** @type {{top: number, bottom: number}} */ { top, bottom }) =>
    svg`<text class="guess-label" x=${(left + right) / 2} y=${(top + bottom) / 2} text-anchor="middle">draw your curve here</text>`;
  const dots = (/** @type {{n: number, value: number}[]} */ values, /** @type {(value: number) => number} */ y) =>
    values.map(({ n, value }) => svg`<circle class="grip" cx=${round(x(n))} cy=${round(y(value))} r="4"></circle>`);
  const asking = phase === "asking";
  return svg`<path class="guess drawn" d=${path(byShare, (value) => rate(value * peak))}></path>
    <path class="guess drawn" d=${path(byWait, (value) => wait(value))}></path>
    ${asking ? svg`${dots(byShare, (value) => rate(value * peak))}${dots(byWait, (value) => wait(value))}` : nothing}
    ${asking && byShare.length === 0 ? hint(upper) : nothing}${asking && byWait.length === 0 ? hint(lower) : nothing}`;
}

/** @param {Sweep} sweep @param {State} state @param {Plan} planned */
function handle({ points }, { at }, { x, rate, wait, upper, lower }) {
  const point = points[at];
  if (!point) return nothing;
  const place = round(x(point.n));
  return svg`<g class="cursor"><line x1=${place} x2=${place} y1=${upper.top - 4} y2=${lower.bottom}></line><path d="M${place - 5} ${upper.top - 8}h10l-5 7z"></path></g>
    <circle class="chosen" cx=${place} cy=${round(rate(point.rate))} r="5.5"></circle>
    ${point.p50 ? svg`<circle class="chosen" cx=${place} cy=${round(wait(point.p50))} r="5.5"></circle>` : nothing}`;
}

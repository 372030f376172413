// Runs as a picture: for each worker, what is in its slot and its queue at the
// time of the cursor, and beside that what it does when.

import { nothing, svg } from "lit/html.js";
import { rectangle, round } from "../paths.js";
import { linear } from "../scale.js";
import { spansOf, stateAt } from "./derive.js";
import { CAPACITY, KIND, OUTSIDE } from "./model.js";
import { us } from "./names.js";
import { doing, nameOf } from "./words.js";

/** @typedef {import("./run.js").Run} Run */
/** @typedef {{title: string, run: Run}} Panel */
/** @typedef {{at: number, width: number, id: string, label: string}} Settings */

const WIDE = 620;
const TITLE = 26;
const HEADS = 16;
const ROW = 32;
const BLOCK = 20;
const WAIT = 20;
const AXIS = 34;
const GAP = 14;
const STATE = 68;
const NAME = 26;
const TICK = 80;
const LETTER = 9;
const RIGHT = 16;
const SIGN = 7.4;
const LETTERS = 6.3;

/** Where everything stands. @param {Panel[]} panels @param {Settings} settings */
export function layout(panels, { width }) {
  const isWide = width >= WIDE;
  const stateWidth = isWide ? Math.round(Math.min(330, width * 0.42)) : width;
  const cell = Math.min(20, Math.floor((stateWidth - NAME - STATE - 14) / (CAPACITY + 1)));
  const left = isWide ? stateWidth + 14 : 34;
  const end = Math.max(...panels.map(({ run }) => Math.max(run.meters.end, 1)));
  const x = linear([0, end], [left, width - RIGHT]);
  let y = 0;
  const placed = panels.map(({ title, run }) => {
    const top = y;
    y += TITLE;
    const hasOutside = run.events.some(([, kind]) => kind === KIND.injected);
    const order = [...(hasOutside ? [OUTSIDE] : []), ...Array.from({ length: run.settings.workers }, (_, worker) => worker)];
    /** @param {boolean} withHeads @param {boolean} withWait */
    const rows = (withHeads, withWait) => order.map((who) => {
      if (who === 0 && withHeads) y += HEADS;
      const row = { who, y };
      y += ROW + (withWait && run.meters.waiter?.worker === who && run.meters.longest > 0 ? WAIT : 0);
      return row;
    });
    const states = isWide ? undefined : rows(true, false);
    const lanes = rows(isWide, true);
    const bottom = y;
    y += GAP;
    return { title, run, top, states: states ?? lanes, lanes, bottom };
  });
  return { panels: placed, x, left, right: width - RIGHT, cell, stateWidth, isWide, end, axisY: y - GAP + 6, height: y - GAP + AXIS };
}

/** @typedef {ReturnType<typeof layout>} Plan */
/** @typedef {Plan["panels"][0]} Placed */

/** @param {Panel[]} panels @param {Settings} settings */
export function picture(panels, settings) {
  const { at, width, id, label } = settings;
  const plan = layout(panels, settings);
  const cursor = round(plan.x(at));
  return svg`<svg class="fig-picture scheduler" role="img" aria-label=${label} viewBox=${`0 0 ${width} ${plan.height}`} width=${width} height=${plan.height}>
    <defs><pattern id=${`${id}-hatch`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe" width="6" height="6"></rect><rect class="hatch" width="1.6" height="6"></rect></pattern></defs>
    ${axis(plan)}
    ${plan.panels.map((panel) => panelOf(panel, plan, at, id))}
    ${plan.panels.map(({ lanes, bottom }) => svg`<path class="cursor" d=${`M${cursor} ${(lanes[0]?.y ?? 0) - 4}V${bottom}`}></path>`)}</svg>`;
}

/** @param {Plan} plan */
function axis({ x, left, right, axisY, panels, end }) {
  const ticks = x.ticks(Math.max(2, Math.floor((right - left) / TICK)));
  return svg`<g class="axis">${ticks.map((tick) => svg`${panels.map(({ lanes, bottom }) => svg`<line class="grid" x1=${round(x(tick))} x2=${round(x(tick))} y1=${(lanes[0]?.y ?? 0) - 2} y2=${bottom}></line>`)}
      <text x=${round(x(tick))} y=${axisY + 12} text-anchor="middle">${tick / 10}</text>`)}
    <line class="line" x1=${left} x2=${round(x(end))} y1=${axisY - 3} y2=${axisY - 3}></line>
    <text class="unit" x=${right} y=${axisY + 26} text-anchor="end">µs of the model's time</text></g>`;
}

/** @param {Placed} panel @param {Plan} plan @param {number} at @param {string} id */
function panelOf(panel, plan, at, id) {
  const { title, run, top, states, lanes } = panel;
  const heads = (states.find(({ who }) => who === 0)?.y ?? 0) - 4;
  const state = stateAt(run, at);
  const { cell } = plan;
  const slotX = NAME + STATE;
  const queueX = slotX + (run.settings.parts.slot ? cell + 8 : 0);
  return svg`<text class="title" x="0" y=${top + 16}>${title}</text>
    ${run.settings.parts.slot ? svg`<text class="queue-name" x=${slotX} y=${heads}>slot</text>` : nothing}<text class="queue-name" x=${queueX + (run.settings.parts.slot ? 6 : 0)} y=${heads}>queue</text>
    ${states.map(({ who, y }) => (who === OUTSIDE ? injector(state, y, plan) : worker(state, who, y, plan, { slotX, queueX })))}
    ${lanes.map(({ who, y }) => svg`<line class="lane-line" x1=${plan.left} x2=${plan.right} y1=${y + BLOCK + 1.5} y2=${y + BLOCK + 1.5}></line>
      ${plan.isWide ? nothing : svg`<text class="lane-name worker" x="0" y=${y + 15}>${who === OUTSIDE ? "↓" : `W${who}`}</text>`}`)}
    ${moves(panel, plan)}${spans(panel, plan, id)}${longest(panel, plan)}`;
}

/** @param {import("./model.js").State} state @param {number} y @param {Plan} plan */
function injector(state, y, { cell, stateWidth }) {
  const room = Math.floor((stateWidth - NAME - STATE - 30) / cell);
  const { injector: tasks } = state;
  const shown = tasks.length > room ? tasks.slice(0, room) : tasks;
  return svg`<text class="lane-name worker" x="0" y=${y + 15}>injector</text>
    <path class="queue-edge" d=${`M${NAME + STATE} ${y - 1}h${room * cell}m0 ${BLOCK + 2}h${-room * cell}`}></path>
    ${shown.map((task, index) => chip(state, task, NAME + STATE + index * cell, y, cell))}
    ${tasks.length > shown.length ? svg`<text class="queue-count" x=${NAME + STATE + room * cell + 4} y=${y + 15}>+${tasks.length - shown.length}</text>` : nothing}`;
}

/** @param {import("./model.js").State} state @param {number} index @param {number} y @param {Plan} plan @param {{slotX: number, queueX: number}} places */
function worker(state, index, y, { cell }, { slotX, queueX }) {
  const { slot, queue, phase } = /** @type {import("./model.js").Worker} */ (state.workers[index]);
  const hasSlot = state.settings.parts.slot;
  return svg`<text class="lane-name worker" x="0" y=${y + 15}>W${index}</text><text class=${phase === "poll" ? "doing" : "doing soft"} x=${NAME} y=${y + 15}>${doing(state, index)}</text>
    ${hasSlot ? svg`<path class="slot-edge" d=${`M${slotX} ${y}h${cell - 6}l5 5v${BLOCK - 5}h${1 - cell}z`}></path>` : nothing}
    ${hasSlot && slot >= 0 ? chip(state, slot, slotX, y, cell) : nothing}
    <path class="queue-edge" d=${Array.from({ length: CAPACITY }, (_, place) => rectangle(queueX + place * cell, y, cell - 1, BLOCK)).join("")}></path>
    ${queue.map((task, place) => chip(state, task, queueX + place * cell, y, cell))}`;
}

/** @param {import("./model.js").State} state @param {number} task @param {number} x @param {number} y @param {number} cell */
function chip(state, task, x, y, cell) {
  return svg`<rect class=${`fill-${task % 6}`} x=${x + 0.5} y=${y + 0.5} width=${cell - 2} height=${BLOCK - 1} rx="3"></rect><text class=${`sign on-${task % 6}`} x=${x + cell / 2 - 0.5} y=${y + 15} text-anchor="middle">${nameOf(state, task)}</text>`;
}

/** What each worker does when. @param {Placed} panel @param {Plan} plan @param {string} id */
function spans({ run, lanes }, { x, end }, id) {
  const state = /** @type {import("./run.js").Moment} */ (run.moments[0]).state;
  const yOf = new Map(lanes.map(({ who, y }) => [who, y]));
  return spansOf(run, end).map(({ kind, worker, start, end, task }) => {
    const y = yOf.get(worker) ?? 0;
    const [from, to] = [round(x(start)), round(x(end))];
    const wide = round(Math.max(to - from, 0.5));
    if (kind === "parked") return svg`<rect fill=${`url(#${id}-hatch)`} x=${from} y=${y + 5} width=${wide} height=${BLOCK - 5}></rect>`;
    if (kind === "waking") return svg`<path class="notify" d=${`M${from} ${y + BLOCK / 2}H${to}`}></path>`;
    if (kind === "search") return wide < 2 ? nothing : svg`<path class="searching" d=${`M${from} ${y + BLOCK / 2}H${to}`}></path>`;
    const name = nameOf(state, task);
    return svg`<rect class=${`fill-${task % 6}`} x=${from} y=${y} width=${round(Math.max(wide - 0.7, 0.5))} height=${BLOCK}></rect>${wide > Math.max(LETTER, name.length * SIGN + 1) ? svg`<text class=${`sign on-${task % 6}`} x=${round(from + wide / 2)} y=${y + 15} text-anchor="middle">${name}</text>` : nothing}`;
  });
}

/** Who unparks whom, which tasks move, and when tasks come from outside. @param {Placed} panel @param {Plan} plan */
function moves({ run, lanes, top }, { x }) {
  const yOf = new Map(lanes.map(({ who, y }) => [who, y]));
  const arrow = (/** @type {number} */ place, /** @type {number} */ from, /** @type {number} */ to) => `M${round(place)} ${from}V${to}m-3.5 ${to > from ? -5 : 5}l3.5 ${to > from ? 5 : -5}l3.5 ${to > from ? 5 : -5}`;
  const between = (/** @type {number} */ place, /** @type {number} */ one, /** @type {number} */ other) => {
    const [from, to] = [yOf.get(one) ?? top + TITLE, yOf.get(other) ?? top + TITLE];
    return from < to ? arrow(place, from + BLOCK, to + 1) : arrow(place, from, to + BLOCK - 1);
  };
  const notified = run.events.filter(([, kind]) => kind === KIND.notified).map(([time, , who, a]) => between(x(time), who, a));
  const carried = run.events.flatMap(([time, kind, who, a, b]) => (kind === KIND.stole ? [{ path: between(x(time), a, who), place: x(time), y: yOf.get(who) ?? 0, many: b }] : kind === KIND.took ? [{ path: between(x(time), OUTSIDE, who), place: x(time), y: yOf.get(who) ?? 0, many: a }] : []));
  const pushes = run.events.filter(([, kind]) => kind === KIND.injected).map(([time]) => `M${round(x(time) - 3)} ${(yOf.get(OUTSIDE) ?? 0) + 8}h6l-3 6z`);
  return svg`<path class="wake" d=${pushes.join("")}></path><path class="notify" d=${notified.join("")}></path><path class="carried" d=${carried.map(({ path }) => path).join("")}></path>
    ${carried.filter(({ many }) => many > 1).map(({ place, y, many }) => svg`<text class="queue-count back" x=${round(place - 4)} y=${y - 2} text-anchor="end">${many}</text>`)}`;
}

/** The longest wait, below the lane of the worker that ends it. @param {Placed} panel @param {Plan} plan */
function longest({ run, lanes }, { x, left, right }) {
  const { waiter, longest: waited } = run.meters;
  const lane = lanes.find(({ who }) => who === waiter?.worker);
  if (!waiter || !lane || waited === 0) return nothing;
  const y = lane.y + BLOCK + 8;
  const state = /** @type {import("./run.js").Moment} */ (run.moments[0]).state;
  const text = `${nameOf(state, waiter.task)} waits ${us(waited)}`;
  const [from, to] = [round(x(waiter.start)), round(x(waiter.end))];
  const wide = text.length * LETTERS;
  const start = Math.max(left, Math.min((from + to) / 2 - wide / 2, right - wide));
  return svg`<path class=${`wait strong stroke-${waiter.task % 6}`} d=${`M${from} ${y - 4}v8M${from} ${y}H${to}m0 -4v8`}></path><text class="wait-label back" x=${round(start)} y=${y + 15}>${text}</text>`;
}

/** What the signs mean. @param {Panel[]} panels @returns {{glyph: unknown, text: string}[]} */
export function signs(panels) {
  const has = (/** @type {number[]} */ ...kinds) => panels.some(({ run }) => run.events.some(([, kind]) => kinds.includes(kind)));
  /** @type {[boolean, unknown, string][]} */
  const all = [
    [true, svg`<rect class="legend-poll" x="3" y="2" width="20" height="12"></rect>`, "a poll"],
    [true, svg`<path class="legend-hatch" d="M3 13l6 -9M9 13l6 -9M15 13l6 -9"></path>`, "parked"],
    [has(KIND.notified), svg`<path class="notify" d="M4 1V14m-3.5 -5l3.5 5l3.5 -5M9 8H25"></path>`, "unparks a worker, which then wakes up"],
    [has(KIND.searched), svg`<path class="searching" d="M2 8H24"></path>`, "searches"],
    [has(KIND.stole, KIND.took), svg`<path class="carried" d="M13 1V14m-3.5 -5l3.5 5l3.5 -5"></path>`, "tasks move: stolen, or from the injector"],
    [has(KIND.injected), svg`<path class="wake" d="M9 5h8l-4 6z"></path>`, "spawned from outside"],
    [panels.some(({ run }) => run.meters.waiter && run.meters.longest > 0), svg`<path class="wait strong legend-wait" d="M2 8H24M2 4v8M24 4v8"></path>`, "the longest wait of a ready task"],
  ];
  return all.filter(([isThere]) => isThere).map(([, glyph, text]) => ({ glyph, text }));
}

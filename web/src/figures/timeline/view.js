// A timeline as a picture. Pure: the same data, state and width give the same SVG.

import { nothing, svg } from "lit/html.js";
import { axisUnit, time } from "../format.js";
import { rectangle, round } from "../paths.js";
import { linear } from "../scale.js";
import { blocksOf, lanesOf } from "./lanes.js";
import { endOf } from "./model.js";
import { overlay } from "./overlay.js";
import { FOOT, STRIP, arrows, chips, foot, hasGlobal, searches, strip } from "./queues.js";
import { isLong } from "./words.js";

/** @typedef {import("./derive.js").Timeline} Timeline */
/** @typedef {import("./derive.js").Poll} Poll */
/** @typedef {import("./lanes.js").Lane} Lane */
/** @typedef {import("./model.js").State} State */

/**
 * @typedef {object} Settings
 * @property {number} width in pixels
 * @property {string} id unique in the page, for the patterns
 * @property {number} longNs
 * @property {string[]} tasks the lanes wanted
 * @property {string[]} titles of the panels
 * @property {string} label the conclusion, for readers who don't see the picture
 * @property {ReturnType<typeof import("./model.js").questionOf>} question
 * @property {boolean} queues with what is known of the queues
 * @property {boolean} [still] without the cursor
 */

/**
 * @typedef {object} Row a lane with its place
 * @property {Lane} lane
 * @property {import("./lanes.js").Block[]} blocks
 * @property {number} y of the blocks' upper edge
 * @property {number | undefined} stripY of its queue, if that is drawn
 */

/**
 * @typedef {object} Panel
 * @property {Timeline} timeline
 * @property {number} index
 * @property {Row[]} rows
 * @property {number} top
 * @property {number} bottom
 * @property {number} titleY
 * @property {number} marksY
 * @property {number | undefined} footY of the global queue, if that is drawn
 */

/**
 * @typedef {object} Plan
 * @property {Panel[]} panels
 * @property {import("../scale.js").Scale} x
 * @property {number} left
 * @property {number} right
 * @property {number} height
 * @property {boolean} narrow
 */

export const BLOCK = 22;
const NARROW = 520;
const ROW = 33;
const LABEL_ROW = 19;
const TITLE = 26;
/** Below the lane of a question, for what was guessed. */
const GUESSED = 17;
const MARKS = 20;
const AXIS = 40;
const TICK = 90;
const QUEUE_NAME = 84;
/** Of a letter of the figures' font, in pixels: near enough to place a label. */
const GLYPH = 6.4;
/** Nearer to the picture's edge the middle of a number would be cut. */
const HALF_DIGIT = 5;
const MOST_LETTERS = 300;
const MOST_MARKS = 500;
const TICK_WIDTH = 15;
const STRIPES = 5;
const NO_EDGE = 0.5;

/**
 * Where everything stands.
 *
 * @param {Timeline[]} timelines
 * @param {State} state
 * @param {Settings} settings
 * @returns {Plan}
 */
export function plan(timelines, state, settings) {
  const narrow = settings.width < NARROW;
  const allLanes = timelines.map((timeline) => lanesOf(timeline, state.view, settings.tasks));
  const longest = Math.max(...allLanes.flat().map(({ label, task }) => label.length * GLYPH + (task ? 25 : 0)));
  const drawsQueues = (/** @type {Timeline} */ { moves }) => settings.queues && state.view === "worker" && moves.length > 0;
  const left = narrow ? 2 : Math.min(Math.max(longest + 14, timelines.some(drawsQueues) ? QUEUE_NAME : 44), 180);
  const right = settings.width - 18;
  const x = linear([state.from, state.to], [left, right]);
  let y = 4;
  const panels = timelines.map((timeline, index) => {
    const lanes = allLanes[index] ?? [];
    const withQueues = drawsQueues(timeline);
    const blocks = blocksOf(lanes, x, [left, right]);
    const titleY = y + 15;
    if (timelines.length > 1) y += TITLE;
    const marksY = y + 13;
    if (timeline.marks.length > 0) y += MARKS;
    const top = y;
    const rows = lanes.map((lane, place) => {
      if (narrow) y += LABEL_ROW;
      const withStrip = withQueues && (lane.worker ?? -1) >= 0;
      const row = { lane, blocks: blocks[place] ?? [], y: y + 8, stripY: withStrip ? y + 8 + BLOCK : undefined };
      y += ROW + (withStrip ? STRIP : 0) + (isGuessed(lane, index, state, settings) ? GUESSED : 0);
      return row;
    });
    const footY = withQueues && hasGlobal(timeline.steps) ? y : undefined;
    if (footY !== undefined) y += FOOT;
    const bottom = y;
    y += timelines.length > 1 && index < timelines.length - 1 ? 14 : 0;
    return { timeline, index, rows, top, bottom, titleY, marksY, footY };
  });
  return { panels, x, left, right, height: y + AXIS, narrow };
}

/** Whether what was guessed of the lane is told below it. @param {Lane} lane @param {number} panel @param {State} state @param {Settings} settings */
function isGuessed({ task }, panel, { phase, guess }, { question }) {
  return phase === "shown" && guess !== undefined && question?.panel === panel && question.task === task?.id;
}

/**
 * @param {Timeline[]} timelines
 * @param {State} state
 * @param {Settings} settings
 */
export function picture(timelines, state, settings) {
  const planned = plan(timelines, state, settings);
  const { panels, height } = planned;
  return svg`<svg class="fig-picture" viewBox="0 0 ${settings.width} ${height}" width=${settings.width} height=${height} role="img" aria-label=${settings.label}>
    ${patterns(settings.id)}
    ${axis(planned, timelines)}
    ${panels.map((panel) => panelPicture(panel, planned, state, settings))}
    ${settings.still || state.phase === "asking" ? nothing : cursor(planned, state)}
    ${planned.narrow ? panels.map(({ rows }) => rows.map((row) => name(row, planned))) : nothing}
  </svg>`;
}

/** @param {string} id */
function patterns(id) {
  return svg`<defs>
    <pattern id="${id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.6" height="6" class="hatch"></rect></pattern>
    <pattern id="${id}-stripe" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="2" height="6" class="stripe"></rect></pattern>
    <pattern id="${id}-cover" width="10" height="10" patternUnits="userSpaceOnUse"><rect width="10" height="10" class="cover"></rect><circle cx="5" cy="5" r="1" class="cover-dot"></circle></pattern>
  </defs>`;
}

/** @param {Plan} planned @param {Timeline[]} timelines */
function axis({ x, left, right, height, panels }, timelines) {
  const [from, to] = x.domain;
  const [factor, unit] = axisUnit(to - from);
  const scale = linear([from / factor, to / factor], [left, right]);
  const ticks = scale.ticks(Math.max(2, Math.round((right - left) / TICK)));
  const y = height - AXIS;
  const end = x(endOf(timelines));
  return svg`<g class="axis">
    ${ticks.map((tick) => svg`<line class="grid" x1=${round(scale(tick))} x2=${round(scale(tick))} y1=${panels[0]?.top ?? 0} y2=${y}></line>
      <text x=${round(Math.max(scale(tick), HALF_DIGIT))} y=${y + 16} text-anchor="middle">${String(tick)}</text>`)}
    <line class="line" x1=${left} x2=${round(Math.min(end, right))} y1=${y} y2=${y}></line>
    <text class="unit" x=${right} y=${y + 33} text-anchor="end">${unit} since the start</text>
  </g>`;
}

/** @param {Panel} panel @param {Plan} planned @param {State} state @param {Settings} settings */
function panelPicture(panel, planned, state, settings) {
  const { timeline, index, rows, titleY } = panel;
  const selected = state.phase === "shown" && state.selected?.panel === index ? timeline.polls[state.selected.poll] : undefined;
  const title = settings.titles.length > 1 ? svg`<text class="title" x="0" y=${titleY}>${settings.titles[index]}</text>` : nothing;
  const letters = lettersOf(rows);
  return svg`<g>
    ${title}
    ${state.phase === "asking" ? nothing : marks(panel, planned)}
    ${rows.map((row) => label(row, planned))}
    <g class=${selected ? "dim" : ""}>
      ${rows.map((row) => lane(row, panel, planned, state, settings, letters))}
    </g>
    ${longLabels(panel, planned, settings, selected)}
    ${rows.map((row) => (row.stripY === undefined ? nothing : strip(row, panel, planned, row.stripY)))}
    ${foot(panel, planned)}
    ${settings.queues && state.view === "worker" ? arrows(panel, planned) : nothing}
    ${settings.queues && state.view === "worker" && !settings.still && timeline.moves.length > 0 && state.at >= state.from && state.at <= state.to ? chips(panel, planned, state.at) : nothing}
    ${selected ? overlay(selected, panel, planned, settings) : nothing}
    ${tears(panel, planned)}
    ${guess(panel, planned, state, settings)}
  </g>`;
}

/** @param {Row} row @param {Plan} planned */
function label(row, planned) {
  const { left, narrow, right } = planned;
  return svg`<line class="lane-line" x1=${left} x2=${right} y1=${row.y + BLOCK + 0.5} y2=${row.y + BLOCK + 0.5}></line>
    ${narrow ? nothing : name(row, planned)}`;
}

/** On a narrow screen it stands above the lane, where arrows pass: it comes last there, and keeps its room. @param {Row} row @param {Plan} planned */
function name({ lane: { label: text, task, worker }, y }, { narrow }) {
  const middle = narrow ? y - 12 : y + BLOCK / 2;
  const isSaid = text !== task?.letter;
  return svg`${task ? chip(task, 0, middle - 9) : nothing}
    ${isSaid ? svg`<text class=${`lane-name ${narrow ? "back " : ""}${worker === undefined ? "" : "worker"}`} x=${task ? 25 : 0} y=${middle + 4.5}>${text}</text>` : nothing}`;
}

/** A task's sign in its color. @param {import("./derive.js").Task} task @param {number} x @param {number} y */
function chip(task, x, y) {
  return svg`<rect class=${`fill-${task.hue}`} x=${x} y=${y} width="18" height="18" rx="4"></rect>
    <text class=${`sign on-${task.hue}`} x=${x + 9} y=${y + 13} text-anchor="middle">${task.letter}</text>`;
}

/** @param {Row[]} rows the widest blocks get their letter */
function lettersOf(rows) {
  const all = rows.flatMap(alone).filter(({ x0, x1, polls }) => polls.length === 1 && x1 - x0 >= 13);
  return new Set(all.sort((one, other) => other.x1 - other.x0 - one.x1 + one.x0).slice(0, MOST_LETTERS));
}

/** The blocks that can be written on: threads that aren't workers share a lane, where one block may lie upon another. @param {Row} row */
function alone({ lane: { worker = 0 }, blocks }) {
  const isFree = (/** @type {import("./lanes.js").Block} */ block) => !blocks.some((other) => other !== block && other.x0 < block.x1 && block.x0 < other.x1);
  return worker < 0 ? blocks.filter(isFree) : blocks;
}

/**
 * @param {Row} row
 * @param {Panel} panel
 * @param {Plan} planned
 * @param {State} state
 * @param {Settings} settings
 * @param {Set<import("./lanes.js").Block>} letters
 */
function lane(row, panel, planned, state, settings, letters) {
  const { timeline } = panel;
  const covered = state.phase === "asking" && settings.question?.panel === panel.index ? settings.question : undefined;
  const isCoveredLane = covered && row.lane.task?.id === covered.task;
  const hidden = (/** @type {Poll} */ poll) => covered !== undefined && poll.task === covered.task && poll.start >= covered.from;
  const blocks = covered ? row.blocks.filter(({ polls }) => !polls.every(hidden)) : row.blocks;
  const parks = row.lane.worker === undefined ? [] : timeline.parks.filter(({ worker }) => worker === row.lane.worker);
  return svg`
    ${parkedPath(parks, row, planned, settings)}
    ${settings.queues && row.lane.worker !== undefined ? searches(row, panel, planned) : nothing}
    ${row.lane.task ? waits(row, planned, hidden) : nothing}
    ${byFill(blocks, timeline).map(([key, path]) => svg`<path class=${key} d=${path(row.y)}></path>`)}
    ${stripes(blocks, row, timeline, settings)}
    ${outlines(blocks.filter(({ polls }) => polls.some((poll) => isLong(poll, settings.longNs))), row.y)}
    ${blocks.filter((block) => letters.has(block)).map((block) => letter(block, row.y, timeline))}
    ${readyTicks(blocks, row.y)}
    ${wakeGlyphs(row, panel, planned, hidden)}
    ${isCoveredLane ? cover(row, planned, covered.from, state, settings) : nothing}`;
}

/** @param {{start: number, end: number}[]} parks @param {Row} row @param {Plan} planned @param {Settings} settings */
function parkedPath(parks, { y }, { x, left, right }, settings) {
  const path = parks
    .map(({ start, end }) => [Math.max(x(start), left), Math.min(x(end), right)])
    .filter(([from = 0, to = 0]) => to - from >= NO_EDGE)
    .map(([from = 0, to = 0]) => rectangle(from, y + BLOCK - 9, to - from, 9))
    .join("");
  return path ? svg`<path d=${path} fill="url(#${settings.id}-hatch)"></path>` : nothing;
}

/** The lines between a wake-up and its poll. @param {Row} row @param {Plan} planned @param {(poll: Poll) => boolean} hidden */
function waits({ lane: { polls, task }, y }, { x, left, right }, hidden) {
  const path = polls
    .filter((poll) => poll.waited > 0 && !hidden(poll))
    .map(({ readyAt, start }) => [Math.max(x(readyAt), left), Math.min(x(start), right)])
    .filter(([from = 0, to = 0]) => to - from >= NO_EDGE)
    .map(([from = 0, to = 0]) => `M${round(from)} ${y + BLOCK / 2}H${round(to)}`)
    .join("");
  return path ? svg`<path class=${`wait stroke-${task?.hue}`} d=${path}></path>` : nothing;
}

/**
 * Blocks of one look as one path each: the picture stays small.
 *
 * @param {import("./lanes.js").Block[]} blocks
 * @param {Timeline} timeline
 * @returns {[string, (y: number) => string][]}
 */
function byFill(blocks, timeline) {
  /** @type {Map<string, import("./lanes.js").Block[]>} */
  const groups = new Map();
  for (const block of blocks) {
    const task = timeline.byId.get(block.polls[0]?.task ?? 0);
    const isMixed = block.polls.some((poll) => poll.task !== task?.id);
    const key = isMixed ? "merged" : `fill-${task?.hue}${block.polls.length > 1 ? " many" : ""}`;
    groups.set(key, [...(groups.get(key) ?? []), block]);
  }
  // Polls within polls come last, upon those around them.
  const depth = (/** @type {import("./lanes.js").Block[]} */ group) => Math.max(...group.map(({ polls }) => polls[0]?.depth ?? 0));
  const sorted = [...groups].sort(([, one], [, other]) => depth(one) - depth(other));
  return sorted.map(([key, group]) => [key, (y) => group.map((block) => blockPath(block, y)).join("")]);
}

/** Flat at the right where the poll was pending, rounded where it was ready. @param {import("./lanes.js").Block} block @param {number} y */
export function blockPath({ x0, x1, polls, isCut }, y) {
  const inset = Math.min(polls[0]?.depth ?? 0, 3) * 3;
  const [top, height, width] = [y + inset, BLOCK - 2 * inset, x1 - x0];
  const radius = polls.at(-1)?.result === "ready" && !isCut ? Math.min(6, width, height / 2) : 0;
  if (radius < 1) return rectangle(x0, top, width, height);
  const edge = `a${round(radius)} ${round(radius)} 0 0 1`;
  return `M${round(x0)} ${top}h${round(width - radius)}${edge} ${round(radius)} ${round(radius)}v${round(height - 2 * radius)}${edge} ${round(-radius)} ${round(radius)}h${round(radius - width)}z`;
}

/** Two tasks may share a hue: the later one is striped. @param {import("./lanes.js").Block[]} blocks @param {Row} row @param {Timeline} timeline @param {Settings} settings */
function stripes(blocks, { y }, timeline, settings) {
  const striped = blocks.filter(({ polls }) => timeline.byId.get(polls[0]?.task ?? 0)?.striped);
  // At the foot only: the text above stays legible.
  const path = striped.map(({ x0, x1 }) => rectangle(x0 + 1, y + BLOCK - STRIPES - 1, Math.max(0, x1 - x0 - 4), STRIPES)).join("");
  return path ? svg`<path d=${path} fill="url(#${settings.id}-stripe)"></path>` : nothing;
}

/** @param {import("./lanes.js").Block[]} blocks @param {number} y */
function outlines(blocks, y) {
  const path = blocks.map((block) => blockPath(block, y)).join("");
  return path ? svg`<path class="long" d=${path}></path>` : nothing;
}

/** @param {import("./lanes.js").Block} block @param {number} y @param {Timeline} timeline */
function letter({ x0, x1, polls }, y, timeline) {
  const task = timeline.byId.get(polls[0]?.task ?? 0);
  const isWide = x1 - x0 > 40;
  return svg`<text class=${`sign on-${task?.hue}`} x=${round(isWide ? x0 + 7 : (x0 + x1) / 2)} y=${y + 15.5} text-anchor=${isWide ? "start" : "middle"}>${task?.letter}</text>`;
}

/** A tick behind the poll that was ready. @param {import("./lanes.js").Block[]} blocks @param {number} y */
function readyTicks(blocks, y) {
  const path = blocks
    .filter(({ x1, polls, isCut }, index) => polls.at(-1)?.result === "ready" && !isCut && (blocks[index + 1]?.x0 ?? Infinity) - x1 > TICK_WIDTH)
    .map(({ x1 }) => `M${round(x1 + 3)} ${y + 12}l3 4l6 -9`)
    .join("");
  return path ? svg`<path class="tick" d=${path}></path>` : nothing;
}

/**
 * ▾ where a wake-up came: in a task's lane those that it received, in a
 * worker's lane those that it issued.
 *
 * @param {Row} row
 * @param {Panel} panel
 * @param {Plan} planned
 * @param {(poll: Poll) => boolean} hidden
 */
function wakeGlyphs({ lane: { task, worker }, y }, { timeline }, { x, left, right }, hidden) {
  if (!task && worker === undefined) return nothing;
  const hiddenTask = task?.polls.find(hidden);
  const mine = task ? task.wakes : timeline.wakes.filter((wake) => wake.worker === worker);
  let last = -Infinity;
  const path = mine
    .filter((wake) => !wake.spawned && !(hiddenTask && wake.t >= (task?.polls[hiddenTask.number - 2]?.end ?? 0)))
    .map((wake) => x(wake.t))
    .filter((place) => {
      const isSeen = place >= left && place <= right && place - last >= 3;
      if (isSeen) last = place;
      return isSeen;
    })
    .map((place) => wakeGlyph(place, y))
    .join("");
  return path ? svg`<path class="wake" d=${path}></path>` : nothing;
}

/** @param {number} x @param {number} y */
export function wakeGlyph(x, y) {
  return `M${round(x - 4)} ${y - 6}h8l-4 6z`;
}

/** @param {Row} row @param {Plan} planned @param {number} from @param {State} state @param {Settings} settings */
function cover({ y }, { x, right, left }, from, state, settings) {
  const start = Math.max(x(from), left);
  return svg`<rect x=${round(start)} y=${y - 5} width=${round(Math.max(0, right - start))} height=${BLOCK + 8} rx="4" fill="url(#${settings.id}-cover)" class="covered"></rect>
    ${state.guess === undefined ? svg`<text class="guess-label back" x=${round((start + right) / 2)} y=${y + 15.5} text-anchor="middle">when? drag here</text>` : nothing}`;
}

/**
 * Says of the longest polls what they do, where there is room.
 *
 * @param {Panel} panel
 * @param {Plan} planned
 * @param {Settings} settings
 * @param {Poll | undefined} selected
 */
function longLabels({ rows, timeline }, { right, narrow }, settings, selected) {
  const long = rows.flatMap((row) =>
    alone(row).flatMap(({ x0, x1, polls }) => {
      const worst = polls.reduce((one, other) => (other.self > one.self ? other : one));
      return isLong(worst, settings.longNs) ? [{ x0, x1, y: row.y, poll: worst }] : [];
    }),
  );
  /** @type {{from: number, to: number, y: number}[]} */
  const taken = [];
  return long
    .sort((one, other) => other.poll.self - one.poll.self)
    .slice(0, 6)
    .map(({ x0, x1, y, poll }) => {
      if (poll === selected) return nothing;
      const words = `blocks ${poll.worker < 0 ? "its thread" : `W${poll.worker}`} for ${time(poll.self)}`;
      const width = words.length * GLYPH;
      const short = `${time(poll.self)}`;
      const fits = [
        { words, from: x0 + 24, to: x0 + 24 + width, inside: x0 + 26 + width <= x1 - 4 },
        { words, from: x1 + 18, to: x1 + 18 + width, inside: false },
        { words: short, from: x0 + 24, to: x0 + 24 + short.length * GLYPH, inside: x0 + 26 + short.length * GLYPH <= x1 - 2 },
      ];
      const isFree = (/** @type {{from: number, to: number}} */ spot) => !taken.some((other) => other.y === y && spot.from < other.to && spot.to > other.from);
      const others = long.filter((other) => other.y === y && other.x0 > x1);
      const place = fits.find((spot, index) => isFree(spot) && (index === 1 ? spot.to <= right && !narrow && !others.some((other) => other.x0 < spot.to) : spot.inside));
      if (!place) return nothing;
      taken.push({ ...place, y });
      const hue = timeline.byId.get(poll.task)?.hue;
      return svg`<text class=${place.inside ? `long-label inside on-${hue}` : "long-label back"} x=${round(place.from)} y=${y + 15.5}>${place.words}</text>`;
    });
}

/** @param {Panel} panel @param {Plan} planned */
function marks({ timeline, marksY, bottom }, { x, left, right }) {
  let free = -Infinity;
  return timeline.marks
    .filter(({ t }) => x(t) >= left && x(t) <= right)
    .slice(0, MOST_MARKS)
    .map(({ t, text }) => {
      const place = x(t);
      const width = text.length * GLYPH;
      const hasRoom = place >= free;
      const turned = place + width > right;
      // Where neither side has room, the words stand over the line.
      const isOver = turned && place - width < left;
      const [start, y] = isOver ? [Math.max(left, right - width), marksY - 4] : [place + (turned ? -4 : 4), marksY];
      if (hasRoom) free = place + width + 12;
      return svg`<line class="mark" x1=${round(place)} x2=${round(place)} y1=${marksY + (isOver ? 1 : -8)} y2=${bottom}></line>
        ${hasRoom ? svg`<text class="mark-text" x=${round(start)} y=${y} text-anchor=${turned && !isOver ? "end" : "start"}>${text}</text>` : nothing}`;
    });
}

/** Where events are missing the picture is torn. @param {Panel} panel @param {Plan} planned */
function tears({ timeline: { trace, end }, top, bottom }, { x, left, right }) {
  const gap = trace.leftOut > 0 ? trace.events[trace.events.length / 2]?.t : undefined;
  const at = trace.dropped > 0 ? (trace.droppedFrom ?? end) : gap;
  if (at === undefined || x(at) < left || x(at) > right + 1) return nothing;
  const teeth = Math.max(2, Math.round((bottom - top) / 8));
  const zigzag = Array.from({ length: teeth }, (_, tooth) => `l${tooth % 2 ? -5 : 5} ${round((bottom - top) / teeth)}`).join("");
  return svg`<path class="torn" d="M${round(x(at) - 3)} ${top}${zigzag}"></path>
    <text class="torn-label" x=${round(x(at) - 8)} y=${top + 10} text-anchor="end">events lost</text>`;
}

/** @param {Panel} panel @param {Plan} planned @param {State} state @param {Settings} settings */
function guess({ index, rows }, { x, left, right }, state, { question }) {
  if (!question || question.panel !== index || state.guess === undefined) return nothing;
  const row = rows.find(({ lane: { task } }) => task?.id === question.task) ?? rows[0];
  const place = x(state.guess);
  if (!row || place < left || place > right) return nothing;
  const { y } = row;
  const marker = svg`<path class="guess" d="M${round(place)} ${y - 7}V${y + BLOCK + 3}M${round(place - 5)} ${y - 7}h10"></path>`;
  if (state.phase === "asking") {
    return svg`${marker}<circle class="grip" cx=${round(place)} cy=${y + BLOCK / 2} r="8"></circle>
      <text class="guess-label" x=${round(place + (place > right - 90 ? -13 : 13))} y=${y + 15.5} text-anchor=${place > right - 90 ? "end" : "start"}>your guess</text>`;
  }
  const fact = Math.min(Math.max(x(question.answer), left), right);
  const foot = y + BLOCK + 5;
  const off = state.guess - question.answer;
  const words = `guessed ${time(Math.abs(off))} too ${off < 0 ? "early" : "late"}`;
  const middle = Math.min(Math.max((place + fact) / 2, left + words.length * 3.2), right - words.length * 3.2);
  return svg`${marker}<path class="guess" d="M${round(place)} ${foot - 4}V${foot}H${round(fact)}V${foot - 4}"></path>
    <text class="guess-label back" x=${round(middle)} y=${foot + 14} text-anchor="middle">${words}</text>`;
}

/** @param {Plan} planned @param {State} state */
function cursor({ x, left, right, height, panels }, { at }) {
  const place = x(at);
  if (place < left - 1 || place > right + 1) return nothing;
  const top = panels[0]?.top ?? 0;
  return svg`<g class="cursor"><line x1=${round(place)} x2=${round(place)} y1=${top - 2} y2=${height - AXIS}></line><circle cx=${round(place)} cy=${top - 3} r="3.5"></circle></g>`;
}

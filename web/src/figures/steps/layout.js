// Where everything stands: text doesn't wrap by itself in SVG.

import { shown } from "./derive.js";
import { effects, failure, remarks, untoldChanges } from "./words.js";

/** @typedef {import("./derive.js").Run} Run */
/** @typedef {{text: string, kind: string, indent: number}} TextLine */

/** What a letter takes, in pixels; on a narrow page code is smaller. */
const CODE_GLYPH = 7.25;
const SMALL_CODE_GLYPH = 6.65;
const TEXT_GLYPH = 6.6;
const VERDICT_GLYPH = 8;
const NARROW = 480;
export const LINE = 16;
export const GUTTER = 26;
const GAP = 8;
const PAD = 8;
/** The source stands beside the threads where their part has so much room for each. */
const ROOMY = 230;
const THREADS_PART = 0.66;
/** Where a column would be narrower, what a thread does stands beside the columns. */
const NARROWEST = 220;
const LANE = 24;
const NARROW_LANE = 16;
const CELL_HEIGHT = 40;
/** A field of a word, and what it takes at most to show how it changes: `0 → 1`. */
export const FIELD_HEIGHT = 34;
/** An entry of a heap, and what is between two levels of it. */
export const ENTRY_HEIGHT = 24;
const LEVEL_GAP = 12;
const FIELD_GAP = 4;
const FIELD_WIDTH = 56;
const HANGING = 2;
/** What a thread that sleeps at the end takes below the last step. */
export const SLEEP = 26;

/**
 * @param {string} text
 * @param {number} most letters
 * @param {number} [hanging] by how many the further lines are indented
 */
export function wrapped(text, most, hanging = 0) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const room = () => Math.max(1, lines.length > 1 ? most - hanging : most);
    const line = lines.at(-1) ?? "";
    if (line && line.length + 1 + word.length > room()) lines.push("");
    let rest = word;
    while (rest.length > room()) {
      if (lines.at(-1)) lines.push("");
      const part = broken(rest, room());
      lines[lines.length - 1] = part;
      rest = rest.slice(part.length);
      lines.push("");
    }
    const last = lines.at(-1) ?? "";
    lines[lines.length - 1] = last ? `${last} ${rest}` : rest;
  }
  return lines.filter((line, index) => line || index === 0);
}

/** The first part of a word that is too long, up to a sign if there is one in its second half. @param {string} word @param {number} most */
function broken(word, most) {
  const part = word.slice(0, most);
  const bar = part.lastIndexOf("|");
  if (bar > 0) return part.slice(0, bar + 1);
  const sign = Math.max(part.lastIndexOf("("), part.lastIndexOf("."), part.lastIndexOf("_"), part.lastIndexOf("/"));
  // A method keeps its point.
  return sign > most / 3 ? part.slice(0, part[sign] === "." ? sign : sign + 1) : part;
}

/** @param {string} text @param {number} width @param {string} kind `code`, or a text @param {number} [glyph] of code @param {number} [indent] letters */
function block(text, width, kind, glyph = CODE_GLYPH, indent = 0) {
  const isCode = kind.startsWith("code");
  const most = Math.max(4, Math.floor(width / (isCode ? glyph : kind === "verdict" ? VERDICT_GLYPH : TEXT_GLYPH)) - indent);
  return wrapped(text, most, isCode ? HANGING : 0).map((text, index) => ({ text, kind, indent: indent + (isCode && index > 0 ? HANGING : 0) }));
}

/** @param {Run} run @param {{at: number, width: number, widest: import("./read.js").Value[][]}} settings `widest`: the values that each cell may take */
export function layout(run, { at, width, widest }) {
  const { steps, rows } = run;
  const many = steps.threads.length;
  const hasSource = rows.some(({ code }) => code);
  const isLanes = hasSource && (width - GUTTER) / many < NARROWEST;
  const isBeside = hasSource && ((width - GUTTER) * THREADS_PART) / many >= ROOMY;
  const column = isLanes ? (many > 3 ? NARROW_LANE : LANE) : ((width - GUTTER) * (isBeside ? THREADS_PART : 1)) / many;
  const box = isLanes ? width - GUTTER - many * column - GAP : column - GAP;
  const inner = box - PAD * 2;
  const glyph = width < NARROW ? SMALL_CODE_GLYPH : CODE_GLYPH;
  const left = (/** @type {number} */ thread) => GUTTER + thread * column;
  const boxLeft = (/** @type {number} */ thread) => (isLanes ? left(many) + GAP / 2 : left(thread));
  const cells = cellsAt(steps.cells, widest, width);
  const headTop = Math.max(0, ...cells.map(({ bottom }) => bottom)) + (cells.length > 0 ? 12 : 0);
  const moment = rows[at - 1]?.then ?? run.start;
  const heads = steps.threads.map((name, thread) => {
    const waits = moment.waits[thread];
    return { thread, x: boxLeft(thread), y: headTop, name: block(name, inner, "thread-name"), state: block(waits || (moment.ended[thread] ? "ended" : steps.programs.length > 0 || (at < rows.length && !isLanes) ? "can go on" : ""), inner, waits ? "waits" : "soft").filter(({ text }) => text || !isLanes) };
  });
  const heights = heads.map(({ name, state }) => (name.length + state.length) * LINE);
  if (isLanes) heads.forEach((head, index) => (head.y += sum(heights.slice(0, index))));
  const headHeight = (isLanes ? sum(heights) : Math.max(...heights)) + 6;
  const programTop = headTop + headHeight;
  const programs = steps.programs.map((program, thread) => {
    let y = programTop;
    return program.map((line, index) => {
      const indent = /^ */.exec(line.code)?.[0].length ?? 0;
      const text = block(line.code.trim(), inner - 10, moment.lines[thread] === index ? "code now" : "code", glyph, width < NARROW ? indent / 2 : indent);
      const placed = { thread, index, x: left(thread), y, text, isNow: moment.lines[thread] === index, waits: Boolean(moment.waits[thread]) };
      y += text.length * LINE + 2;
      return placed;
    });
  });
  const programEnd = Math.max(programTop, ...programs.flat().map(({ y, text }) => y + text.length * LINE + 2));
  let y = programEnd + (programs.length > 0 ? 14 : 2);
  const order = { y, text: programs.length > 0 ? (rows.length > 0 ? "The order" : "The order is empty: no thread has taken a step yet.") : "" };
  if (order.text) y += LINE + 8;
  const placed = rows.map((row, index) => {
    const fails = failure(run, index);
    const source = row.where || row.code ? block(`${row.where} ${row.code}`.trim(), isBeside ? width - left(many) - PAD * 2 : inner, "code source", glyph) : [];
    const lines = [
      ...(isLanes ? block(steps.threads[row.thread] ?? "", inner, "who") : []),
      ...block(`${row.does} ${row.ordering}`.trim(), inner, "code", glyph),
      ...remarks(row).flatMap((text) => block(text, inner, text === row.note ? "soft" : text === row.says ? "" : "bad")),
      ...untoldChanges(run, row).flatMap((text) => block(text, inner, "code change", glyph)),
      ...effects(run, index).flatMap((text) => block(text, inner, row.then.waits[row.thread] ? "waits" : "soft")),
      ...(fails ? block(fails, inner, "bad") : []),
      ...(isBeside ? [] : source),
    ];
    const height = lines.length * LINE + PAD + 4;
    const beside = isBeside ? { x: left(many) + PAD, lines: source } : undefined;
    const mark = isLanes ? { x: left(row.thread) + column / 2 - 5, width: 10 } : { x: left(row.thread), width: 4 };
    const one = { row, index, x: boxLeft(row.thread), y, width: box, height, mark, lines, beside, fails: fails !== "", isNow: index === at - 1, isAhead: index >= at };
    y += Math.max(height, (beside?.lines.length ?? 0) * LINE + PAD + 4) + 6;
    return one;
  });
  if (rows.length > 0 && moment.waits.some(Boolean)) y += SLEEP;
  const end = run.end && { y: y + 2, isBad: run.end.kind !== "done", isAhead: at < rows.length, lines: block(run.end.text, width - GUTTER - 34, "verdict") };
  if (end) y += end.lines.length * LINE + 18;
  return { width, height: y + 2, isLanes, column, glyph, isSmall: width < NARROW, left, cells, heads, headTop, programTop, programs, order, rows: placed, end };
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

/** @param {import("./read.js").Cell[]} cells @param {import("./read.js").Value[][]} widest @param {number} width */
function cellsAt(cells, widest, width) {
  let [x, y, tall] = [0, 0, 0];
  return cells.map(({ name, fields, isHeap }, index) => {
    const values = (widest[index] ?? []).map(shown);
    const longest = Math.max(...values.map(({ length }) => length), 1);
    const word = isHeap ? heapIn(values.map((value) => value.split(", ")), width - PAD * 2) : fieldsIn(fields, width - PAD * 2);
    const hasParts = word.places.length > 0;
    const inner = hasParts ? word.width : longest * (CODE_GLYPH + 0.7);
    const wide = Math.min(width, Math.ceil(Math.max(name.length * (TEXT_GLYPH + 0.4), inner) + PAD * 2));
    if (x > 0 && x + wide > width) [x, y, tall] = [0, y + tall + 6, 0];
    const height = hasParts ? 26 + word.height : CELL_HEIGHT;
    tall = Math.max(tall, height);
    const place = { index, name, x, y, width: wide, height, bottom: y + height, fields: word.places.map((one) => ({ ...one, x: x + PAD + one.x, y: y + 21 + one.y })) };
    x += wide + GAP;
    return place;
  });
}

/** The entries of a heap as a tree, the first at the top. @param {string[][]} lists @param {number} most */
function heapIn(lists, most) {
  const many = Math.max(...lists.map(({ length }) => length));
  const wide = Math.ceil(Math.max(...lists.flat().map(({ length }) => length)) * (CODE_GLYPH + 0.7)) + 10;
  const levels = Math.floor(Math.log2(many)) + 1;
  const width = Math.min(most, 2 ** (levels - 1) * (wide + FIELD_GAP));
  const places = Array.from({ length: many }, (_, index) => {
    const level = Math.floor(Math.log2(index + 1));
    const middle = ((index + 1.5 - 2 ** level) * width) / 2 ** level;
    return { x: Math.round(Math.min(Math.max(middle - wide / 2, 0), width - wide)), y: level * (ENTRY_HEIGHT + LEVEL_GAP), width: wide };
  });
  return { places, width, height: levels * (ENTRY_HEIGHT + LEVEL_GAP) - LEVEL_GAP };
}

/** The fields of a word side by side, in as many lines as they need. @param {import("./fields.js").Field[]} fields @param {number} width */
function fieldsIn(fields, width) {
  let [x, y, widest] = [0, 0, 0];
  const places = fields.map(({ name }) => {
    const wide = Math.min(width, Math.max(FIELD_WIDTH, Math.ceil(name.length * SMALL_CODE_GLYPH) + 10));
    if (x > 0 && x + wide > width) [x, y] = [0, y + FIELD_HEIGHT + FIELD_GAP];
    const place = { x, y, width: wide };
    x += wide + FIELD_GAP;
    widest = Math.max(widest, x - FIELD_GAP);
    return place;
  });
  return { places, width: widest, height: y + FIELD_HEIGHT };
}

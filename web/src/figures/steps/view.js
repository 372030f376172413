// An order as a picture: the cells, the threads with their programs, and below
// them what happened, one step a row.

import { nothing, svg } from "lit/html.js";
import { round } from "../paths.js";
import { momentAt, shown, valuesBefore } from "./derive.js";
import { entriesAt, fieldsAt } from "./fields.js";
import { ENTRY_HEIGHT, FIELD_HEIGHT, GUTTER, LINE, SLEEP, layout } from "./layout.js";

/** @typedef {import("./derive.js").Run} Run */

/** @param {import("./layout.js").TextLine[]} lines @param {number} x @param {number} y of the first base line @param {number} [glyph] what a letter of code takes */
function text(lines, x, y, glyph = 0) {
  return lines.map((line, index) => svg`<text class=${line.kind || "plain"} x=${round(x + line.indent * glyph)} y=${y + index * LINE}>${line.text}</text>`);
}

/** @param {Run} run @param {{at: number, width: number, widest: import("./read.js").Value[][], label: string, id: string}} settings */
export function picture(run, settings) {
  const { at, width, label, id } = settings;
  const plan = layout(run, settings);
  return svg`<svg class=${plan.isSmall ? "fig-picture steps small" : "fig-picture steps"} role="img" aria-label=${label} viewBox=${`0 0 ${width} ${plan.height}`} width=${width} height=${plan.height}>
    <defs><pattern id=${`${id}-hatch`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe" width="6" height="6"></rect><rect class="hatch" width="2" height="6"></rect></pattern></defs>
    ${cells(run, plan, at)}
    ${plan.heads.map((head) => headOf(head, plan))}
    ${plan.programs.flat().map((line) => svg`${line.isNow ? caret(line) : nothing}${text(line.text, line.x + 18, line.y + 13, plan.glyph)}`)}
    ${plan.order.text ? svg`<text class="soft" x="0" y=${plan.order.y + 12}>${plan.order.text}</text>` : nothing}
    ${sleeps(run, plan, id)}
    ${plan.rows.map((row) => rowOf(row, plan.glyph))}
    ${arrows(plan)}
    ${plan.end ? endOf(plan.end, width) : nothing}</svg>`;
}

/** @param {Run} run @param {ReturnType<typeof layout>} plan @param {number} at */
function cells(run, plan, at) {
  const { values } = momentAt(run, at);
  const changed = new Set(run.rows[at - 1]?.changes.map(({ cell }) => cell));
  return plan.cells.map(({ index, name, x, y, width, height, fields }) => svg`<g class=${changed.has(index) ? "cell changed" : "cell"}><rect x=${x + 1} y=${y + 1} width=${width - 2} height=${height - 2} rx="4"></rect>
    <text class="soft" x=${x + 8} y=${y + 15}>${name}</text>${fields.length > 0 ? word(run, at, index, fields) : svg`<text class="code value" x=${x + 8} y=${y + 32}>${shown(values[index])}</text>`}</g>`);
}

/** The fields of a word, of which those that are set are lit; or the entries of a heap. What a step has changed has a frame. @param {Run} run @param {number} at @param {number} cell @param {ReturnType<typeof layout>["cells"][0]["fields"]} places */
function word(run, at, cell, places) {
  const { fields = [], isHeap } = run.steps.cells[cell] ?? {};
  const [before, after] = [valuesBefore(run, at)[cell] ?? "", momentAt(run, at).values[cell] ?? ""];
  const height = isHeap ? ENTRY_HEIGHT : FIELD_HEIGHT;
  return (isHeap ? entriesAt(before, after) : fieldsAt(fields, before, after)).map(({ name, isCount, now, isChanged, shown: value }, index) => {
    const { x, y, width } = /** @type {typeof places[0]} */ (places[index]);
    const above = isHeap && index > 0 && places[(index - 1) >> 1];
    return svg`<g class=${`bit${isCount ? " count" : now ? " lit" : ""}${isChanged ? " turned" : ""}`}>${above ? svg`<path class="head" d=${`M${above.x + above.width / 2} ${above.y + height}L${x + width / 2} ${y}`}></path>` : nothing}<rect x=${x + 1} y=${y + 1} width=${width - 2} height=${height - 2} rx="3"></rect>
      ${name ? svg`<text class="code" x=${x + 5} y=${y + 13}>${name}</text>` : nothing}<text class="code value" x=${x + 5} y=${y + height - 6}>${value}</text></g>`;
  });
}

/** A thread's name and how it stands, above its column; where the columns are narrow, beside a sign of its color in its column. @param {ReturnType<typeof layout>["heads"][0]} head @param {ReturnType<typeof layout>} plan */
function headOf({ thread, x, y, name, state }, { isLanes, programTop, column, left }) {
  const sign = isLanes
    ? svg`<path class=${`mark-of fill-${thread}`} d=${`M${left(thread) + column / 2 - 5} ${y + 3}h10v10h-10z`}></path>`
    : svg`<path class=${`head stroke-${thread}`} d=${`M${x} ${programTop - 3}h${column - 8}`}></path>`;
  return svg`${text(name, x + 8, y + 13)}${text(state, x + 8, y + 13 + name.length * LINE)}
      ${sign}`;
}

/** @param {{x: number, y: number, waits: boolean}} line */
function caret({ x, y, waits }) {
  return waits ? svg`<path class="caret waits" d=${`M${x + 5} ${y + 4}v10m5 0v-10`}></path>` : svg`<path class="caret" d=${`M${x + 4} ${y + 3}l9 6l-9 6z`}></path>`;
}

/** @param {ReturnType<typeof layout>["rows"][0]} row @param {number} glyph */
function rowOf({ row, index, x, y, width, height, mark, lines, beside, fails, isNow, isAhead }, glyph) {
  return svg`<g class=${`${isNow ? "step now" : isAhead ? "step ahead" : "step"}${fails ? " fails" : ""}`}>
    <text class="number" x=${GUTTER - 8} y=${y + 17}>${index + 1}</text>
    <rect class="box" x=${x} y=${y} width=${width} height=${height} rx="4"></rect>
    <path class=${`mark-of fill-${row.thread}`} d=${`M${mark.x} ${y}h${mark.width}v${height}h-${mark.width}z`}></path>
    ${fails ? svg`<path class="glyph" d=${`M${GUTTER - 18} ${y + 25}l10 10m0 -10l-10 10`}></path>` : nothing}
    ${text(lines, x + 11, y + 17, glyph)}${beside ? text(beside.lines, beside.x, y + 17, glyph) : nothing}</g>`;
}

/** A thread that waits: hatched, from the step after which it does to the one that ends it. @param {Run} run @param {ReturnType<typeof layout>} plan @param {string} id */
function sleeps({ steps }, plan, id) {
  const taken = plan.rows.filter(({ isAhead }) => !isAhead);
  const last = taken.at(-1);
  if (!last) return nothing;
  return steps.threads.map((_, thread) => {
    let from = NaN;
    return taken.map(({ row, y, height }) => {
      const isWaiting = !Number.isNaN(from);
      const waits = Boolean(row.then.waits[thread]);
      if (waits === isWaiting && row !== last.row) return nothing;
      const start = isWaiting ? from : row.thread === thread ? y + height : y + height / 2;
      from = waits ? start : NaN;
      if (!(waits || isWaiting) || (waits && row !== last.row)) return nothing;
      const to = waits ? y + height + SLEEP : row.thread === thread ? y : y + height / 2;
      return svg`<rect class="sleep" fill=${`url(#${id}-hatch)`} x=${plan.left(thread) + plan.column / 2 - (plan.isLanes ? 5 : 9)} y=${start} width="10" height=${Math.max(0, to - start)}></rect>`;
    });
  });
}

/** From a step to the threads that it wakes. @param {ReturnType<typeof layout>} plan */
function arrows({ rows, left, column, isLanes }) {
  return rows.filter(({ isAhead }) => !isAhead).flatMap(({ row, x, y, width, height }) => row.wakes.map((thread) => {
    const isRight = thread > row.thread;
    const edge = left(row.thread) + column / 2 + (isRight ? 5 : -5);
    const [from, to] = [isLanes ? edge : isRight ? x + width : x, left(thread) + column / 2 + (isLanes ? (isRight ? -6 : 6) : isRight ? -10 : 2)];
    const middle = y + height / 2;
    return svg`<path class="arrow" d=${`M${from} ${middle}H${to}`}></path><path class="wake" d=${`M${to + (isRight ? 1 : -1)} ${middle}l${isRight ? -8 : 8} -5v10z`}></path>`;
  }));
}

/** @param {NonNullable<ReturnType<typeof layout>["end"]>} end @param {number} width */
function endOf({ y, isBad, isAhead, lines }, width) {
  const height = lines.length * LINE + 12;
  return svg`<g class=${`end ${isBad ? "bad" : "good"}${isAhead ? " ahead" : ""}`}><rect class="box" x=${GUTTER} y=${y} width=${width - GUTTER - 8} height=${height} rx="4"></rect>
    <path class="glyph" d=${isBad ? `M${GUTTER + 11} ${y + 8}l10 10m0 -10l-10 10` : `M${GUTTER + 10} ${y + 13}l4 5l8 -10`}></path>
    ${text(lines, GUTTER + 30, y + 18)}</g>`;
}

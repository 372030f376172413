// What can happen as a board, and below it an execution that has the chosen outcome.

import { nothing, svg } from "lit/html.js";
import { LINE, wrapped } from "../steps/layout.js";
import { JUDGES } from "./model.js";
import { NAME, codeLines, heading, partsOf, stepsOf } from "./words.js";

/** @typedef {import("./programs.js").Program} Program */
/** @typedef {import("./model.js").Outcome} Outcome */
/** @typedef {{program: Program, orders: number[], all: Outcome[], chosen: Outcome | undefined, isCovered: boolean}} Shown */
/** @typedef {{width: number, label: string, withProgram: boolean}} Settings */

const NARROW = 480;
const GLYPH = 7.25;
const SMALL_GLYPH = 6.65;
const TEXT_GLYPH = 6.7;
const GAP = 8;

/** @param {Shown} shown @param {Settings} settings */
export function layout({ program, orders, all, chosen, isCovered }, { width, withProgram }) {
  const isNarrow = width < NARROW;
  const column = (width + GAP) / program.threads.length;
  const left = (/** @type {number} */ thread) => thread * column;
  const most = Math.floor((column - GAP - 10) / GLYPH);
  const lines = withProgram ? codeLines(program, orders).map((lines) => lines.flatMap((line) => wrapped(line, most, 2).map((text, index) => ({ text, indent: index > 0 ? 2 : 0 })))) : [];
  let y = withProgram ? Math.max(...lines.map(({ length }) => length)) * LINE + 40 : 0;
  const cell = isNarrow ? 54 : 84;
  const board = width - JUDGES.length * cell;
  const top = y;
  y += 24;
  const rows = all.map((outcome) => {
    const isBad = outcome.key === program.bad;
    let [x, line] = [10, 0];
    const parts = partsOf(program, outcome.key).map((part) => {
      const wide = part.text.length * (isNarrow ? SMALL_GLYPH : GLYPH) + 24;
      if (x > 10 && x + wide > board) [x, line] = [10, line + 1];
      const place = { ...part, x, line };
      x += wide;
      return place;
    });
    const fear = isBad ? wrapped(program.fear, Math.floor((board - 18) / TEXT_GLYPH)) : [];
    const height = (line + 1 + fear.length) * LINE + 10;
    const row = { outcome, parts, fear, fearLine: line + 1, isBad, y, height };
    y += height + 3;
    return row;
  });
  const witness = isCovered || !chosen ? undefined : { top: y + 14, lines: wrapped(heading(chosen), Math.floor(width / TEXT_GLYPH)) };
  if (witness) y = witness.top + witness.lines.length * LINE + 6;
  const heads = y;
  const steps = (witness && chosen?.witness ? stepsOf(chosen.witness) : []).map((step, index) => {
    if (index === 0) y += 26;
    const height = step.overtakes ? 42 : 25;
    const placed = { ...step, x: left(step.thread), y, height };
    y += height + 4;
    return placed;
  });
  return { left, column, lines, top, cell, board, rows, witness, heads, steps, height: y + 4 };
}

/** @param {Shown} shown @param {Settings} settings */
export function picture(shown, settings) {
  const { program, chosen, isCovered } = shown;
  const { width, label } = settings;
  const plan = layout(shown, settings);
  const { left, column, lines, top, cell, board, rows, witness, heads, steps, height } = plan;
  const names = (/** @type {number} */ y) => program.threads.map(({ name }, thread) => svg`<text class="thread-name" x=${left(thread)} y=${y + 13}>${name}</text><path class=${`head stroke-${thread}`} d=${`M${left(thread)} ${y + 20}h${column - GAP}`}></path>`);
  return svg`<svg class=${width < NARROW ? "fig-picture litmus small" : "fig-picture litmus"} role="img" aria-label=${label} viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height}>
    ${lines.length > 0 ? names(0) : nothing}
    ${lines.map((own, thread) => own.map(({ text, indent }, index) => svg`<text class="code" x=${left(thread) + indent * GLYPH} y=${38 + index * LINE}>${text}</text>`))}
    <text class="soft" x="10" y=${top + 14}>the threads read</text>
    ${JUDGES.map((judge, index) => svg`<text class="judge" x=${board + (index + 0.5) * cell} y=${top + 14}>${NAME[judge]}</text>`)}
    ${rows.map(({ outcome, parts, fear, fearLine, isBad, y, height }) => svg`<g class=${outcome === chosen && !isCovered ? "outcome now" : "outcome"} data-key=${outcome.key}>
      <rect class="box" x="1" y=${y} width=${width - 2} height=${height} rx="4"></rect>
      ${parts.map(({ thread, text, x, line }) => svg`<path class=${`mark-of fill-${thread}`} d=${`M${x} ${y + 8 + line * LINE}h9v9h-9z`}></path><text class="code value" x=${x + 14} y=${y + 17 + line * LINE}>${text}</text>`)}
      ${fear.map((text, index) => svg`<text class="bad" x="10" y=${y + 17 + (fearLine + index) * LINE}>${text}</text>`)}
      ${JUDGES.map((judge, index) => verdictOf(board + index * cell, y, cell, height, isCovered ? undefined : outcome.can[judge], isBad))}</g>`)}
    ${witness?.lines.map((text, index) => svg`<text class="plain" x="0" y=${witness.top + 12 + index * LINE}>${text}</text>`)}
    ${steps.length > 0 ? names(heads) : nothing}
    ${steps.map(({ thread, does, overtakes, x, y, height }) => svg`<g class="step"><rect class="box" x=${x} y=${y} width=${column - GAP} height=${height} rx="4"></rect>
      <path class=${`mark-of fill-${thread}`} d=${`M${x} ${y}h5v${height}h-5z`}></path><text class="code" x=${x + 11} y=${y + 17}>${does}</text>${overtakes ? svg`<text class="waits" x=${x + 11} y=${y + 34}>${overtakes}</text>` : nothing}</g>`)}</svg>`;
}

/** @param {number} x @param {number} y @param {number} cell @param {number} height @param {boolean | undefined} can @param {boolean} isBad */
function verdictOf(x, y, cell, height, can, isBad) {
  const kind = can === undefined ? "" : can ? (isBad ? "can fears" : "can") : "never";
  return svg`<g class=${`verdict-of ${kind}`}>${can ? svg`<rect x=${x + 3} y=${y + 3} width=${cell - 6} height=${height - 6} rx="3"></rect>` : nothing}<text x=${x + cell / 2} y=${y + height / 2 + 4.5}>${can === undefined ? "?" : can ? (isBad ? "✕ can" : "✓ can") : "can't"}</text></g>`;
}

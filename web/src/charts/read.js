// A table of the page as numbers: nothing is written twice.

/** @typedef {{value: number, low?: number, high?: number}} Cell a figure, and the range that it stands for */
/** @typedef {{name: string, cells: (Cell | undefined)[]}} Row */

const CELL = /^([\d,.]*\d)(?:\s*\[([\d,.]*\d)–([\d,.]*\d)\])?(?:\s|$)/;

/**
 * `3,890 [3,791–4,082] (2.1)`: what follows the range isn't of this column.
 *
 * @param {string} text
 * @returns {Cell | undefined}
 */
export function readCell(text) {
  const [, value, low, high] = CELL.exec(text.trim()) ?? [];
  if (value === undefined) return undefined;
  const cell = { value: number(value) };
  return low === undefined || high === undefined ? cell : { ...cell, low: number(low), high: number(high) };
}

/** @param {string} text */
function number(text) {
  return Number(text.replaceAll(",", ""));
}

/** @param {HTMLTableElement} table */
export function readTable(table) {
  const textOf = (/** @type {Element} */ cell) => cell.textContent?.trim() ?? "";
  const [, ...columns] = [...(table.tHead?.rows[0]?.cells ?? [])].map(textOf);
  const rows = [...(table.tBodies[0]?.rows ?? [])].map(({ cells: [head, ...cells] }) => ({
    name: head ? textOf(head) : "",
    cells: cells.map((cell) => readCell(textOf(cell))),
  }));
  return { columns, rows };
}

/**
 * A log axis: from a round number below the least to just above the most.
 *
 * @param {number[]} values
 */
export function axisOf(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const ticks = [];
  for (let power = Math.floor(Math.log10(least)) - 1; power <= Math.ceil(Math.log10(most)); power += 1) {
    for (const digit of [1, 2, 5]) ticks.push(Number(`${digit}e${power}`));
  }
  const from = ticks.findLast((tick) => tick < least * 0.95) ?? least / 2;
  const to = most * 1.05;
  const at = (/** @type {number} */ value) => Math.log(value / from) / Math.log(to / from);
  const inside = ticks.filter((tick) => tick >= from && tick <= to);
  // More than a handful run into each other.
  const few = inside.length > 6 ? inside.filter((tick) => tick === from || String(tick).replace(/[0.]/g, "") === "1") : inside;
  return { from, at, ticks: few };
}

/** Whether two figures may be the same. @param {Cell} a @param {Cell} b */
export function areClose(a, b) {
  if (a.low === undefined || a.high === undefined || b.low === undefined || b.high === undefined) return false;
  return a.low <= b.high && b.low <= a.high;
}

/** @param {number} value */
export function spoken(value) {
  return value.toLocaleString("en", { maximumFractionDigits: 3 });
}

/**
 * What a column shows, in a sentence.
 *
 * @param {string} column
 * @param {string} unit
 * @param {{name: string, cell: Cell}[]} rows
 */
export function conclusion(column, unit, rows) {
  const sorted = rows.toSorted((a, b) => a.cell.value - b.cell.value);
  const [least] = sorted;
  const most = sorted.at(-1);
  if (!least || !most) return "";
  const of = ({ name = "", cell = least.cell }) => `${name.replace(/^… /, "the row “… ")}${name.startsWith("… ") ? "”" : ""} at ${spoken(cell.value)} ${unit}`;
  const close = sorted.slice(1).filter(({ cell }) => areClose(cell, least.cell)).length;
  const unclear = close === 0 ? "" : ` ${close === 1 ? "One other is" : `${close} others are`} not clearly different from the lowest.`;
  return `${column}: the lowest is ${of(least)}, and the highest is ${of(most)}.${unclear}`;
}

/**
 * How strongly a ratio is colored, from -1 (less than half) to 1 (three times), and 0 for what may be noise.
 *
 * @param {number} ratio
 * @param {number} noise 1/6: nothing is read into less than that
 */
export function heat(ratio, noise) {
  if (ratio < 1 + noise && ratio > 1 / (1 + noise)) return 0;
  return Math.max(-1, Math.min(1, Math.log(ratio) / Math.log(ratio > 1 ? 3 : 2)));
}

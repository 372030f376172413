// Charts that are drawn from the tables that follow them.

import { button, element } from "../common/dom.js";
import { isPrintPage } from "../print.js";
import { comparison, ownRows } from "./own.js";
import { areClose, axisOf, conclusion, heat, readTable, spoken } from "./read.js";

for (const box of document.querySelectorAll("main div.chart")) {
  const wrapper = box.nextElementSibling;
  const table = wrapper?.matches("table") ? wrapper : wrapper?.querySelector("table");
  if (!(box instanceof HTMLElement) || !(wrapper instanceof HTMLElement) || !(table instanceof HTMLTableElement)) continue;
  if (box.dataset.kind === "heat") drawHeat(box, table);
  else drawBars(box, wrapper, table);
}

/**
 * The table stays as it is; its cells are colored.
 *
 * @param {HTMLElement} box
 * @param {HTMLTableElement} table
 */
function drawHeat(box, table) {
  const noise = Number(box.dataset.noise ?? 0);
  const plain = (box.dataset.plain ?? "").split("|").filter(Boolean);
  const { columns, rows } = readTable(table);
  table.classList.add("heat");
  for (const [at, row] of rows.entries()) {
    for (const [column, cell] of row.cells.entries()) {
      const shown = table.tBodies[0]?.rows[at]?.cells[column + 1];
      if (!cell || !shown || plain.includes(columns[column] ?? "")) continue;
      const strength = heat(cell.value, noise);
      if (strength === 0) continue;
      shown.classList.add(strength > 0 ? "hot" : "cold");
      shown.style.setProperty("--heat", `${Math.round(Math.abs(strength) * 100)}%`);
    }
  }
  const key = (/** @type {string} */ kind, /** @type {string} */ text) => element("span", {}, element("span", { class: `heat-key ${kind}`, "aria-hidden": "true" }), text);
  box.append(element("p", { class: "chart-key" }, key("hot", box.dataset.more ?? "more"), key("cold", box.dataset.less ?? "less"), key("", box.dataset.neither ?? "no clear difference")));
}

/**
 * A bar for each row, of one column at a time.
 *
 * @param {HTMLElement} box
 * @param {HTMLElement} wrapper
 * @param {HTMLTableElement} table
 */
function drawBars(box, wrapper, table) {
  const { columns, rows } = readTable(table);
  const { unit = "", own = "", columns: wanted, counts = "", bench } = box.dataset;
  /** @type {import("./read.js").Row[]} */
  let here = [];
  const shown = columns.filter((column, at) => (wanted ? wanted.split("|").includes(column) : rows.some(({ cells }) => cells[at])));
  const said = element("p", { class: "chart-said", role: "status" });
  const picture = element("div", { class: "chart-bars", role: "img" });
  const choices = shown.map((column) => button(column, () => show(column), { class: "choice" }));
  const show = (/** @type {string} */ column) => {
    const at = columns.indexOf(column);
    const barsIn = (/** @type {import("./read.js").Row[]} */ all) => all.flatMap(({ name, cells: { [at]: cell } }) => (cell ? [{ name, cell }] : []));
    const bars = barsIn(rows);
    const [yours, ours] = barsIn(here);
    shownColumn = column;
    for (const choice of choices) choice.setAttribute("aria-pressed", String(choice.textContent === column));
    const compared = yours && ours ? ` ${comparison(yours.cell, ours.cell, Number(bench))}` : "";
    said.textContent = conclusion(`${column} ${counts}`.trim(), unit, bars) + compared;
    picture.setAttribute("aria-label", said.textContent);
    picture.replaceChildren(...barsOf(bars, barsIn(here), own, unit));
  };
  let shownColumn = box.dataset.show ?? shown[0];
  const fold = element("details", { class: "chart-table", open: isPrintPage() || "open" in box.dataset }, element("summary", {}, "The figures as a table"));
  wrapper.before(fold);
  fold.append(wrapper);
  // The page with all chapters prints itself.
  if (!isPrintPage()) box.append(element("div", { class: "chart-choice ws-screen-only", role: "group", "aria-label": "Column" }, ...choices));
  box.append(picture, said);
  if (shownColumn) show(shownColumn);
  if (bench) {
    measuredHere(bench).then((measured) => {
      here = ownRows(measured, Number(bench), box.dataset.parameters?.split("|") ?? columns, unit);
      if (here.length > 0 && shownColumn) show(shownColumn);
    });
  }
}

/**
 * What was measured on this machine, if `cargo workshop` serves the page.
 *
 * @param {string} exercise
 * @returns {Promise<import("./own.js").Measured[]>}
 */
async function measuredHere(exercise) {
  const runner = window.workshopShared?.runner;
  if (isPrintPage() || (await runner?.runnerState()) !== "ready") return [];
  const text = await runner?.ask(`exercises/${exercise}/bench`);
  return text ? JSON.parse(text) : [];
}

/**
 * @param {{name: string, cell: import("./read.js").Cell}[]} bars
 * @param {{name: string, cell: import("./read.js").Cell}[]} here those of this machine, which stand below
 * @param {string} own
 * @param {string} unit
 */
function barsOf(bars, here, own, unit) {
  const axis = axisOf([...bars, ...here].flatMap(({ cell: { value, low = value, high = value } }) => [value, low, high]));
  const percent = (/** @type {number} */ value) => `${(axis.at(value) * 100).toFixed(2)}%`;
  const least = bars.toSorted((a, b) => a.cell.value - b.cell.value)[0]?.cell;
  const rows = [...bars, ...here].map(({ name, cell }, at) => {
    const isHere = at >= bars.length;
    const { value, low, high } = cell;
    const bar = element("span", { class: "chart-bar" });
    bar.style.inlineSize = percent(value);
    const track = element("span", { class: "chart-track" }, bar);
    if (low !== undefined && high !== undefined) {
      const range = element("span", { class: "chart-range" });
      range.style.insetInline = `${percent(low)} calc(100% - ${percent(high)})`;
      track.append(range);
    }
    const isOwn = isHere ? cell === here[0]?.cell : own !== "" && name.startsWith(own);
    const close = !isHere && least && cell !== least && areClose(cell, least);
    return element(
      "div",
      { class: `chart-row${isOwn ? " own" : ""}${isHere ? " here" : ""}` },
      element("span", { class: "chart-name" }, isOwn ? `▶ ${name}` : name),
      track,
      element("span", { class: "chart-value" }, spoken(value), ...(close ? [element("small", {}, " no clear difference from the lowest")] : [])),
    );
  });
  const ticks = axis.ticks.map((tick) => {
    const mark = element("span", {}, spoken(tick));
    mark.style.insetInlineStart = percent(tick);
    return mark;
  });
  return [...rows, element("div", { class: "chart-row chart-axis" }, element("span", { class: "chart-name" }, `${unit}, log axis`), element("span", { class: "chart-track" }, ...ticks), element("span", {}))];
}

// What the scripts and styles of a page weigh, as they're sent. mdBook's own aren't among
// them, and neither is `print.html`, which is all pages at once.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

export const BUDGET_BYTES = 110 * 1024;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Of every page that `cargo workshop` serves; pages elsewhere are without the workbench. */
const EVERYWHERE = ["theme/workshop.js", "theme/workshop.css", "theme/workbench.js", "theme/workbench.css", "theme/fonts/fonts.css"];
/** @type {[RegExp, string][]} what asks for a script of its own: see `figures/load.js`. An exercise may show a failing order. */
const ASKED = [
  [/<ws-(timeline|sweep|steps|scheduler|litmus)\b|class="exercise"/, "src/scripts/figures.js"],
  [/<ws-litmus\b/, "src/scripts/litmus.js"],
  [/<ws-scheduler\b/, "src/scripts/scheduler.js"],
  [/<div class="chart"/, "src/scripts/charts.js"],
];

/** @returns {[string, number][]} */
export function weights() {
  return [...EVERYWHERE, ...ASKED.map(([, file]) => file)].map((file) => [file, weigh(file)]);
}

/** The page that can load the most, of those in the book's source. */
export function heaviest() {
  const all = new Map(weights());
  const pages = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
  const loads = pages.map((page) => {
    const text = readFileSync(`${ROOT}src/${page}`, "utf8");
    const files = [...EVERYWHERE, ...ASKED.filter(([sign]) => sign.test(text)).map(([, file]) => file)];
    return { page, files, bytes: files.reduce((sum, file) => sum + (all.get(file) ?? 0), 0) };
  });
  return loads.reduce((a, b) => (b.bytes > a.bytes ? b : a));
}

/** @param {string} file */
function weigh(file) {
  return gzipSync(readFileSync(`${ROOT}${file}`), { level: 9 }).length;
}

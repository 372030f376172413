// Bundles `src/` into `theme/workshop.js` and `theme/workshop.css`, which every
// page has, and `src/scripts/figures.js` of the book, which pages with a figure
// ask for, and `src/scripts/charts.js`. All are committed, so that neither a reader nor `mdbook build` needs
// Node.

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const BUDGET_BYTES = 45 * 1024;
const FIGURES_BUDGET_BYTES = 58 * 1024;
const BANNER = "/* Generated from web/src by `npm run build`; do not edit. */";
const BUNDLE = new URL("../theme/workshop.js", import.meta.url).pathname;
const WORKBENCH_BUDGET_BYTES = 24 * 1024;
const WORKBENCH = new URL("../theme/workbench.js", import.meta.url).pathname;
const CHARTS = new URL("../src/scripts/charts.js", import.meta.url).pathname;
const CHARTS_BUDGET_BYTES = 4 * 1024;
const FIGURES = new URL("../src/scripts/figures.js", import.meta.url).pathname;

const settings = {
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  banner: { js: BANNER, css: BANNER },
  // Within the file: mdBook copies no other.
  legalComments: "eof",
};
// These have a state of which a page must have one.
const shared = {
  name: "shared",
  setup(/** @type {import("esbuild").PluginBuild} */ build) {
    build.onResolve({ filter: /\/(busy|load|runner)\.js$/ }, ({ path }) => ({ path: /(\w+)\.js$/.exec(path)?.[1], namespace: "shared" }));
    build.onLoad({ filter: /.*/, namespace: "shared" }, ({ path }) => ({ contents: `module.exports = window.workshopShared.${path};` }));
  },
};
await build({ ...settings, entryPoints: [source("src/workbench.js")], outfile: WORKBENCH, plugins: [shared] });
await build({ ...settings, entryPoints: [source("src/figures/script.js")], outfile: FIGURES });
await build({ ...settings, entryPoints: [source("src/charts/script.js")], outfile: CHARTS });
const version = (/** @type {string} */ file) => JSON.stringify(createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 8));
await build({ ...settings, define: { FIGURES_VERSION: version(FIGURES), CHARTS_VERSION: version(CHARTS) }, entryPoints: [source("src/index.js")], outfile: BUNDLE });

/** @param {string} file */
function source(file) {
  return new URL(file, import.meta.url).pathname;
}

/** @param {string[]} files @param {number} budget */
function weigh(files, budget) {
  const sizes = files.map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
  files.forEach((file, index) => console.log(`${file.split("/").at(-1)}  ${(sizes[index] / 1024).toFixed(1)} KB gzipped`));
  if (sizes.reduce((sum, size) => sum + size) <= budget) return;
  console.error(`error: this is over its budget of ${budget / 1024} KB gzipped`);
  process.exitCode = 1;
}

weigh([BUNDLE, BUNDLE.replace(/js$/, "css")], BUDGET_BYTES);
weigh([FIGURES], FIGURES_BUDGET_BYTES);
weigh([CHARTS], CHARTS_BUDGET_BYTES);
weigh([WORKBENCH, WORKBENCH.replace(/js$/, "css")], WORKBENCH_BUDGET_BYTES);

// Bundles `src/` into `theme/workshop.js` and `theme/workshop.css`, which every
// page has, and `src/scripts` of the book: `figures.js`, which pages with a figure
// ask for, `litmus.js`, for which pages with a `<ws-litmus>` ask, too, and
// `charts.js`. All are committed, so that neither a reader nor `mdbook build` needs
// Node.

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const BUDGET_BYTES = 45 * 1024;
const FIGURES_BUDGET_BYTES = 61 * 1024;
const BANNER = "/* Generated from web/src by `npm run build`; do not edit. */";
const BUNDLE = new URL("../theme/workshop.js", import.meta.url).pathname;
const WORKBENCH_BUDGET_BYTES = 24 * 1024;
const WORKBENCH = new URL("../theme/workbench.js", import.meta.url).pathname;
const LITMUS_BUDGET_BYTES = 10 * 1024;
const LITMUS = new URL("../src/scripts/litmus.js", import.meta.url).pathname;
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
/** Modules of which a page must have one: they're taken from what another script has left. @param {RegExp} filter @param {string} from */
function shared(filter, from) {
  return {
    name: "shared",
    setup(/** @type {import("esbuild").PluginBuild} */ build) {
      build.onResolve({ filter }, ({ path }) => ({ path: path === "lit/html.js" ? "lit" : /(\w+)\.js$/.exec(path)?.[1], namespace: "shared" }));
      build.onLoad({ filter: /.*/, namespace: "shared" }, ({ path }) => ({ contents: `module.exports = window.${from}.${path};` }));
    },
  };
}
await build({ ...settings, entryPoints: [source("src/workbench.js")], outfile: WORKBENCH, plugins: [shared(/\/(busy|load|runner)\.js$/, "workshopShared")] });
await build({ ...settings, entryPoints: [source("src/figures/script.js")], outfile: FIGURES });
await build({ ...settings, entryPoints: [source("src/figures/litmus/script.js")], outfile: LITMUS, plugins: [shared(/^lit\/html\.js$|\/(figure|format)\.js$/, "workshopFigures")] });
await build({ ...settings, entryPoints: [source("src/charts/script.js")], outfile: CHARTS });
const version = (/** @type {string[]} */ ...files) => JSON.stringify(files.reduce((hash, file) => hash.update(readFileSync(file)), createHash("sha256")).digest("hex").slice(0, 8));
await build({ ...settings, define: { FIGURES_VERSION: version(FIGURES, LITMUS), CHARTS_VERSION: version(CHARTS) }, entryPoints: [source("src/index.js")], outfile: BUNDLE });

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
weigh([LITMUS], LITMUS_BUDGET_BYTES);
weigh([CHARTS], CHARTS_BUDGET_BYTES);
weigh([WORKBENCH, WORKBENCH.replace(/js$/, "css")], WORKBENCH_BUDGET_BYTES);

// Bundles `src/` into `theme/workshop.js` and `theme/workshop.css`, which every
// page has, and `src/scripts` of the book: `figures.js`, which pages with a figure
// ask for, `litmus.js` and `scheduler.js`, for which pages with that figure ask, too,
// and `charts.js`. All are committed, so that neither a reader nor `mdbook build`
// needs Node.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { BUDGET_BYTES, heaviest, weights } from "./weight.mjs";

const BANNER = "/* Generated from web/src by `npm run build`; do not edit. */";
const BUNDLE = new URL("../theme/workshop.js", import.meta.url).pathname;
const WORKBENCH = new URL("../theme/workbench.js", import.meta.url).pathname;
const LITMUS = new URL("../src/scripts/litmus.js", import.meta.url).pathname;
const SCHEDULER = new URL("../src/scripts/scheduler.js", import.meta.url).pathname;
const CHARTS = new URL("../src/scripts/charts.js", import.meta.url).pathname;
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
for (const [figure, outfile] of [["litmus", LITMUS], ["scheduler", SCHEDULER]]) {
  await build({ ...settings, entryPoints: [source(`src/figures/${figure}/script.js`)], outfile, plugins: [shared(/^lit\/html\.js$|\/(figure|format)\.js$/, "workshopFigures")] });
}
await build({ ...settings, entryPoints: [source("src/charts/script.js")], outfile: CHARTS });
const version = (/** @type {string[]} */ ...files) => JSON.stringify(files.reduce((hash, file) => hash.update(readFileSync(file)), createHash("sha256")).digest("hex").slice(0, 8));
await build({ ...settings, define: { FIGURES_VERSION: version(FIGURES, LITMUS, SCHEDULER), CHARTS_VERSION: version(CHARTS) }, entryPoints: [source("src/index.js")], outfile: BUNDLE });

/** @param {string} file */
function source(file) {
  return new URL(file, import.meta.url).pathname;
}

const inKilobytes = (/** @type {number} */ bytes) => `${(bytes / 1024).toFixed(1)} KB gzipped`;
for (const [file, bytes] of weights()) console.log(`${file}  ${inKilobytes(bytes)}`);
const { page, bytes } = heaviest();
console.log(`the most that a page can load: ${page}, ${inKilobytes(bytes)}`);
if (bytes > BUDGET_BYTES) {
  console.error(`error: this is over the budget of ${BUDGET_BYTES / 1024} KB`);
  process.exitCode = 1;
}

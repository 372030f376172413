// Bundles `src/` into `theme/workshop.js` and `theme/workshop.css`. Both are
// committed, so that neither a reader nor `mdbook build` needs Node.

import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const BUDGET_BYTES = 60 * 1024;
const FIGURES_BUDGET_BYTES = 45 * 1024;
const BANNER = "/* Generated from web/src by `npm run build`; do not edit. */";
const BUNDLE = new URL("../theme/workshop.js", import.meta.url).pathname;
const WORKBENCH_BUDGET_BYTES = 24 * 1024;
const WORKBENCH = new URL("../theme/workbench.js", import.meta.url).pathname;

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
    build.onResolve({ filter: /\/(busy|runner)\.js$/ }, ({ path }) => ({ path: /(\w+)\.js$/.exec(path)?.[1], namespace: "shared" }));
    build.onLoad({ filter: /.*/, namespace: "shared" }, ({ path }) => ({ contents: `module.exports = window.workshopShared.${path};` }));
  },
};
await build({ ...settings, entryPoints: [source("src/index.js")], outfile: BUNDLE });
await build({ ...settings, entryPoints: [source("src/workbench.js")], outfile: WORKBENCH, plugins: [shared] });
const figures = await build({ ...settings, entryPoints: [source("src/figures/index.js")], write: false });

/** @param {string} file */
function source(file) {
  return new URL(file, import.meta.url).pathname;
}

/** @param {string} what @param {Uint8Array} bytes @param {number} [budget] */
function weigh(what, bytes, budget = Infinity) {
  const size = gzipSync(bytes, { level: 9 }).length;
  console.log(`${what}  ${(size / 1024).toFixed(1)} KB gzipped`);
  if (size > budget) {
    console.error(`error: this is over its budget of ${budget / 1024} KB gzipped`);
    process.exitCode = 1;
  }
  return size;
}

const both = (/** @type {string} */ bundle) => [bundle, bundle.replace(/js$/, "css")];
const sum = (/** @type {string} */ bundle) => both(bundle).reduce((sum, file) => sum + weigh(file.split("/").at(-1), readFileSync(file)), 0);
const total = sum(BUNDLE);
if (sum(WORKBENCH) > WORKBENCH_BUDGET_BYTES) {
  console.error(`error: the workbench is over its budget of ${WORKBENCH_BUDGET_BYTES / 1024} KB gzipped`);
  process.exitCode = 1;
}
weigh("of which figures, about", figures.outputFiles[0].contents, FIGURES_BUDGET_BYTES);
if (total > BUDGET_BYTES) {
  console.error(`error: the bundle is over its budget of ${BUDGET_BYTES / 1024} KB gzipped`);
  process.exitCode = 1;
}

// Bundles `src/` into `theme/workshop.js` and `theme/workshop.css`. Both are
// committed, so that neither a reader nor `mdbook build` needs Node.

import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const BUDGET_BYTES = 60 * 1024;
const BANNER = "/* Generated from web/src by `npm run build`; do not edit. */";
const BUNDLE = new URL("../theme/workshop.js", import.meta.url).pathname;

await build({
  entryPoints: [new URL("src/index.js", import.meta.url).pathname],
  outfile: BUNDLE,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  banner: { js: BANNER, css: BANNER },
  legalComments: "eof",
});

let total = 0;
for (const file of [BUNDLE, BUNDLE.replace(/js$/, "css")]) {
  const size = gzipSync(readFileSync(file), { level: 9 }).length;
  total += size;
  console.log(`${file.split("/").at(-1)}  ${(size / 1024).toFixed(1)} KB gzipped`);
}
if (total > BUDGET_BYTES) {
  console.error(`error: the bundle is over its budget of ${BUDGET_BYTES / 1024} KB gzipped`);
  process.exitCode = 1;
}

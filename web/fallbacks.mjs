// Writes src/figures/ID.svg for every figure of the book: what it shows to
// readers without JavaScript. `--check` only says which are stale.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fallbacks } from "./fallbacks/find.mjs";

const BOOK = fileURLToPath(new URL("../src/", import.meta.url));
const isCheck = process.argv.includes("--check");

for (const { file, picture, problem } of fallbacks(BOOK)) {
  if (problem) {
    console.error(`error: ${problem}`);
    process.exitCode = 1;
    continue;
  }
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (before === picture) continue;
  console.log(`${isCheck ? "stale: " : "wrote "}${file}`);
  if (isCheck) process.exitCode = 1;
  else writeFileSync(file, picture);
}

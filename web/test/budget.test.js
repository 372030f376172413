// What a page may weigh, whatever it shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BUDGET_BYTES, heaviest, weights } from "../weight.mjs";

test("the scripts and styles of a page stay within 110 KB", () => {
  const { page, files, bytes } = heaviest();
  // A sign in the pages that no longer fits would find fewer scripts.
  assert(files.includes("src/scripts/figures.js") && files.length > 6, `${page}: ${files}`);
  assert(bytes <= BUDGET_BYTES, `${page} can load ${(bytes / 1024).toFixed(1)} KB: ${files.join(", ")}`);
  for (const [file, weight] of weights()) assert(weight > 0, file);
});

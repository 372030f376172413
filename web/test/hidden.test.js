import assert from "node:assert/strict";
import { test } from "node:test";
import { whereHidden, withoutMargins } from "../src/snippets/hidden.js";

const ORIGINAL = "use a;\n\nfn main() {\n    run();\n}\n\nfn run() {\n    a();\n}\n";
/** @type {[number, number][]} */
const BLOCKS = [[0, 1], [5, 8]];

test("hidden lines are where the book has them, until the reader changes the program", () => {
  assert.deepEqual(whereHidden(ORIGINAL, BLOCKS, ORIGINAL), BLOCKS);
});

test("hidden lines move with what the reader writes around them", () => {
  const text = ORIGINAL.replace("fn main() {\n", "// mine\nfn main() {\n    let x = 1;\n");
  assert.deepEqual(whereHidden(ORIGINAL, BLOCKS, text), [[0, 1], [7, 10]]);
});

test("a hidden block that the reader has changed is hidden no more, and the others are", () => {
  assert.deepEqual(whereHidden(ORIGINAL, BLOCKS, ORIGINAL.replace("a();", "b();")), [[0, 1]]);
  assert.deepEqual(whereHidden(ORIGINAL, BLOCKS, ORIGINAL.replace("use a;", "use b;")), [[5, 8]]);
  assert.deepEqual(whereHidden(ORIGINAL, BLOCKS, ""), []);
});

test("a block is looked for below the one before it", () => {
  const original = "x\na\nx\n\nb\n";
  assert.deepEqual(whereHidden(original, [[2, 2]], "x\na\nx\n\nc\n"), [[0, 0]], "lines that are the same are the same");
  assert.deepEqual(whereHidden(original, [[0, 0], [2, 2]], "x\na\nx\n\nc\n"), [[0, 0], [2, 2]]);
});

test("blank lines around hidden ones are not hidden", () => {
  assert.deepEqual(withoutMargins([[0, 1], [5, 9]], ORIGINAL), [[0, 0], [6, 8]]);
  assert.deepEqual(withoutMargins([[1, 1]], ORIGINAL), []);
});

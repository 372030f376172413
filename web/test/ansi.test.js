import assert from "node:assert/strict";
import { test } from "node:test";
import { ansiPieces } from "../src/common/ansi.js";

const pieces = (text) => ansiPieces(text).map(({ text, classes }) => [text, classes.join(" ")]);

test("plain text is one plain piece", () => {
  assert.deepEqual(pieces("a < b\n"), [["a < b\n", ""]]);
});

test("rustc's colors become classes, and end with a reset", () => {
  assert.deepEqual(pieces("\x1b[1m\x1b[38;5;9merror\x1b[0m: no"), [
    ["error", "ansi-bold ansi-red"],
    [": no", ""],
  ]);
});

test("plain and bright colors are the same color", () => {
  assert.deepEqual(pieces("\x1b[32mok\x1b[92m!\x1b[39m."), [["ok", "ansi-green"], ["!", "ansi-green"], [".", ""]]);
});

test("an empty escape is a reset", () => {
  assert.deepEqual(pieces("\x1b[3mx\x1b[my"), [["x", "ansi-italic"], ["y", ""]]);
});

test("other palettes, backgrounds and cursor movements leave no trace", () => {
  assert.deepEqual(pieces("\x1b[38;2;1;2;3ma\x1b[48;5;1mb\x1b[2Kc\x1b]8;;x\x1b\\d"), [["a", ""], ["b", ""], ["c", ""], ["d", ""]]);
});

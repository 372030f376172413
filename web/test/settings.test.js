import assert from "node:assert/strict";
import { test } from "node:test";
import { localReason, runsTests, settingsOf } from "../src/snippets/settings.js";

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

test("tests are run where they are asked for, or are all there is", () => {
  const plain = settingsOf(["snippet-x"]);
  assert.equal(runsTests(plain, "fn main() {}"), false);
  assert.equal(runsTests(plain, "#[test]\nfn a() {}\nfn main() {}"), false);
  assert.equal(runsTests(plain, "mod tests {\n    #[test]\n    fn a() {}\n}"), true);
  assert.equal(runsTests(plain, "// #[test]\nfn a() {}"), false);
  assert.equal(runsTests(settingsOf(["snippet-x", "tests"]), "fn main() {}"), true);
});

test("what another server cannot run is known before it is sent", () => {
  assert.equal(localReason(settingsOf(["snippet-x"])), undefined);
  assert.match(localReason(settingsOf(["snippet-x", "local-only"])), /crates/);
  assert.match(localReason(settingsOf(["snippet-x", "limit-60s"])), /longer/);
});

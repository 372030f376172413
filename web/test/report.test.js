import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../src/common/report.js";

test("a row's text is whole again, and its own lines stay", () => {
  const message = [
    "clause 4. Any thread",
    "",
    "  promised   The waker that a poll gets wakes this `block_on`.",
    "  seen       the future was polled with `Waker::noop()`, which does nothing",
    "             when it's called",
    "  threads    test  sleeping in `park`",
    "             one   running",
    "  read       one-future/block-on.html#whose-thread-to-wake",
    "",
    "and more",
  ];
  assert.deepEqual(partsOf(message.join("\n")), [
    { text: "clause 4. Any thread\n" },
    { label: "promised", text: "The waker that a poll gets wakes this `block_on`." },
    { label: "seen", text: "the future was polled with `Waker::noop()`, which does nothing when it's called" },
    { label: "threads", text: "test  sleeping in `park`\none   running" },
    { label: "read", text: "one-future/block-on.html#whose-thread-to-wake" },
    { text: "\nand more" },
  ]);
});

test("what has no rows stays as it is", () => {
  for (const message of ["", "assertion failed: left is not right\n  left: 1\n right: 2", "   a  b\n  c", "  x\n             y"]) {
    assert.equal(partsOf(message).map(({ label, text }) => `${label ?? ""}${text}`).join("\n"), message);
    assert.equal(partsOf(message).every(({ label }) => label === undefined), true, message);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { building, duration, ending, spoken } from "../src/common/words.js";

const PLAIN = { limitSeconds: 10, hangs: false, tests: false };

test("durations have the unit that people would use", () => {
  assert.deepEqual([0.2, 4, 151.4, 1234, 12_345].map(duration), ["under 1 ms", "4 ms", "151 ms", "1.23 s", "12.3 s"]);
});

test("a run that went well says how long it took", () => {
  const said = ending({ reason: "exited", code: 0, compile_ms: 151, run_ms: 4 }, PLAIN);
  assert.deepEqual(said, { text: "Finished. Compiled in 151 ms, ran for 4 ms.", bad: false });
});

test("a program that does not compile never ran", () => {
  const said = ending({ reason: "compile-error", code: 1, compile_ms: 47, run_ms: 0 }, PLAIN);
  assert.deepEqual(said, { text: "This does not compile. The compiler took 47 ms.", bad: true });
});

test("a timeout is bad news, except where it was announced", () => {
  assert.match(ending({ reason: "timeout" }, PLAIN).text, /^Timeout: ended after 10 s\.$/);
  assert.equal(ending({ reason: "timeout" }, PLAIN).bad, true);
  assert.equal(ending({ reason: "timeout" }, { ...PLAIN, hangs: true }).bad, false);
});

test("the runner's own sentence about a limit is passed on", () => {
  assert.equal(ending({ reason: "killed", message: "ended with more than 4096 MiB of memory" }, PLAIN).text, "Ended with more than 4096 MiB of memory.");
  assert.match(ending({ reason: "output-limit", message: "ended after 256 KiB of output" }, PLAIN).text, /256 KiB/);
});

test("a panic is told from a failed test and from another exit status", () => {
  assert.equal(ending({ reason: "exited", code: 101 }, PLAIN).text, "The program panicked.");
  assert.equal(ending({ reason: "exited", code: 101 }, { ...PLAIN, tests: true }).text, "A test failed.");
  assert.equal(ending({ reason: "exited", code: 3 }, PLAIN).text, "The program ended with exit status 3.");
});

test("signals have names", () => {
  assert.match(ending({ reason: "signal", code: 6 }, PLAIN).text, /SIGABRT/);
  assert.match(ending({ reason: "signal", code: 63 }, PLAIN).text, /signal 63/);
});

test("a test's name is read as a sentence", () => {
  assert.equal(spoken("tests::a_wake_during_poll_is_not_lost"), "a wake during poll is not lost");
});

test("progress has both numbers", () => {
  assert.match(building({ done: 3, total: 40 }), /3 of 40/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf } from "../src/snippets/remote.js";

const cargo = (words) => `   Compiling playground v0.0.1 (/playground)\n${words}`;
const ran = "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.61s\n     Running `target/debug/playground`\n";

function events(answer, tests = false) {
  return [...eventsOf({ success: true, exitDetail: "Exited with status 0", stdout: "", stderr: "", ...answer }, tests)];
}

test("output is told apart from cargo's words and the compiler's", () => {
  const warning = "warning: unused variable: `x`\n --> src/main.rs:2:9\n  |\n2 |     let x = 1;\n\n";
  const summary = 'warning: `playground` (bin "playground") generated 1 warning\n';
  const found = events({ stdout: "hello\n", stderr: `${cargo(warning + summary)}${ran}aside\n` });
  assert.deepEqual(found, [
    { type: "diagnostic", level: "warning", rendered: `${warning.trimEnd()}\n`, line: 2 },
    { type: "stderr", text: "aside\n" },
    { type: "stdout", text: "hello\n" },
    { type: "exit", reason: "exited", code: 0, compile_ms: null, run_ms: null },
  ]);
});

test("each error has its line, and what counts them is left out", () => {
  const one = "error[E0425]: cannot find function `a` in this scope\n --> src/main.rs:1:13\n  |\n";
  const two = "error: expected `;`\n --> src/main.rs:7:2\n  |\n";
  const end = "For more information about this error, try `rustc --explain E0425`.\nerror: could not compile `playground` (bin \"playground\") due to 2 previous errors\n";
  const found = events({ success: false, exitDetail: "Exited with status 101", stderr: cargo(`${one}\n${two}\n${end}`) });
  assert.deepEqual(found.map(({ type, line }) => [type, line]), [["diagnostic", 1], ["diagnostic", 7], ["exit", undefined]]);
  assert.equal(found.at(-1).reason, "compile-error");
});

test("panics, signals and the server's own limits are told", () => {
  const end = (exitDetail) => events({ success: false, exitDetail, stderr: cargo(ran) }).at(-1);
  assert.deepEqual([end("Exited with status 101").reason, end("Exited with status 101").code], ["exited", 101]);
  assert.deepEqual([end("Exited with signal 6 (SIGABRT): abort program").reason, end("Exited with signal 6").code], ["signal", 6]);
  assert.equal(end("The process took too long").message, "the process took too long");
  const odd = events({ success: false, exitDetail: "", stderr: "no cargo here\n" });
  assert.deepEqual(odd[0], { type: "stderr", text: "no cargo here\n" });
});

test("tests come one by one, a failure with its message", () => {
  const stdout = "\nrunning 3 tests\ntest a ... ok\ntest inner::b ... FAILED\ntest c - should panic ... ok\n\nfailures:\n\n---- inner::b stdout ----\n\nthread 'inner::b' panicked at src/main.rs:3:5:\nleft is not right\n\n\nfailures:\n    inner::b\n\ntest result: FAILED.\n";
  const found = events({ success: false, exitDetail: "Exited with status 101", stdout, stderr: cargo(ran) }, true);
  assert.deepEqual(found.map(({ name, outcome, message }) => [name, outcome, message]).slice(0, 3), [
    ["a", "passed", null],
    ["inner::b", "failed", "thread 'inner::b' panicked at src/main.rs:3:5:\nleft is not right"],
    ["c", "passed", null],
  ]);
});

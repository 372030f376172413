import assert from "node:assert/strict";
import { test } from "node:test";
import { pollCalled, questionOf, rangeOf, startOf, step } from "../src/figures/timeline/model.js";
import { statistics } from "../src/figures/timeline/words.js";
import { LATE } from "./figures.js";

const PANELS = [LATE];
const FOUND = PANELS.map((panel) => statistics(panel, 1_000_000));
const START = { view: "task", at: 0, from: 0, to: LATE.end, selected: undefined, phase: "shown", guess: undefined };

test("the cursor stays within the trace", () => {
  assert.equal(step(START, { type: "seek", at: -5 }, PANELS).at, 0);
  assert.equal(step(START, { type: "seek", at: 1e12 }, PANELS).at, LATE.end);
});

test("zooming keeps the cursor at its place and never shows more than there is", () => {
  const at = { ...START, at: 1_530_000 };
  const near = step(at, { type: "zoom", factor: 0.5 }, PANELS);
  assert.equal(Math.round(near.to - near.from), LATE.end / 2);
  assert(Math.abs((at.at - near.from) / (near.to - near.from) - at.at / LATE.end) < 1e-9);
  const wide = step(near, { type: "zoom", factor: 100 }, PANELS);
  assert.deepEqual([wide.from, wide.to], [0, LATE.end]);
});

test("a poll one jumps to is brought into view, wait and all", () => {
  const elsewhere = { ...START, from: 0, to: 500_000 };
  const { from, to, at, selected } = step(elsewhere, { type: "select", panel: 0, poll: 7, show: true }, PANELS);
  assert(from <= 2_090_000 && to >= 5_080_000);
  assert.equal(at, 5_040_000);
  assert.deepEqual(selected, { panel: 0, poll: 7 });
});

test("what does not exist is not selected", () => {
  assert.equal(step(START, { type: "select", panel: 3, poll: 0 }, PANELS), START);
});

test("polls have names", () => {
  assert.equal(pollCalled("longest-poll", PANELS, FOUND).poll.start, 1_530_000);
  assert.equal(pollCalled("longest-wait", PANELS, FOUND).poll.start, 5_040_000);
  assert.equal(pollCalled("poll:E blocker:1", PANELS, FOUND).poll.start, 170_000);
  assert.equal(pollCalled("poll:nobody:1", PANELS, FOUND), undefined);
  assert.equal(pollCalled(undefined, PANELS, FOUND), undefined);
});

test("a question covers its lane from the poll before on", () => {
  assert.deepEqual(questionOf("poll:heartbeat:3", PANELS), { panel: 0, task: 2, from: 1_140_000, answer: 5_040_000 });
  assert.deepEqual(questionOf("end:A", PANELS), { panel: 0, task: 4, from: 95_000, answer: 5_190_000 });
  assert.equal(questionOf("end:nobody", PANELS), undefined);
});

test("a guess is kept when it was made, and forgotten when it was not", () => {
  const guessed = step({ ...START, phase: "asking" }, { type: "guess", at: 2_000_000 }, PANELS);
  assert.equal(step(guessed, { type: "reveal", guessed: true }, PANELS).guess, 2_000_000);
  const looked = step(guessed, { type: "reveal", guessed: false }, PANELS);
  assert.deepEqual([looked.guess, looked.phase], [undefined, "shown"]);
});

test("a range is read, and nonsense shows all", () => {
  assert.deepEqual(rangeOf("1ms..2.5ms", 6_000_000), { from: 1_000_000, to: 2_500_000 });
  assert.deepEqual(rangeOf("500us..9ms", 6_000_000), { from: 500_000, to: 6_000_000 });
  for (const text of [undefined, "", "2ms..1ms", "7ms..9ms", "soon..later"]) assert.deepEqual(rangeOf(text, 6_000_000), { from: 0, to: 6_000_000 });
});

test("a trace that begins late is shown from just before it begins", () => {
  assert.equal(startOf([LATE]), 0);
  assert.equal(startOf([{ ...LATE, first: 5_000_000, end: 6_000_000 }]), 4_980_000);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { derive } from "../src/figures/timeline/derive.js";
import { choices, firstState, noted } from "../src/figures/timeline/first.js";
import { pollCalled, questionOf, rangeOf, startOf, step } from "../src/figures/timeline/model.js";
import { parseTrace } from "../src/figures/timeline/read.js";
import { statistics } from "../src/figures/timeline/words.js";
import { LATE, fileText } from "./figures.js";

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

test("zooming around a place keeps that place, wherever the cursor is", () => {
  const near = step({ ...START, at: 1_530_000 }, { type: "zoom", factor: 0.25, around: 4_000_000 }, PANELS);
  assert(Math.abs((4_000_000 - near.from) / (near.to - near.from) - 4_000_000 / LATE.end) < 1e-9);
  assert.equal(near.at, 1_530_000);
});

test("a part of the time is shown as it was dragged, within what there is and no smaller than can be seen", () => {
  const shown = (from, to) => {
    const state = step(START, { type: "range", from, to }, PANELS);
    return [state.from, state.to];
  };
  assert.deepEqual(shown(1_000_000, 2_000_000), [1_000_000, 2_000_000]);
  assert.deepEqual(shown(-500_000, 500_000), [0, 1_000_000], "moved over the edge it keeps its width");
  assert.deepEqual(shown(LATE.end - 10, LATE.end + 999_990), [LATE.end - 1_000_000, LATE.end]);
  const [from, to] = shown(1_000_000, 1_000_000);
  assert(to > from);
});

test("what a figure is about is marked once, and stays in what is shown", () => {
  const queues = derive(parseTrace(fileText("queues.json")));
  const steal = queues.moves.find(({ kind }) => kind === "steal");
  const chosen = choices({ view: "worker", note: "steal: two move", range: "0ns..1ns" });
  const found = [statistics(queues, 1_000_000)];
  for (const times of [1, 2]) {
    const state = firstState([queues], found, chosen);
    assert.equal(state.at, steal.t, `${times}`);
    assert(state.to >= steal.t, "a run in which it comes later is shown whole");
    assert.deepEqual(queues.marks.filter(({ text }) => text === "two move").map(({ t }) => t), [steal.t]);
  }
  assert.equal(noted("dance: nothing", [queues]), undefined);
  assert.equal(noted(undefined, [queues]), undefined);
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { derive } from "../src/figures/timeline/derive.js";
import { choices, firstState, noted } from "../src/figures/timeline/first.js";
import { pollCalled, questionOf, rangeOf, startOf, step } from "../src/figures/timeline/model.js";
import { parseTrace } from "../src/figures/timeline/read.js";
import { statistics } from "../src/figures/timeline/words.js";
import { LATE, fileText, traceOf } from "./figures.js";

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

/** What is noted of a trace of such polls, wake-ups and parks: `worker task from to ready`, and so on. */
function notedIn(note, { polls = [], wakes = [], parks = [] }, meta = {}) {
  const events = [
    ...polls.flatMap(([worker, task, start, end, ready = 0]) => [[start, "poll+", worker, task, 0], [end, "poll-", worker, task, ready]]),
    ...wakes.map(([t, task, kind = "wake"]) => [t, kind, -1, task, 0]),
    ...parks.flatMap(([worker, start, end]) => [[start, "park", worker, 0, 0], [end, "unpark", worker, 0, 0]]),
  ];
  const timeline = derive(traceOf(events, meta));
  const at = noted(note, [timeline]);
  assert.deepEqual(timeline.marks.map(({ t }) => t), at === undefined ? [] : [at]);
  return at === undefined ? undefined : `${at} ${timeline.marks[0].text}`;
}

test("the wake-ups are noted that come when all tasks have been polled, and no others", () => {
  const [polls, wakes] = [[[0, 1, 10, 20], [0, 2, 20, 30]], [[0, 1, "spawn"], [5, 2, "spawn"], [32, 2], [33, 1]]];
  assert.equal(notedIn("wake: all were polled", { polls, wakes }), "32 all were polled");
  assert.equal(notedIn("wake: all were polled", { polls, wakes: [[19, 1], ...wakes] }), undefined, "the first wakes itself in its poll");
  assert.equal(notedIn("wake: all were polled", { polls, wakes: [...wakes, [31, 3, "spawn"]] }), undefined, "one has no poll");
  assert.equal(notedIn("wake: all were polled", { polls, wakes: wakes.slice(0, 2) }), undefined, "nothing is woken");
});

test("a worker is noted that parks for good while another polls on", () => {
  const polls = [[0, 1, 10, 20, 1], [1, 2, 10, 50], [1, 2, 50, 90, 1]];
  assert.equal(notedIn("park: {worker} is out", { polls, parks: [[0, 25, 60], [0, 61, 95]] }), "25 W0 is out");
  assert.equal(notedIn("park: {worker} is out", { polls: [...polls, [0, 3, 61, 70, 1]], parks: [[0, 25, 60]] }), undefined, "it polls again");
  assert.equal(notedIn("park: {worker} is out", { polls, parks: [[0, 55, 95]] }), undefined, "the other begins nothing more");
  assert.equal(notedIn("park: {worker} is out", { polls: [polls[0], [-1, 2, 40, 50, 1]], parks: [[0, 25, 60]] }), undefined, "no other worker polls");
  assert.equal(notedIn("park: {worker} is out", { polls, parks: [[0, 25, 95], [2, 30, 40]] }, { workers: 3 }), "25 W0 is out", "the first to park, whichever is unparked first");
});

test("it is noted when no task needs a worker", () => {
  const [polls, wakes] = [[[0, 1, 10, 20], [1, 2, 30, 40], [0, 1, 80, 90, 1]], [[0, 1, "spawn"], [25, 2, "spawn"], [70, 1]]];
  const parks = [[1, 5, 28], [0, 22, 75], [1, 42, 95]];
  assert.equal(notedIn("idle: none", { polls, wakes, parks }), "42 none", "at 22 the second has had no poll yet");
  assert.equal(notedIn("idle: none", { polls, wakes: [[35, 1], ...wakes], parks }), undefined, "one is woken and waits");
  assert.equal(notedIn("idle: none", { polls: [...polls, [-1, 3, 26, 29, 1]], wakes, parks }), "42 none", "a thread that isn't a worker doesn't count");
  assert.equal(notedIn("idle: none", { polls, wakes, parks: parks.slice(2) }), undefined, "one worker is awake");
  assert.equal(notedIn("idle: none", { polls, wakes, parks: [parks[0], parks[2], [0, 22, 41]] }), undefined, "it was parked");
  assert.equal(notedIn("idle: none", { polls: polls.slice(0, 2), wakes, parks }), undefined, "all is over");
});

test("a worker is noted that polls on while the others are parked", () => {
  const polls = [[0, 1, 10, 20, 1], [0, 2, 20, 30, 1]];
  assert.equal(notedIn("alone: {worker}", { polls, parks: [[1, 5, 35]] }), "20 W0", "its first poll isn't the point");
  assert.equal(notedIn("alone: {worker}", { polls, parks: [[1, 22, 35]] }), undefined);
  assert.equal(notedIn("alone: {worker}", { polls: [[-1, 1, 10, 20, 1], [-1, 2, 20, 30, 1]], parks: [[0, 5, 35], [1, 5, 35]] }), undefined, "no worker polls");
  assert.equal(notedIn("alone: {worker}", { polls }, { workers: 1 }), undefined, "there are no others");
});

test("a worker is noted that begins a task that it passed over", () => {
  const wakes = [[0, 1, "spawn"], [0, 2, "spawn"]];
  const polls = [[0, 1, 10, 20], [0, 1, 20, 30, 1], [0, 2, 30, 40]];
  assert.equal(notedIn("adopt: {worker}, {task}", { polls, wakes }, { names: { 2: "serve 3" } }), "30 W0, serve 3");
  assert.equal(notedIn("adopt: it", { polls, wakes: [[0, 1, "spawn"], [25, 2, "spawn"]] }), undefined, "it wasn't there before");
  assert.equal(notedIn("adopt: it", { polls: [[0, 1, 10, 20], [0, 2, 20, 30], [0, 1, 30, 40]], wakes }), undefined, "in turn");
  assert.equal(notedIn("adopt: it", { polls: [[0, 1, 10, 20], [0, 2, 22, 24], [0, 2, 24, 30], [0, 1, 40, 50]], wakes: [...wakes, [21, 1]] }), undefined, "it has polled that before");
  assert.equal(notedIn("adopt: it", { polls, wakes }, { dropped: 1 }), undefined, "what it was polled before may be lost");
});

test("what is noted stands in each panel that has it", () => {
  const woken = (start, at) => derive(traceOf([[start, "poll+", 0, 1, 0], [start + 5, "poll-", 0, 1, 0], [at, "wake", -1, 1, 0]]));
  const panels = [woken(0, 9), woken(0, 3), woken(50, 59)];
  assert.equal(noted("wake: now", panels), 9);
  assert.deepEqual(panels.map(({ marks }) => marks.map(({ t }) => t)), [[9], [], [59]]);
});

test("what is noted has its place before the program's own marks", () => {
  const timeline = derive(traceOf([[0, "poll+", 0, 1, 0], [5, "poll-", 0, 1, 0], [6, "mark", 0, 1, 0], [9, "wake", -1, 1, 0]], { marks: ["mine"] }));
  noted("wake: noted", [timeline]);
  assert.deepEqual(timeline.marks.map(({ text }) => text), ["noted", "mine"]);
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

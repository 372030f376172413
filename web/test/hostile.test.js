// Documents that no recorder has written: each is drawn within moments, or told
// in a sentence. None of them may keep the page busy.

import assert from "node:assert/strict";
import { test } from "node:test";
import { choices, firstState } from "../src/figures/timeline/first.js";
import { derive } from "../src/figures/timeline/derive.js";
import { parseTrace } from "../src/figures/timeline/read.js";
import { asText } from "../src/figures/timeline/table.js";
import { picture } from "../src/figures/timeline/view.js";
import { chain, describe, explain, pointsOfInterest, sentences, statistics } from "../src/figures/timeline/words.js";
import { orderedRun, recordedRun } from "../src/figures/steps/derive.js";
import { firstOrder, widestOf } from "../src/figures/steps/first.js";
import { solve } from "../src/figures/steps/machine.js";
import { parseSteps } from "../src/figures/steps/read.js";
import { asText as stepsAsText } from "../src/figures/steps/table.js";
import { picture as stepsPicture } from "../src/figures/steps/view.js";
import { sentences as stepsSentences } from "../src/figures/steps/words.js";
import { parseSweep } from "../src/figures/sweep/read.js";
import { Unreadable } from "../src/figures/unreadable.js";

/** Far more than it takes; of old some of these never ended. */
const LIMIT = { timeout: 600_000 };
const MANY = 50_000;
const SENTENCE = /^[A-Z].*[.]$/s;

const many = (row) => Array.from({ length: MANY }, (_, index) => row(index));
const text = ({ events = [[0, "poll+", 0, 1, 0], [9, "poll-", 0, 1, 1]], ...rest }) => JSON.stringify({ schema: "workshop.trace/1", meta: { workers: 2 }, events, ...rest });
const odd = { toString: 1, valueOf: [], toJSON: null };
const ODDITIES = [null, true, -1, 0.5, 1e9, 1e308, "", "x".repeat(1_000_000), [], [[]], {}, odd, [odd], { length: 1e9 }];

/** All that a page does with a trace before and after a reader looks at it. */
function draw(source) {
  const timeline = derive(parseTrace(source));
  const chosen = choices({});
  const found = statistics(timeline, chosen.longNs);
  const said = sentences(timeline, found);
  const points = pointsOfInterest(timeline, found);
  for (const poll of [...points, timeline.polls[0], timeline.polls.at(-1)]) {
    explain(poll, timeline);
    chain(poll, timeline);
  }
  describe(timeline, timeline.end / 2);
  const state = firstState([timeline], [found], chosen);
  const settings = { width: 680, id: "x", longNs: chosen.longNs, tasks: [], titles: [timeline.trace.title], label: said.join(" "), question: undefined, queues: true };
  const last = { panel: 0, poll: timeline.polls.length - 1 };
  const drawn = [{ view: "task", selected: undefined }, { view: "worker", selected: last }].map((chosen) => parts(picture([timeline], { ...state, ...chosen }, settings)));
  asText([{ timeline, title: "x", sentences: said }], true, { isOpen: true, toggle() {} }, () => {});
  return Math.max(...drawn);
}

/** Of how many pieces a template is made. @returns {number} */
function parts(template) {
  if (Array.isArray(template)) return template.reduce((sum, one) => sum + parts(one), 0);
  return template?.values ? template.values.reduce((sum, one) => sum + parts(one), 1) : 0;
}

/** Draws it, or is told in one sentence why not. */
function drawnOrTold(source, what) {
  try {
    const size = draw(source);
    assert(size < 10_000, `${what}: a picture of ${size} pieces`);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw new Error(`${what}: ${error.stack}`);
    assert.match(error.message, SENTENCE, what);
    assert(error.message.length < 500, `${what}: ${error.message.length} letters`);
  }
}

test("a trace without bounds is told", LIMIT, () => {
  for (const workers of [1e9, 257, -1, 0.5, "8", null, [], odd]) {
    const source = text({ meta: { workers } });
    if (workers === null) draw(source);
    else assert.throws(() => draw(source), Unreadable, String(JSON.stringify(workers)));
  }
  assert.throws(() => draw(text({ events: [[0, "poll+", 1e9, 1, 0], [1, "poll-", 1e9, 1, 0]] })), /worker 1000000000/);
  assert(draw(text({ meta: { workers: 256 } })) > 0);
});

test("an event that is none is told with its number", LIMIT, () => {
  for (const event of [null, 1, "x", {}, [], [null], [0], [0, "poll+"], [0, null, 0, 1], ["0", "poll+", 0, 1], [NaN, "poll+", 0, 1], [-1, "poll+", 0, 1], [1e300, "poll+", 0, 1], [0, "poll+", 0.5, 1], [0, "poll+", 0, {}], [0, {}, 0, 1]]) {
    const source = text({ events: [[0, "poll+", 0, 7, 0], event] });
    assert.throws(() => draw(source), (error) => error instanceof Unreadable && /^Event [12] of this trace/.test(error.message), JSON.stringify(event));
  }
});

test("fifty thousand of anything don't keep the page busy", LIMIT, () => {
  const heaps = {
    "polls without an end, of as many tasks": (index) => [index, "poll+", index % 2, index, 0],
    "polls without an end, on another thread": (index) => [index, "poll+", -1, index, 0],
    "polls without an end, on as many workers": (index) => [index, "poll+", index % 256, index, 0],
    "polls without a beginning": (index) => [index, "poll-", 0, index, 0],
    "polls of as many tasks": (index) => [index, index % 2 ? "poll-" : "poll+", 0, index >> 1, 0],
    "polls of one task": (index) => [index * 1000, index % 2 ? "poll-" : "poll+", 0, 1, 0],
    "polls that wake the next": (index) => [index, ["wake", "poll+", "poll-"][index % 3], 0, index % 3 ? 1 + Math.floor(index / 3) : 2 + Math.floor(index / 3), Math.floor(index / 3)],
    "wake-ups": (index) => [index, index < MANY - 2 ? "wake" : index % 2 ? "poll-" : "poll+", 0, 1, 1],
    marks: (index) => [index, index < MANY - 2 ? "mark" : index % 2 ? "poll-" : "poll+", 0, 1, 0],
    parks: (index) => [index, index < MANY - 2 ? (index % 2 ? "unpark" : "park") : index % 2 ? "poll-" : "poll+", 0, 1, 0],
    searches: (index) => [index, index < MANY - 2 ? (index % 2 ? "search-" : "search+") : index % 2 ? "poll-" : "poll+", 0, 1, 0],
    "steps of queues": (index) => [index, index < MANY - 2 ? ["push", "steal", "take", "overflow", "notify"][index % 5] : index % 2 ? "poll-" : "poll+", index < MANY - 2 ? index % 3 : 0, 1, index % 3, 1e15],
    "events at one time": (index) => [0, index % 2 ? "poll-" : "poll+", 0, 1, 0],
    "events of an age": (index) => [index * 1e11, index % 2 ? "poll-" : "poll+", 0, 1, 0],
  };
  for (const [what, row] of Object.entries(heaps)) {
    for (const meta of [{ workers: 2 }, { workers: 256, dropped: 1, marks: ["x".repeat(1000)] }]) drawnOrTold(text({ events: many(row), meta }), what);
  }
  drawnOrTold(text({ events: Array.from({ length: 400_000 }, (_, index) => [index, "poll+", 0, index, 0]) }), "very many events");
});

test("whatever stands in the place of a text, a number or a list, the page stands", LIMIT, () => {
  for (const oddity of ODDITIES) {
    for (const field of ["meta", "names", "cols", "events", "schema"]) drawnOrTold(text({ [field]: oddity }), `${field}: ${typeof oddity}`);
    for (const field of ["title", "runtime", "recorded", "dropped", "dropped_from_ns", "event_cost_ns", "marks", "host", "workers"]) {
      drawnOrTold(text({ meta: { [field]: oddity } }), field);
      drawnOrTold(text({ meta: { host: { cpu: oddity, cores: oddity, os: oddity } } }), "host");
    }
    drawnOrTold(text({ names: { 1: oddity } }), "a name");
    drawnOrTold(text({ cols: ["t", "k", "w", "task", oddity] }), "a column");
    drawnOrTold(text({ meta: { marks: [oddity] }, events: [[0, "mark", 0, 1, 0], [0, "poll+", 0, 1, 0], [9, "poll-", 0, 1, 1]] }), "a mark");
  }
  for (const source of ["", "null", "[]", "1", '"x"', "{}", "[".repeat(100_000)]) drawnOrTold(source, source.slice(0, 9));
});

test("a sweep is read, or told, whatever stands in it", LIMIT, () => {
  const point = (n) => ({ N: n, items_per_s: [n], wake_ns: { samples: [n] } });
  const sweep = (rest) => JSON.stringify({ schema: "workshop.sweep/1", meta: { x: "N" }, points: [point(1), point(2)], ...rest });
  const read = (source, what) => {
    try {
      const { points } = parseSweep(source);
      assert(points.every(({ n, rate, p50 }) => Number.isFinite(n) && Number.isFinite(rate) && (p50 === undefined || Number.isFinite(p50))), what);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw new Error(`${what}: ${error.stack}`);
      assert.match(error.message, SENTENCE, what);
    }
  };
  for (const oddity of ODDITIES) {
    for (const field of ["meta", "points", "schema"]) read(sweep({ [field]: oddity }), field);
    for (const field of ["title", "x", "runtime", "recorded", "calibration_ns", "host"]) read(sweep({ meta: { [field]: oddity } }), field);
    for (const field of ["N", "items_per_s", "wake_ns"]) read(sweep({ points: [point(1), point(2), { ...point(3), [field]: oddity }] }), field);
    read(sweep({ points: [point(1), point(2), oddity] }), "a point");
    read(sweep({ points: [point(1), point(2), { ...point(3), wake_ns: { samples: oddity, p10: oddity, p50: oddity } }] }), "waits");
  }
  assert.throws(() => parseSweep(sweep({ points: many((index) => point(index + 1)) })), /50000 points/);
  read(sweep({ meta: { calibration_ns: many((index) => index) } }), "much noise");
});

test("steps are drawn, or told, whatever stands in them", LIMIT, () => {
  const step = { thread: 0, text: "a", changes: [{ cell: 0, value: 1 }] };
  const line = { thread: 0, code: "a", cases: [{ says: "" }], waits: "waits" };
  const base = { schema: "workshop.steps/1", title: "x", threads: [{ name: "A" }], cells: [{ name: "x", initial: 0 }] };
  const end = { kind: "done", text: "" };
  const drawnOrTold = (document, what) => {
    try {
      const steps = parseSteps(typeof document === "string" ? document : JSON.stringify(document));
      const solution = steps.programs.length > 0 ? solve(steps) : undefined;
      const run = solution ? orderedRun(steps, firstOrder(steps, solution), solution) : recordedRun(steps);
      const settings = { at: run.rows.length, width: 680, widest: widestOf(run, solution), label: "", id: "x" };
      const size = parts(stepsPicture(run, settings)) + parts(stepsAsText(run, stepsSentences(run, solution), 0, true, { isOpen: true, toggle() {} }, () => {}));
      assert(size < 100_000, `${what}: a picture of ${size} pieces`);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw new Error(`${what}: ${error.stack}`);
      assert.match(error.message, SENTENCE, what);
      assert(error.message.length < 500, `${what}: ${error.message.length} letters`);
    }
  };
  for (const oddity of ODDITIES) {
    for (const rest of [{ steps: [step], end }, { lines: [line] }]) {
      for (const field of ["schema", "title", "description", "threads", "cells", "steps", "lines", "end", "show"]) drawnOrTold({ ...base, ...rest, [field]: oddity }, field);
      drawnOrTold({ ...base, ...rest, threads: [oddity] }, "a thread");
      drawnOrTold({ ...base, ...rest, cells: [{ name: oddity, initial: oddity }] }, "a cell");
      drawnOrTold({ ...base, ...rest, show: [oddity] }, "shown");
    }
    for (const field of Object.keys({ ...step, wakes: 0, stale: 0, source: 0, note: 0, ordering: 0 })) drawnOrTold({ ...base, end, steps: [{ ...step, [field]: oddity }] }, field);
    for (const field of Object.keys({ ...line, label: 0, rests: 0 })) drawnOrTold({ ...base, lines: [{ ...line, [field]: oddity }] }, field);
    for (const field of ["when", "set", "to", "says", "fails"]) drawnOrTold({ ...base, lines: [{ ...line, cases: [{ says: "", [field]: oddity }] }] }, field);
    drawnOrTold({ ...base, lines: [{ ...line, cases: [{ set: { x: oddity }, when: { x: oddity }, says: "" }] }] }, "a value");
    drawnOrTold({ ...base, end, steps: [oddity] }, "a step");
    drawnOrTold({ ...base, lines: [oddity] }, "a line");
  }
  for (const source of ["", "null", "[]", "{}", "[".repeat(100_000)]) drawnOrTold(source, source.slice(0, 9));
  drawnOrTold({ ...base, end, steps: many(() => step) }, "many steps");
  drawnOrTold({ ...base, threads: many(() => ({ name: "A" })), lines: [line] }, "many threads");
  const counts = { thread: 0, code: "count", label: "top", cases: [{ set: { x: { add: 1 } }, to: "top", says: "" }] };
  assert.throws(() => solve(parseSteps(JSON.stringify({ ...base, lines: [counts] }))), /more than 20000 states/);
});

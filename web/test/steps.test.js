// Steps: what solving every order finds, and what is drawn and said of one.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { orderedRun, recordedRun, shown } from "../src/figures/steps/derive.js";
import { conclusion, firstOrder, widestOf } from "../src/figures/steps/first.js";
import { layout, wrapped } from "../src/figures/steps/layout.js";
import { failingOrder, firstOf, follow, keyOf, solve, stepped } from "../src/figures/steps/machine.js";
import { parseSteps, readSteps } from "../src/figures/steps/read.js";
import { asText } from "../src/figures/steps/table.js";
import { picture } from "../src/figures/steps/view.js";
import { changesOf, failure, lastChance, momentSentence, reachable, sentences, told, total, untoldChanges } from "../src/figures/steps/words.js";
import { toText } from "../fallbacks/static-html.mjs";
import { fileText } from "./figures.js";

const TRACES = new URL("../../src/traces/", import.meta.url);
const committed = readdirSync(TRACES).filter((file) => readFileSync(new URL(file, TRACES), "utf8").startsWith('{"schema":"workshop.steps/1"'));
const GAP = parseSteps(fileText("steps-gap.json"));
const SOLVED = solve(GAP);
const RECORDED = recordedRun(parseSteps(fileText("steps-recorded.json")));
const FAILING = recordedRun(parseSteps(fileText("steps-failing.json")));
const LOSING = [0, 1, 1, 0];
const LIFE_STEPS = parseSteps(readFileSync(new URL("steps-task-life.json", TRACES), "utf8"));
const LIFE_SOLVED = solve(LIFE_STEPS);
const LIFE = orderedRun(LIFE_STEPS, LIFE_STEPS.show, LIFE_SOLVED);

const HEAP_STEPS = parseSteps(readFileSync(new URL("steps-sleep-heap.json", TRACES), "utf8"));
const HEAP_SOLVED = solve(HEAP_STEPS);
const HEAP = orderedRun(HEAP_STEPS, HEAP_STEPS.show, HEAP_SOLVED);

/** A program of one thread or two, in short. */
function level(lines, cells, rest = {}) {
  return readSteps({ schema: "workshop.steps/1", title: "x", threads: [{ name: "A" }, { name: "B" }], cells, lines, ...rest });
}

/** All orders one by one, as it's done without thinking. */
function everyOrder(steps, state = firstOf(steps)) {
  const next = steps.threads.map((_, thread) => stepped(steps, state, thread)).filter(Boolean);
  if (next.length === 0) return [state];
  return next.flatMap((after) => everyOrder(steps, after));
}

const picturedAs = (run, solution, width, at) => ({ at, width, widest: widestOf(run, solution), label: conclusion(run), id: "x" });
const texts = (html) => [...html.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
const plain = (html) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

for (const file of committed) {
  test(`${file}: trying every order finds what it claims`, () => {
    const steps = parseSteps(readFileSync(new URL(file, TRACES), "utf8"));
    if (steps.programs.length === 0) return assert(steps.end && steps.description.endsWith("."));
    const solution = solve(steps);
    const { claim } = steps.document;
    assert.deepEqual({ orders: solution.first.orders, failing: solution.first.failing }, claim);
    const ends = everyOrder(steps).map((state) => solution.nodes.get(keyOf(state))?.end);
    assert.equal(ends.length, claim.orders);
    assert.equal(ends.filter((end) => end !== "done").length, claim.failing);
    const run = orderedRun(steps, firstOrder(steps, solution), solution);
    assert(run.end, "the order that is shown ends");
    assert.equal(run.end.kind !== "done", claim.failing > 0, "where an order fails, it's the one that is shown");
    if (steps.show.length > 0) assert.equal(run.rows.length, steps.show.length, "all of the order can happen");
  });
}

test("the gap hangs in one order of five, and the shortest way there is known", () => {
  assert.equal(total(SOLVED), "Every order was tried, through 12 states: 1 of the 5 orders hangs.");
  assert.deepEqual(failingOrder(SOLVED, SOLVED.first), LOSING);
  const run = orderedRun(GAP, LOSING, SOLVED);
  assert.deepEqual(run.end, { kind: "deadlock", text: "Sleeper sleeps in wait, and no thread is left to change that: a hang.", threads: [0] });
});

test("after every step it's told whether a hang is still reachable", () => {
  const said = (order) => {
    const { states } = follow(GAP, order);
    return reachable(SOLVED, SOLVED.nodes.get(keyOf(states.at(-1))));
  };
  assert.equal(said([]), "A hang is still reachable from here: 1 of 5 orders from here hangs.");
  assert.equal(said([0]), "A hang is still reachable from here: 1 of 3 orders from here hangs.");
  assert.equal(said([0, 0]), "A hang is no longer reachable from here.");
  assert.equal(said([1]), "A hang is no longer reachable from here.");
  const lucky = orderedRun(GAP, [0, 0, 1, 1, 0], SOLVED);
  assert.equal(lucky.end.kind, "done");
  assert.equal(lastChance(lucky.rows, SOLVED), 1);
  assert.match(told(lucky, 5, SOLVED, undefined), /This order doesn't hang; up to step 1 a hang was still reachable\.$/);
});

test("an order is taken as far as it goes", () => {
  assert.deepEqual(follow(GAP, [0, 0, 0, 0]).order, [0, 0], "the sleeper sleeps");
  assert.deepEqual(follow(GAP, [1, 1, 1]).order, [1, 1]);
});

test("a thread that sleeps is woken by the step that lets it go on", () => {
  const run = orderedRun(GAP, [0, 0, 1, 1, 0], SOLVED);
  assert.deepEqual(run.rows.map(({ wakes }) => wakes), [[], [], [], [0], []]);
  assert.deepEqual(run.rows.map(({ then }) => then.waits[0]), ["", "sleeps in wait", "sleeps in wait", "", ""]);
  assert.deepEqual(run.rows[3].changes, [{ cell: 1, before: "sleeper", after: "" }]);
});

test("values are added, copied, and put into words as they were before the step", () => {
  const steps = level(
    [{ thread: 0, code: "a", cases: [{ set: { x: { add: 2 }, y: { of: "x" } }, says: "x was {x}, {unknown}" }] }],
    [{ name: "x", initial: 1 }, { name: "y", initial: false }],
  );
  const run = orderedRun(steps, [0], solve(steps));
  assert.deepEqual(run.rows[0].then.values, [3, 1]);
  assert.equal(run.rows[0].says, "x was 1, {unknown}");
});

test("a word's fields are asked for and changed one by one, and its value is always written alike", () => {
  const steps = level(
    [
      { thread: 0, code: "a", cases: [{ when: { "state.A": true, "state.N": 2, state: "N*2 | A" }, says: "never" }, { when: { "state.A": true, "state.B": false, "state.N": 2, state: "2*N | A" }, set: { "state.A": false, "state.B": true, "state.N": { add: -1 } }, says: "was {state}" }] },
      { thread: 0, code: "b", cases: [{ when: { "state.A": true }, says: "never" }, { set: { state: "B|A", y: { of: "state" } }, says: "" }] },
      { thread: 0, code: "c", cases: [{ set: { "state.A": 0, "state.B": false }, says: "" }] },
    ],
    [{ name: "state", initial: "2*N|A", bits: ["A", "B"], counts: ["N"] }, { name: "y", initial: "" }],
  );
  const run = orderedRun(steps, [0, 0, 0], solve(steps));
  assert.deepEqual(run.rows.map(({ then }) => then.values[0]), ["B|N", "A|B", "0"]);
  assert.equal(run.rows[0].says, "was A|2*N");
  assert.deepEqual(run.rows[1].then.values[1], "B|N", "what it held before the step");
  assert.deepEqual(run.rows.map((row) => changesOf(run, row)[0].replaceAll("\u00a0", " ")), ["state: −A, +B, N 2 → 1", "state: +A, N 1 → 0", "state: −A, −B"]);
  assert.throws(() => level([{ thread: 0, code: "a", cases: [{ when: { "state.C": true }, says: "" }] }], [{ name: "state", initial: 0, bits: ["A"] }]), /state\.C, which isn't there/);
});

test("a word is drawn with its set bits lit, and says what a step has turned", () => {
  const drawn = (at) => toText(picture(LIFE, picturedAs(LIFE, LIFE_SOLVED, 680, at)));
  const bits = (at) => [...drawn(at).matchAll(/<g class="bit([^"]*)">.*?<\/g>/gs)].map(([bit, kinds]) => [...texts(bit), kinds.trim()].join(" ").replaceAll("\u00a0", " "));
  assert.deepEqual(bits(0), ["RUNNING 0 ", "NOTIFIED 0 ", "COMPLETE 0 ", "REFERENCE 0 count"]);
  assert.deepEqual(bits(5), ["RUNNING 1 lit", "NOTIFIED 0 → 1 lit turned", "COMPLETE 0 ", "REFERENCE 2 count"]);
  assert.deepEqual(bits(11), ["RUNNING 1 → 0 turned", "NOTIFIED 0 ", "COMPLETE 0 → 1 lit turned", "REFERENCE 2 → 1 count turned"]);
  for (const width of [200, 390, 1200]) {
    const { cells, headTop } = layout(LIFE, picturedAs(LIFE, LIFE_SOLVED, width, 5));
    for (const { x, y, width: wide, height, fields } of cells) {
      assert(x + wide <= width && y + height < headTop, `${width}`);
      for (const field of fields) assert(field.x >= x && field.x + field.width <= x + wide && field.y + 34 <= y + height, `${width}`);
    }
  }
});

test("a heap is drawn as a tree, with what a step has moved in a frame", () => {
  const drawn = (at) => toText(picture(HEAP, picturedAs(HEAP, HEAP_SOLVED, 680, at)));
  const entries = (at) => [...drawn(at).matchAll(/<g class="bit count([^"]*)">.*?<\/g>/gs)].map(([entry, kind]) => `${texts(entry)[0]}${kind}${entry.includes("<path") ? " below another" : ""}`);
  assert.deepEqual(entries(1), ["30 s", "1 min below another", "1 h below another"]);
  assert.deepEqual(entries(2), ["10 ms turned", "30 s turned below another", "1 h below another", "1 min turned below another"]);
  assert.deepEqual(entries(11), ["(30 s) turned", "1 min below another", "1 h below another"]);
  for (const width of [200, 390, 1200]) {
    const [heap] = layout(HEAP, picturedAs(HEAP, HEAP_SOLVED, width, 2)).cells;
    const [top, left, right, last] = heap.fields;
    assert(top.y < left.y && left.y === right.y && right.y < last.y && left.x + left.width <= right.x && last.x < top.x, `${width}`);
    for (const { x, y, width: wide } of heap.fields) assert(x >= 0 && x + wide <= width && y + 24 <= heap.bottom, `${width}`);
  }
  assert.deepEqual(changesOf(HEAP, HEAP.rows[10]), ["heap: (30 s), 1 min, 1 h"]);
});

test("a recorded word says what changed only where its operation doesn't", () => {
  const step = (text, value) => ({ thread: 0, text, changes: [{ cell: 0, value }] });
  const run = recordedRun(readSteps({ schema: "workshop.steps/1", title: "x", threads: [{ name: "A" }], cells: [{ name: "state", initial: "RUNNING|3*REFERENCE", bits: ["RUNNING"], counts: ["REFERENCE"] }], steps: [step("state.fetch_and: RUNNING|3*REFERENCE → −RUNNING", "3*REFERENCE"), step("(drop)", "2*REFERENCE")], end: { kind: "failure", text: "x" } }));
  assert.deepEqual(run.rows.map((row) => untoldChanges(run, row).map((text) => text.replaceAll("\u00a0", " "))), [[], ["state: REFERENCE 3 → 2"]]);
});

test("a failure ends an order, and a thread may rest where nothing is left to do", () => {
  const fails = level([{ thread: 0, code: "a", cases: [{ when: { x: 0 }, says: "", fails: "It broke." }, { says: "" }] }, { thread: 1, code: "b", cases: [{ set: { x: 1 }, says: "" }] }], [{ name: "x", initial: 0 }]);
  const solution = solve(fails);
  assert.deepEqual([solution.kind, solution.first.orders, solution.first.failing], ["failure", 2, 1]);
  assert.deepEqual(orderedRun(fails, [0, 1], solution).end, { kind: "failure", text: "It broke.", threads: [] });
  const never = level([{ thread: 0, code: "a", cases: [{ when: { x: 0 }, says: "" }, { says: "", fails: "It broke." }] }], [{ name: "x", initial: 0 }]);
  assert.match(total(solve(never)), /: none of the 1 order fails\.$/);
  const line = { thread: 0, code: "wait", cases: [{ when: { x: 1 }, says: "" }], waits: "sleeps" };
  for (const [rests, kind] of [[{ x: 0 }, "done"], [{ x: 1 }, "deadlock"]]) {
    const steps = level([{ ...line, rests }], [{ name: "x", initial: 0 }]);
    assert.equal(orderedRun(steps, [], solve(steps)).end.kind, kind);
  }
});

test("programs that go in circles are solved, but their orders aren't counted", () => {
  const steps = level([{ thread: 0, code: "spin", label: "top", cases: [{ when: { x: 1 }, says: "" }, { to: "top", says: "" }] }, { thread: 1, code: "b", cases: [{ set: { x: 1 }, says: "" }] }], [{ name: "x", initial: 0 }]);
  const solution = solve(steps);
  assert.equal(solution.first.orders, undefined);
  assert.match(total(solution), /none hangs\.$/);
});

test("a recorded order has its values, its orderings, and what a load missed", () => {
  assert.deepEqual(RECORDED.rows.map(({ then }) => then.values[0]), ["EMPTY", "EMPTY", "EMPTY", "PARKED", "PARKED", "NOTIFIED", "NOTIFIED", "NOTIFIED"]);
  assert.equal(momentSentence(RECORDED, 5), "5 of 8. Step 5, unparking: state.load = EMPTY Relaxed; reads an OLD value: the newest is PARKED, from step 4; nothing orders this load after the write.");
  assert.equal(RECORDED.rows.at(-1).then.waits[0], "woken.wait");
});

test("the text says what the picture shows, at each width and place", () => {
  for (const [run, solution] of [[RECORDED, undefined], [FAILING, undefined], [orderedRun(GAP, LOSING, SOLVED), SOLVED], [orderedRun(GAP, [], SOLVED), SOLVED], [LIFE, LIFE_SOLVED], [HEAP, HEAP_SOLVED]]) {
    for (const width of [320, 680, 1200]) {
      for (let at = 0; at <= run.rows.length; at += 1) {
        const text = plain(toText(asText(run, sentences(run, solution), at, true, { isOpen: true, toggle() {} }, () => {})));
        const drawn = texts(toText(picture(run, picturedAs(run, solution, width, at))));
        const squeezed = text.replace(/\s/g, "");
        for (const part of drawn.filter((part) => !/^(can go on|The order.*)$/.test(part))) {
          assert(squeezed.includes(part.replace(/\s/g, "")), `at ${at} of ${width}: the text lacks "${part}": ${text}`);
        }
      }
    }
  }
});

test("nothing of a picture stands outside it, and no block covers another", () => {
  for (const width of [260, 390, 1200]) {
    const run = orderedRun(GAP, [0, 0, 1, 1, 0], SOLVED);
    const plan = layout(run, picturedAs(run, SOLVED, width, 5));
    let bottom = plan.order.y;
    for (const { y, height, x, width: wide } of plan.rows) {
      assert(y >= bottom && x >= 0 && x + wide <= width);
      bottom = y + height;
    }
    assert(plan.end.y >= bottom && plan.height > plan.end.y);
  }
});

test("a failing order stands in columns, beside them where those are narrow, and with its source where there is room", () => {
  const planned = (width) => layout(FAILING, picturedAs(FAILING, undefined, width, FAILING.rows.length));
  const shown = (lines) => lines.map(({ text }) => text).join(" ");
  for (const width of [260, 350, 680, 820, 1300]) {
    const plan = planned(width);
    assert.equal(plan.isLanes, width < 700, `${width}`);
    let bottom = plan.programTop;
    for (const { row, x, y, width: wide, height, mark, lines, beside } of plan.rows) {
      assert(y >= bottom && x + wide <= width && x >= mark.x && mark.x >= plan.left(row.thread), `${width}: ${row.does}`);
      bottom = y + Math.max(height, (beside?.lines.length ?? 0) * 16);
      assert.equal(Boolean(beside), width === 1300);
      const said = shown([...lines, ...(beside?.lines ?? [])]).replace(/\s/g, "");
      assert(said.includes(`${row.where}${row.code}`.replace(/\s/g, "")), said);
      assert.equal(said.startsWith(FAILING.steps.threads[row.thread].replace(/\s/g, "")), plan.isLanes);
    }
    assert(plan.end.y >= bottom);
  }
  const last = planned(820).rows.at(-1);
  assert.match(shown(last.lines), /^woken\.wait: sleeps waits here forever lib\.rs:189 /);
});

test("a step says what changed only where its operation doesn't", () => {
  const { rows } = layout(FAILING, picturedAs(FAILING, undefined, 820, FAILING.rows.length));
  const changes = rows.map(({ lines }) => lines.filter(({ kind }) => kind === "code change").map(({ text }) => text));
  assert.deepEqual(changes[16], ["flag 2: false → true"]);
  assert.deepEqual(changes[15], [], "state.swap: NOTIFIED → EMPTY");
});

test("the step at which an order fails is marked, whichever way it fails", () => {
  const step = (thread, rest = {}) => ({ thread, text: "x", ...rest });
  const marks = (kind, threads, steps) => {
    const run = recordedRun(readSteps({ schema: "workshop.steps/1", title: "x", threads: [{ name: "A" }, { name: "B" }, { name: "C" }], steps, end: { kind, text: "", threads } }));
    return run.rows.map((_, index) => failure(run, index));
  };
  assert.deepEqual(marks("deadlock", [0, 2], [step(0), step(2, { blocks: true }), step(1), step(0, { blocks: true })]), ["", "waits here forever", "", "waits here forever"]);
  assert.deepEqual(marks("race", [1, 0], [step(1), step(0), step(0)]), ["", "", "the failing access"]);
  assert.deepEqual(marks("failure", [1], [step(0), step(1), step(0)]), ["", "fails after this step", ""]);
  assert.deepEqual(marks("failure", [], [step(0), step(1)]), ["", "fails after this step"]);
  assert.deepEqual(marks("done", [0], [step(0)]), [""]);
});

test("text is wrapped at spaces, and a word that is too long is broken", () => {
  assert.deepEqual(wrapped("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrapped("state.compare_exchange(A)", 14), ["state.compare_", "exchange(A)"]);
  assert.deepEqual(wrapped("RUNNING|JOIN_INTEREST|3*REFERENCE", 20), ["RUNNING|", "JOIN_INTEREST|", "3*REFERENCE"]);
  for (const most of [4, 9, 30]) for (const line of wrapped("let mut guard = is_woken.lock().unwrap();", most, 2)) assert(line.length <= most, line);
  assert.deepEqual(wrapped("", 5), [""]);
});

test("an empty value is a dash", () => {
  assert.deepEqual(["", false, 0, "x"].map(shown), ["–", "false", "0", "x"]);
});

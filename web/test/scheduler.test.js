// The scheduler that is taken apart: its rules, and what is drawn and said of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LOADS } from "../src/figures/scheduler/loads.js";
import { CAPACITY, COSTS, DONE, INTERVAL, KIND, PARTS, STREAK, init, step } from "../src/figures/scheduler/model.js";
import { ALL, bitsOf, costIn, endOf, firstAt, firstChoice, loadCalled, panelsOf, partsIn, runsOf as runsOfThe, workersIn } from "../src/figures/scheduler/choice.js";
import { spansOf, stateAt } from "../src/figures/scheduler/derive.js";
import { conclusion, schedulerPicture } from "../src/figures/scheduler/first.js";
import { choiceOf } from "../src/figures/scheduler/names.js";
import { metersOf, played, runOf } from "../src/figures/scheduler/run.js";
import { asText, meterTable } from "../src/figures/scheduler/table.js";
import { layout, picture } from "../src/figures/scheduler/view.js";
import { eventInWords, momentSentence, queuesOf, sentences } from "../src/figures/scheduler/words.js";
import { toText } from "../fallbacks/static-html.mjs";

const TWIN = new URL("../../tools/scheduler-model/", import.meta.url);

/** @param {string} load @param {number} workers @param {string[]} without */
function settingsOf(load, workers, ...without) {
  return { load, workers, seed: 1, unpark: COSTS.unpark, wake: COSTS.wake, parts: { ...ALL, ...Object.fromEntries(without.map((part) => [part, false])) } };
}

const metersAt = (...choice) => {
  const { events, last } = played(settingsOf(...choice));
  return metersOf(events, last);
};

/** The runs of a seed, as `tools/scheduler-model/src/digest.rs` has them. */
function runsOf(seed) {
  return Array.from({ length: 8 }, (_, nth) => {
    const combination = seed * 8 + nth;
    const bits = Math.floor(combination / 12) % 32;
    const parts = Object.fromEntries(PARTS.map((part, bit) => [part, ((bits >> bit) & 1) === 1]));
    const [unpark, wake] = Math.floor(seed / 48) % 2 === 0 ? [COSTS.unpark, COSTS.wake] : [seed % 51, (seed * 3) % 201];
    return { load: LOADS[combination % 4], workers: 2 + (Math.floor(combination / 4) % 3), seed, unpark, wake, parts };
  });
}

test("the rules do what they do in Rust, event by event, in 40,000 runs", () => {
  const kept = readFileSync(new URL("digests.txt", TWIN), "utf8").trimEnd().split("\n");
  assert.equal(kept.length, 100);
  for (const [block, digest] of kept.entries()) {
    let value = 0x811c9dc5;
    const fold = (number) => (value = Math.imul(value ^ number, 0x01000193));
    for (let seed = block * 50; seed < (block + 1) * 50; seed += 1) {
      for (const settings of runsOf(seed)) {
        const { events, last } = played(settings);
        events.flat().forEach(fold);
        const { makespan, longest, polls, steals, unparks, useless, parks } = metersOf(events, last);
        for (const number of [makespan, longest, ...polls, steals, unparks, useless, parks]) fold(number === Infinity ? 0xffffffff : number);
      }
    }
    assert.equal((value >>> 0).toString(16).padStart(8, "0"), digest, `line ${block + 1} of digests.txt`);
  }
});

test("the costs and the numbers are those of the other side, too", () => {
  const text = readFileSync(new URL("src/lib.rs", TWIN), "utf8");
  for (const [name, value] of [...Object.entries(COSTS), ["CAPACITY", CAPACITY], ["INTERVAL", INTERVAL], ["STREAK", STREAK]]) {
    assert.match(text, new RegExp(`pub const ${name.toUpperCase()}: \\w+ = ${value};`));
  }
});

test("a step leaves the state before it as it was, and leads where a run does", () => {
  for (const settings of [0, 11, 500].flatMap(runsOf)) {
    let state = init(settings);
    const events = [];
    for (;;) {
      const before = JSON.stringify(state);
      const next = step(state);
      assert.equal(JSON.stringify(state), before);
      assert.deepEqual(step(state), next, "the same state leads to the same one");
      if (next.state === state) break;
      events.push(...next.events);
      state = next.state;
    }
    const run = played(settings);
    assert.deepEqual(events, run.events);
    assert.deepEqual(state, run.last);
  }
});

test("no task is lost or in two places, and each is polled as often as it has to be", () => {
  for (const settings of Array.from({ length: 60 }, (_, seed) => seed * 7).flatMap(runsOf)) {
    const { moments, events, meters } = runOf(settings);
    for (const { state } of moments) {
      const places = [...state.injector, ...state.workers.flatMap(({ slot, queue, task }) => [...queue, ...[slot, task].filter((one) => one >= 0)])];
      const ready = state.tasks.flatMap((task, index) => (task.state === 1 || task.state === 2 ? [index] : []));
      assert.deepEqual(places.toSorted((a, b) => a - b), ready);
      for (const { queue } of state.workers) assert(queue.length <= CAPACITY, "it fits into what is drawn");
    }
    const { state } = moments.at(-1);
    const polls = events.filter(([, kind]) => kind === KIND.began).length;
    assert.equal(polls, meters.polls.reduce((sum, count) => sum + count));
    if (meters.stuck > 0) {
      assert(!settings.parts.notification && settings.load === "burst", "only a burst for which no worker is unparked hangs");
    } else {
      assert(state.tasks.every((task) => task.state === DONE));
      assert.equal(polls, state.load.tasks.reduce((sum, { polls }) => sum + polls.length, 0));
    }
  }
});

test("with notification, no worker is parked beside a task that it could take", () => {
  for (const settings of Array.from({ length: 60 }, (_, seed) => seed * 7 + 3).flatMap(runsOf).filter(({ parts }) => parts.notification)) {
    for (const { state } of runOf(settings).moments) {
      if (state.searching > 0 || !state.workers.some(({ phase }) => phase === "parked")) continue;
      const coming = state.workers.filter(({ phase }) => phase === "next").length;
      assert(state.injector.length <= coming, JSON.stringify(settings));
      if (settings.parts.stealing) for (const { phase, queue } of state.workers) assert(queue.length <= (phase === "next" ? 1 : 0), JSON.stringify(settings));
    }
  }
});

test("each part has a load in which its absence shows", () => {
  const hang = metersAt("burst", 3, "notification");
  assert.deepEqual([hang.makespan, hang.longest, hang.stuck], [Infinity, Infinity, 16]);
  // The slot: the last child waits for the whole long poll; without it, a pair is interrupted by wake-ups that find nothing.
  assert(metersAt("long", 3).longest >= 400 && metersAt("long", 3, "slot").longest < 200);
  assert.equal(metersAt("long", 3).waiter.task, 8);
  assert(metersAt("pair", 3, "slot").useless > metersAt("pair", 3).useless);
  assert(metersAt("pair", 3, "slot").makespan > metersAt("pair", 3).makespan);
  // Throttling: without the slot either, most of what is unparked finds nothing; but a burst is begun sooner.
  assert(metersAt("pair", 3, "slot", "throttle").useless > 2 * metersAt("pair", 3, "slot").useless);
  assert(metersAt("burst", 3, "throttle").makespan < metersAt("burst", 3).makespan);
  assert(metersAt("long", 3, "stealing").longest > 600);
  assert(metersAt("busy", 3, "interval").longest > 3 * metersAt("busy", 3).longest);
});

const runsOfChoice = (data) => runsOfThe(firstChoice(data));
const drawn = (runs, width, at) => ({ at, width, id: "x", label: conclusion(runs) });
const texts = (html) => [...html.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
const plain = (html) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
const FIRST = runsOfChoice({ load: "long", workers: "3", without: "slot" });

test("the first frame makes its point: what waits, and for what", () => {
  assert.equal(conclusion(FIRST), "Without the LIFO slot: the last task ends after 43.1 µs instead of 46.5 µs; the longest wait is 16.0 µs instead of 40.0 µs; steals: 4 instead of 3.");
  const [load, before, now] = sentences(FIRST.before, FIRST.now);
  assert.match(load, /^Task S spawns eight tasks.* 3 workers\.$/);
  assert.match(before, /^With all parts, .*Task 8 waits longest, for 40\.0 µs, in the LIFO slot of worker 0\. 3 steals move 7 tasks, and workers are unparked twice\.$/);
  assert.match(now, /^Without the LIFO slot, .*Task 8 waits longest, for 16\.0 µs, until it is stolen\./);
  const state = stateAt(FIRST.before, firstAt(FIRST));
  assert.equal(state.workers[0].slot, 8);
  assert.deepEqual(state.workers.map(({ phase }) => phase), ["poll", "parked", "parked"]);
});

test("a hang is told as one, and so is that nothing changes", () => {
  const hang = runsOfChoice({ load: "burst", without: "notification" });
  assert.equal(conclusion(hang), "Without notification, it hangs: 16 tasks are ready, and every worker is parked.");
  assert.equal(conclusion({ before: hang.now, now: hang.before }).slice(-16), "Before, it hung.");
  assert.equal(conclusion(runsOfChoice({ load: "burst", without: "slot" })), "Without the LIFO slot, nothing changes in this load.");
  assert.equal(runsOfChoice({ load: "pair" }).before, undefined, "one run stands alone");
  assert.equal(choiceOf({ ...ALL, slot: false, throttle: false, interval: false }), "without the LIFO slot, throttling and the interval");
});

test("the page's numbers are the model's", () => {
  const page = readFileSync(new URL("../../src/scheduler/worth.md", import.meta.url), "utf8").replace(/\s+/g, " ");
  const says = (text) => assert(page.includes(text), text);
  const at = (...choice) => metersAt(choice[0], 3, ...choice.slice(1));
  const tenths = (number) => (number / 10).toFixed(1);
  const [pair, alone, both] = [at("pair"), at("pair", "slot"), at("pair", "slot", "throttle")];
  assert.deepEqual([alone.useless, both.useless], [6, 15]);
  says("this happens six times");
  says(`${tenths(alone.makespan)} µs instead of ${tenths(pair.makespan)}`);
  says(`a worker is unparked for nothing fifteen times, and the last task ends after ${tenths(both.makespan)} µs`);
  assert.deepEqual(at("pair", "throttle").useless, pair.useless);
  const [free, freeAlone] = [[], ["slot"]].map((without) => {
    const { events, last } = played({ ...settingsOf("pair", 3, ...without), unpark: 0 });
    return metersOf(events, last).makespan;
  });
  assert.equal(free, freeAlone);
  says(`after ${tenths(free)} µs, with the slot or without it`);
  assert.deepEqual([at("long", "stealing").polls, at("long", "notification").polls], [[9, 0, 0], [9, 0, 0]]);
  for (const part of ["stealing", "notification"]) says(`the last one ends after ${tenths(at("long", part).makespan)} µs`);
  says(`after ${tenths(at("burst", "throttle").makespan)} µs instead of ${tenths(at("burst").makespan)}`);
  says(`${tenths(at("busy", "interval").longest)} µs instead of ${tenths(at("busy").longest)}`);
  for (const part of ["slot", "throttle", "notification"]) assert.deepEqual(at("busy", part), at("busy"), "the busy workers don't need it");
});

test("nothing of a picture stands outside it, and no row covers another", () => {
  for (const load of LOADS) {
    for (const width of [260, 390, 680, 1200]) {
      for (const workers of ["2", "4"]) {
        const runs = runsOfChoice({ load, workers, without: "interval throttle" });
        const panels = panelsOf(runs);
        const plan = layout(panels, drawn(runs, width, 40));
        let bottom = 0;
        for (const { states, lanes } of plan.panels) {
          for (const { y } of states === lanes ? lanes : [...states, ...lanes]) {
            assert(y >= bottom, `${load} at ${width}`);
            bottom = y + 32;
          }
        }
        assert(plan.height > bottom && plan.cell >= 14);
        const html = toText(picture(panels, drawn(runs, width, 40)));
        for (const [, x, wide] of html.matchAll(/<rect[^>]* x="([\d.-]+)"[^>]* width="([\d.]+)"/g)) assert(Number(x) >= 0 && Number(x) + Number(wide) <= width + 1, `${load} at ${width}: ${x} + ${wide}`);
        assert((html.match(/<\w+/g) ?? []).length <= 2000);
      }
    }
  }
});

test("the text says what the picture shows, at any time", () => {
  const opened = { isOpen: true, toggle() {} };
  for (const load of LOADS) {
    const runs = runsOfChoice({ load, without: "slot" });
    for (const at of [0, 55, firstAt(runs), endOf(runs)]) {
      const state = stateAt(runs.now, at);
      const text = plain(toText([meterTable(runs), asText(runs, sentences(runs.before, runs.now), { at, state }, false, opened, () => {})]));
      for (const run of [runs.before, runs.now]) assert(text.toLowerCase().includes(choiceOf(run.settings.parts).toLowerCase()));
      for (const part of texts(toText(picture(panelsOf(runs), drawn(runs, 680, at)))).filter((text) => / waits /.test(text))) {
        const [, task, waited] = /^(\w+) waits (.*)$/.exec(part);
        assert(text.includes(`Task ${task} waits longest, for ${waited}`), part);
      }
      for (const [worker, { queue }] of state.workers.entries()) {
        const line = queuesOf(state).find((line) => line.startsWith(`worker ${worker} `));
        for (const task of queue) assert.match(line, new RegExp(`queue: .*\\b${state.load.tasks[task].name}\\b`));
      }
      assert(momentSentence(runs.now, at).length > 10);
    }
    const told = runs.now.moments.flatMap(({ state, events }) => events.map((event) => eventInWords(state, event)));
    assert(told.every((text) => !/undefined|NaN/.test(text) && text.length > 8), told.join("\n"));
  }
});

test("every worker does one thing at a time, from the start to the end", () => {
  for (const settings of [3, 40, 77].flatMap(runsOf)) {
    const run = runOf(settings);
    const { end } = run.meters;
    const spans = spansOf(run, end);
    for (let worker = 0; worker < settings.workers; worker += 1) {
      const own = spans.filter((span) => span.worker === worker).toSorted((a, b) => a.start - b.start);
      let last = 0;
      for (const { start, end: stop } of own) {
        assert(start >= last && stop <= end, JSON.stringify(own));
        last = stop;
      }
    }
    const worked = spans.filter(({ kind }) => kind === "poll").reduce((sum, { start, end: stop }) => sum + stop - start, 0);
    const least = run.meters.stuck > 0 ? 0 : run.moments[0].state.load.tasks.flatMap(({ polls }) => polls.flatMap(({ ops }) => ops)).reduce((sum, op) => sum + (op.work ?? 0), 0);
    assert(worked >= least, "all the work is done in polls");
  }
});

test("attributes that mean nothing are told where the picture is made", () => {
  const good = { load: "long", workers: "3", without: "slot interval" };
  assert.match(toText(schedulerPicture([], good, "x", 680)), /<svg/);
  for (const bad of [{ load: "short" }, { load: undefined }, { workers: "5" }, { without: "slots" }]) assert.throws(() => schedulerPicture([], { ...good, ...bad }, "x", 680), /data-without is wrong/);
});

test("what a link says is checked", () => {
  assert.equal(partsIn("11111").slot, true);
  assert.equal(bitsOf(partsIn("01101")), "01101");
  for (const bits of [undefined, "", "1111", "111111", "1111x", "<b>"]) assert.equal(partsIn(bits), undefined);
  assert.deepEqual(["2", "4", "1", "5", "2.5", "x", undefined].map(workersIn), [2, 4, 3, 3, 3, 3, 3]);
  assert.deepEqual(["0", "50", "51", "-1", "1.5", "x", "", undefined].map((text) => costIn("unpark", text)), [0, 50, 15, 15, 15, 15, 15, 15]);
  assert.deepEqual(["burst", "__proto__", undefined].map(loadCalled), ["burst", "long", "long"]);
});

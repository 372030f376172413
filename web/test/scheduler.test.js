// The scheduler that is taken apart: its rules, and what is drawn and said of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LOADS } from "../src/figures/scheduler/loads.js";
import { CAPACITY, COSTS, DONE, INTERVAL, KIND, PARTS, STREAK, init, step } from "../src/figures/scheduler/model.js";
import { metersOf, played, runOf } from "../src/figures/scheduler/run.js";

const TWIN = new URL("../../tools/scheduler-model/", import.meta.url);
const ALL = Object.fromEntries(PARTS.map((part) => [part, true]));

/** @param {string} load @param {number} workers @param {string[]} without */
function settingsOf(load, workers, ...without) {
  return { load, workers, seed: 1, parts: { ...ALL, ...Object.fromEntries(without.map((part) => [part, false])) } };
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
    return { load: LOADS[combination % 4], workers: 2 + (Math.floor(combination / 4) % 3), seed, parts };
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

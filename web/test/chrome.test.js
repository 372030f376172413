// The export keeps the rules of Chrome's trace events, and Perfetto's, which are
// stricter: it drops what breaks them without a word.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { toChrome } from "../src/figures/timeline/chrome.js";
import { derive } from "../src/figures/timeline/derive.js";
import { parseTrace } from "../src/figures/timeline/read.js";
import { LATE, fileText } from "./figures.js";

const TRACES = new URL("../../src/traces/", import.meta.url);

const recorded = readdirSync(TRACES).map((file) => ({ file, text: readFileSync(new URL(file, TRACES), "utf8") })).filter(({ text }) => text.includes("workshop.trace/1"));
const all = [...recorded, ...["late-heartbeat.json", "queues.json"].map((file) => ({ file, text: fileText(file) }))].map(({ file, text }) => {
  const chrome = JSON.parse(JSON.stringify(toChrome(derive(parseTrace(text)))));
  assert.equal(chrome.displayTimeUnit, "ns");
  return { file, rows: chrome.traceEvents };
});

/** Perfetto reads microseconds to the nanosecond. */
const ns = (micros) => Math.round(micros * 1000);
const lane = ({ pid, tid }) => `${pid}/${tid}`;
/** Lists by what `key` says of their members: Node 20 has no `Map.groupBy`. */
function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups.values()];
}
const told = (file, row) => `${file}: ${JSON.stringify(row)}`;

test("there is something to export", () => {
  assert(all.length >= 5);
  for (const phase of ["M", "X", "i", "s", "f", "C"]) assert(all.some(({ rows }) => rows.some(({ ph }) => ph === phase)), phase);
});

test("every event has what its phase asks for", () => {
  const isTime = (value) => Number.isFinite(value) && value >= 0;
  const fits = {
    X: ({ dur, tid, cat }) => isTime(dur) && tid > 0 && cat,
    i: ({ s, tid }) => s === "t" && tid > 0,
    s: ({ id, cat, tid }) => id > 0 && cat && tid > 0,
    f: ({ id, cat, tid, bp }) => id > 0 && cat && tid > 0 && bp === "e",
    C: ({ args }) => Object.values(args).length > 0 && Object.values(args).every(Number.isFinite),
    M: ({ args }) => args,
  };
  for (const { file, rows } of all) {
    for (const row of rows) assert(typeof row.name === "string" && row.pid > 0 && fits[row.ph]?.(row) && (row.ph === "M" || isTime(row.ts)), told(file, row));
  }
});

test("slices of a thread lie within one another or apart", () => {
  for (const { file, rows } of all) {
    for (const group of grouped(rows.filter(({ ph }) => ph === "X"), lane)) {
      let open = [];
      // As Perfetto sorts them: by their start, else as they stand in the file.
      for (const slice of group.toSorted((one, other) => ns(one.ts) - ns(other.ts))) {
        const [start, end] = [ns(slice.ts), ns(slice.ts) + ns(slice.dur)];
        open = open.filter((around) => around > start);
        assert(open.every((around) => end <= around), told(file, slice));
        open.push(end);
      }
    }
  }
});

test("every arrow has one beginning and one end, each in a slice", () => {
  for (const { file, rows } of all) {
    const slices = rows.filter(({ ph }) => ph === "X");
    const ends = rows.filter(({ ph }) => ph === "s" || ph === "f");
    for (const row of ends) {
      const isAround = (slice) => lane(slice) === lane(row) && ns(slice.ts) <= ns(row.ts) && ns(row.ts) <= ns(slice.ts) + ns(slice.dur);
      assert(slices.some(isAround), told(file, row));
    }
    for (const pair of grouped(ends, ({ cat, name, id }) => `${cat} ${name} ${id}`)) {
      assert.deepEqual(pair.map(({ ph }) => ph), ["s", "f"], told(file, pair));
      assert(pair[0].ts <= pair[1].ts, told(file, pair));
    }
  }
});

test("every thread has a name, and a number of its own", () => {
  for (const { file, rows } of all) {
    const named = rows.filter(({ name }) => name === "thread_name");
    assert.equal(new Set(named.map(({ tid }) => tid)).size, named.length, file);
    const known = new Set(named.map(lane));
    for (const row of rows) assert(row.tid === undefined || known.has(lane(row)), told(file, row));
    // Or else it would be its process's main thread.
    for (const { pid, tid } of named) assert.notEqual(pid, tid);
  }
});

test("no poll is lost, and no wake-up by a task", () => {
  const { traceEvents } = toChrome(LATE);
  const polls = traceEvents.filter(({ cat }) => cat === "poll");
  assert.equal(polls.length, LATE.polls.length);
  assert.deepEqual(polls[7], { ph: "X", cat: "poll", pid: 1, tid: 1000, ts: 5040, dur: 40, name: "heartbeat", args: { task: 2, result: "pending", waited_us: 2950 } });
  const flows = traceEvents.filter(({ cat }) => cat === "wake");
  const isInPoll = ({ by, t }) => LATE.byId.get(by)?.polls.some(({ start, end }) => start <= t && t <= end);
  assert.equal(flows.length, 2 * LATE.polls.filter(({ wake }) => wake && !wake.spawned && isInPoll(wake)).length);
  assert(flows.length > 0);
});

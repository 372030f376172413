import assert from "node:assert/strict";
import { test } from "node:test";
import { derive } from "../src/figures/timeline/derive.js";
import { GLOBAL, moveInWords } from "../src/figures/timeline/moves.js";
import { parseTrace } from "../src/figures/timeline/read.js";
import { chain, describe, explain, holders, pointsOfInterest, seenLate, sentences, statistics } from "../src/figures/timeline/words.js";
import { LATE, fileText, traceOf } from "./figures.js";

const LONG_NS = 1_000_000;
const FOUND = statistics(LATE, LONG_NS);

test("a trace becomes polls with their waits", () => {
  const rows = LATE.polls.map(({ task, number, worker, start, end, waited, result }) => [LATE.byId.get(task).letter, number, worker, start, end, waited, result]);
  assert.deepEqual(rows, [
    ["M", 1, -1, 20_000, 70_000, 10_000, "pending"],
    ["H", 1, 0, 80_000, 90_000, 40_000, "pending"],
    ["A", 1, 1, 95_000, 160_000, 35_000, "pending"],
    ["E", 1, 0, 170_000, 220_000, 118_000, "pending"],
    ["H", 2, 0, 1_100_000, 1_140_000, 10_000, "pending"],
    ["E", 2, 0, 1_530_000, 5_030_000, 10_000, "ready"],
    ["A", 2, 1, 1_590_000, 1_600_000, 30_000, "pending"],
    ["H", 3, 0, 5_040_000, 5_080_000, 2_950_000, "pending"],
    ["A", 3, 0, 5_090_000, 5_190_000, 5_000, "ready"],
    ["H", 4, 0, 6_120_000, 6_170_000, 10_000, "ready"],
    ["M", 2, -1, 6_200_000, 6_230_000, 40_000, "ready"],
  ]);
});

test("a wake-up during the task's own poll lets it wait from that poll's end on", () => {
  const { polls } = derive(traceOf([[0, "spawn", 0, 1, 0], [10, "poll+", 0, 1, 0], [20, "wake", 0, 1, 1], [50, "poll-", 0, 1, 0], [80, "poll+", 0, 1, 0], [90, "poll-", 0, 1, 1]]));
  assert.deepEqual(polls.map(({ readyAt, waited }) => [readyAt, waited]), [[0, 10], [50, 30]]);
});

test("of several wake-ups the first counts", () => {
  const { polls } = derive(traceOf([[10, "wake", 0, 1, 0], [20, "wake", 1, 1, 0], [50, "poll+", 0, 1, 0], [60, "poll-", 0, 1, 0]]));
  assert.equal(polls[0].waited, 40);
});

test("a poll within a poll takes its time off the outer one", () => {
  const { polls } = derive(traceOf([[0, "poll+", 0, 1, 0], [100, "poll+", 0, 2, 0], [900, "poll-", 0, 2, 1], [1000, "poll-", 0, 1, 0]]));
  assert.deepEqual(polls.map(({ depth, self }) => [depth, self]), [[0, 200], [1, 800]]);
});

test("a yield, an end and a poll that never ends are told apart", () => {
  const { polls } = derive(traceOf([[0, "poll+", 0, 1, 0], [5, "yield", 0, 1, 0], [10, "poll-", 0, 1, 0], [20, "poll+", 0, 1, 0], [30, "poll-", 0, 1, 1], [40, "poll+", 1, 2, 0], [50, "park", 0, 0, 0]]));
  assert.deepEqual(polls.map(({ result }) => result), ["yielded", "ready", "open"]);
  assert.equal(polls[2].end, 50);
});

test("unknown kinds and further columns are ignored", () => {
  const { polls } = derive(traceOf([[0, "teleport", 0, 1, 0, 7], [1, "poll+", 0, 1, 0, 0], [2, "poll-", 0, 1, 1, 0]]));
  assert.equal(polls.length, 1);
});

test("signs: letters of their own, numbers, initials; six hues, then stripes", () => {
  const names = { 1: "A", 2: "E blocker", 3: "heartbeat", 4: "sleeper 3", 5: "helper", 6: "x", 7: "y", 8: "z" };
  const { tasks } = derive(traceOf([...Object.keys(names).flatMap((id) => [[Number(id), "spawn", 0, Number(id), 0]]), [10, "poll+", 0, 1, 0], [11, "poll-", 0, 1, 1]], { names }));
  assert.deepEqual(tasks.map(({ letter }) => letter), ["A", "E", "H", "3", "L", "X", "Y", "Z"]);
  assert.equal(tasks[0].hue, 0);
  assert.equal(tasks[1].hue, 4);
  assert.equal(new Set(tasks.slice(0, 6).map(({ hue }) => hue)).size, 6);
  assert.deepEqual(tasks.map(({ striped }) => striped), [false, false, false, false, false, false, true, true]);
});

test("statistics find the worst", () => {
  assert.equal(FOUND.longestPoll.end, 5_030_000);
  assert.equal(FOUND.longestWait.start, 5_040_000);
  assert.deepEqual(FOUND.longPolls.length, 1);
  assert.deepEqual(FOUND.idle.map(({ part }) => Math.round(part * 100)), [34, 97]);
});

test("the worst come first, and only what is worth a look", () => {
  assert.deepEqual(pointsOfInterest(LATE, FOUND).map(({ start }) => start), [1_530_000, 5_040_000]);
});

test("three sentences: totals, the worst wait, the longest poll", () => {
  assert.deepEqual(sentences(LATE, FOUND), [
    "4 tasks on 2 workers: 11 polls in 6.22 ms; worker 0 idle for 34 % and worker 1 idle for 97 %.",
    "The longest wait: heartbeat, woken at 2.09 ms, waited 2.95 ms for its poll.",
    "The longest poll: E blocker kept worker 0 for 3.50 ms.",
  ]);
});

test("why a poll was late names what kept the worker", () => {
  const { longestWait } = FOUND;
  assert.equal(LATE.byId.get(holders(longestWait, LATE)[0].task).name, "E blocker");
  assert.equal(
    explain(longestWait, LATE),
    "heartbeat waited 2.95 ms for its poll 3: woken at 2.09 ms by worker 1, for no task (a timer, or I/O), polled at 5.04 ms on worker 0, for 40 µs. Meanwhile worker 0 was busy with one poll of E blocker, 3.50 ms long; worker 1 was parked, and was not woken for this.",
  );
});

test("several polls may have kept the worker together", () => {
  const rows = [[0, "wake", -1, 9, 0], ...[1, 2, 3].flatMap((task) => [[task * 1_000_000, "poll+", 0, task, 0], [task * 1_000_000 + 990_000, "poll-", 0, task, 1]]), [4_000_000, "poll+", 0, 9, 0], [4_001_000, "poll-", 0, 9, 1]];
  const timeline = derive(traceOf(rows, { names: { 1: "chunk 1", 2: "chunk 2", 3: "chunk 3", 9: "heart" } }));
  const late = timeline.polls.at(-1);
  assert.equal(holders(late, timeline).length, 3);
  assert.match(explain(late, timeline), /worker 0 was busy with 3 polls: of chunk 1, chunk 2 and chunk 3\.$/);
});

test("a timer that was seen late is told, though the task hardly waited", () => {
  const timeline = derive(traceOf([[0, "poll+", 0, 1, 0], [3_000_000, "poll-", 0, 1, 1], [3_001_000, "wake", 0, 2, 0], [3_002_000, "poll+", 0, 2, 0], [3_003_000, "poll-", 0, 2, 1]], { names: { 1: "E", 2: "A" } }));
  assert.equal(seenLate(timeline.polls[1], timeline), timeline.polls[0]);
  assert.match(explain(timeline.polls[1], timeline), /came only when worker 0 had ended a poll of E, 3 ms long/);
});

test("the chain of a wake-up leads back to its first cause", () => {
  const last = LATE.polls.at(-1);
  const links = chain(last, LATE).map(({ task, number }) => `${LATE.byId.get(task).letter}${number}`);
  assert.deepEqual(links, ["M2", "H4"]);
  const byMain = LATE.polls[3];
  assert.deepEqual(chain(byMain, LATE).map(({ task }) => LATE.byId.get(task).letter), ["E", "M"]);
});

test("a moment is told worker by worker", () => {
  assert.equal(describe(LATE, 2_000_000), "worker 0 polls E blocker, worker 1 is parked");
  assert.equal(describe(LATE, 65_000), "worker 0 polls no task, worker 1 polls no task, another thread polls main");
});

test("what cannot be drawn is refused in one sentence with the remedy", () => {
  const bad = {
    "not json": /not JSON: load a file/,
    '{"schema":"workshop.bench/1"}': /no workshop\.trace\/1 in it: load a file/,
    '{"schema":"workshop.trace/2","events":[[0,"spawn",0,1,0]]}': /newer format workshop\.trace\/2: update the book/,
    '{"schema":"workshop.trace/1","events":[]}': /has no events: let the program spawn/,
    '{"schema":"workshop.trace/1","events":[[0,"spawn",0,1,0]]}': /no poll in it/,
    '{"schema":"workshop.trace/1","cols":["t"],"events":[[0]]}': /lacks a column/,
    '{"schema":"workshop.trace/1","events":[[0,"poll-",0,1,0]]}': /A poll of task 1 begins or ends without its counterpart: record/,
    '{"schema":"workshop.trace/1","events":[[0,"poll+",0,1,0],[1,"poll+",0,1,0]]}': /without its counterpart/,
    null: /no workshop\.trace\/1/,
  };
  for (const [text, words] of Object.entries(bad)) {
    assert.throws(() => derive(parseTrace(text)), (error) => error.constructor.name === "Unreadable" && words.test(error.message) && /\.$/.test(error.message), text);
  }
});

test("where events were dropped, halves of polls are no error, and the loss is told", () => {
  const timeline = derive(traceOf([[0, "poll-", 0, 1, 0], [1, "poll+", 0, 2, 0], [2, "poll+", 0, 2, 0], [3, "poll-", 0, 2, 0]], { dropped: 7 }));
  assert.equal(timeline.polls.length, 2);
  assert.match(sentences(timeline, statistics(timeline, LONG_NS)).at(-1), /7 events found no room/);
});

test("of a very long trace both ends stay", () => {
  const events = Array.from({ length: 60_000 }, (_, index) => [index, index % 2 ? "poll-" : "poll+", 0, 1, 0]);
  const trace = traceOf(events);
  assert.equal(trace.events.length, 50_000);
  assert.equal(trace.leftOut, 10_000);
  assert.equal(trace.events.at(-1).t, 59_999);
  assert.match(sentences(derive(trace), statistics(derive(trace), LONG_NS)).at(-1), /10,000 events of the middle are left out/);
});

test("the file of the tests has no blank line, like every trace", () => {
  assert.doesNotMatch(fileText("late-heartbeat.json").trim(), /\n\s*\n/);
});

const BURST = derive(parseTrace(fileText("queues.json")));

test("moves between queues keep count of what lies in each", () => {
  const owners = [...new Set(BURST.steps.map(({ owner }) => owner))].sort((one, other) => one - other);
  assert.deepEqual(owners, [GLOBAL, 0, 1]);
  for (const owner of owners) assert.equal(BURST.steps.findLast((step) => step.owner === owner).length, 0, "all was run in the end");
  const steps = derive(traceOf([[0, "poll+", 0, 1, 0], [1, "push", 0, 1, 0], [2, "push", 0, 2, 1], [3, "push", -1, 3, 2], [4, "overflow", 0, 4, 0, 2], [5, "take", 1, 0, 0, 3], [6, "steal", 1, 0, 0, 1], [7, "pop", 1, 1, 0]])).steps;
  assert.deepEqual(steps.map(({ owner, length }) => [owner, length]), [[0, 1], [0, 2], [GLOBAL, 1], [0, 1], [GLOBAL, 3], [GLOBAL, 0], [1, 3], [0, 0], [1, 4], [1, 3]]);
});

test("whoever a newer task puts out of the slot is counted once", () => {
  const { steps } = derive(traceOf([[0, "poll+", 0, 1, 0], [1, "push", 0, 1, 1], [2, "push", 0, 2, 1], [3, "push", 0, 1, 0], [4, "pop", 0, 2, 1], [5, "pop", 0, 1, 0]]));
  assert.deepEqual(steps.map(({ t, length }) => [t, length]), [[1, 1], [3, 2], [4, 1], [5, 0]]);
});

test("the queues are told in one sentence, and move by move", () => {
  const said = sentences(BURST, statistics(BURST, LONG_NS));
  assert.match(said.at(-1), /^The queues: 7 pushes; 8 pops; 1 overflow of 4 tasks; 1 steal of 2 tasks; 3 batches from the global queue, of 4 tasks; 3 searches, 1 with success; 1 notification\.$/);
  const name = (task) => BURST.byId.get(task)?.name;
  const words = BURST.moves.map((move) => moveInWords(move, name));
  for (const told of ["puts A into its own queue", "wakes worker 1 to help", "finds its queue full: 4 go to the global queue", "steals 2 from worker 0"]) assert(words.includes(told), told);
  assert.match(describe(BURST, BURST.moves.find(({ kind }) => kind === "overflow").t), /worker 0 runs burst \(3 in its queue\)/);
});

test("a task's way through the queues is told: pushed here, stolen there", () => {
  const ways = BURST.polls.map((poll) => explain(poll, BURST));
  const stolen = ways.filter((way) => /entered the queue of worker 0 at .*; worker 1 stole it at/.test(way));
  const taken = ways.filter((way) => /worker 1 took it from the global queue at/.test(way));
  assert(stolen.length >= 1 && taken.length >= 3, ways.join("\n"));
});

test("a job that keeps only other jobs waiting blocks nobody", () => {
  assert.equal(statistics(BURST, 100_000).longPolls.length, 0);
  const rows = [[0, "spawn", -1, 1, 0], [1, "job", 0, 2, 1], [2, "job", 0, 3, 1], [10, "poll+", 0, 1, 0], [20, "poll-", 0, 1, 0], [30, "poll+", 1, 2, 0], [5_000_030, "poll-", 1, 2, 1], [5_000_100, "poll+", 0, 3, 0], [7_000_000, "poll-", 0, 3, 1]];
  const timeline = derive(traceOf(rows, { names: { 1: "heart", 2: "pooled", 3: "at home" } }));
  const found = statistics(timeline, LONG_NS);
  assert.deepEqual(found.longPolls.map(({ task }) => task), [3], "worker 0 has tasks to poll");
  const said = sentences(timeline, found).join(" ");
  assert.match(said, /^1 task and 2 jobs on 2 workers: 1 poll in/);
  assert.match(said, /The longest job: at home kept worker 0 for 2\.00 ms\. The longest job: pooled took 5 ms on worker 1, where it was in no task's way\./);
  assert.match(explain(timeline.polls[1], timeline), /^pooled waited 29 ns for its turn: handed over at 1 ns by heart, run at 30 ns on worker 1/);
  assert.equal(describe(timeline, 100), "worker 0 polls no task, worker 1 runs pooled");
});

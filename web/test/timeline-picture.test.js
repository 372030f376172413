import assert from "node:assert/strict";
import { test } from "node:test";
import { toText } from "../fallbacks/static-html.mjs";
import { derive } from "../src/figures/timeline/derive.js";
import { signs } from "../src/figures/timeline/legend.js";
import { lanesOf, pollAt } from "../src/figures/timeline/lanes.js";
import { questionOf } from "../src/figures/timeline/model.js";
import { parseTrace } from "../src/figures/timeline/read.js";
import { picture } from "../src/figures/timeline/view.js";
import { LATE, fileText, manyPolls, traceOf } from "./figures.js";

const MOST_NODES = 2000;

function drawn(timelines, state = {}, settings = {}) {
  const end = Math.max(...timelines.map((timeline) => timeline.end));
  const all = { view: "task", at: 0, from: 0, to: end, selected: undefined, phase: "shown", guess: undefined, ...state };
  const titles = timelines.map(({ trace }) => trace.title);
  return toText(picture(timelines, all, { width: 760, id: "t", longNs: 1_000_000, tasks: [], titles, label: "what it shows", question: undefined, ...settings }));
}

test("the picture names its conclusion, its lanes, and the poll that blocks", () => {
  const text = drawn([LATE]);
  assert.match(text, /role="img" aria-label="what it shows"/);
  for (const words of ["heartbeat", "E blocker", "blocks W0 for 3.50 ms", "ms since the start"]) assert(text.includes(words), words);
  assert.match(drawn([LATE], { view: "worker" }), /W1[^]*other threads/);
});

test("a selected poll brings its wait, its wake-up and its culprit to the fore", () => {
  const text = drawn([LATE], { selected: { panel: 0, poll: 7 } });
  for (const words of ["waits 2.95 ms", "keeps W0 for 3.50 ms", 'class="arrow"', 'class="dim"', "culprit"]) assert(text.includes(words), words);
});

test("nothing under the cover can be seen before the guess", () => {
  const question = questionOf("poll:heartbeat:3", [LATE]);
  const open = drawn([LATE], {}, { question });
  const covered = drawn([LATE], { phase: "asking" }, { question });
  const { hue } = LATE.tasks.find(({ name }) => name === "heartbeat");
  const polls = (text) => [...text.matchAll(new RegExp(`class="fill-${hue}" d="([^"]*)"`, "g"))].map(([, path]) => path.split("M").length - 1);
  assert.deepEqual([polls(open), polls(covered)], [[4], [2]]);
  assert.match(covered, /class="covered"/);
  assert.doesNotMatch(covered, /waits|class="cursor"/);
});

test("nothing is noted before the guess", () => {
  const noted = { ...LATE, marks: [{ t: 1_000_000, text: "here it waits", task: 0, isNote: true }] };
  const question = questionOf("poll:heartbeat:3", [noted]);
  assert.match(drawn([noted], {}, { question }), /here it waits/);
  assert.doesNotMatch(drawn([noted], { phase: "asking" }, { question }), /here it waits|class="mark"/);
});

test("the words of a mark stand within the picture, beside its line or over it", () => {
  const text = "a few words that say something";
  for (const [part, wanted] of [[0.1, "start"], [0.5, "over"], [0.9, "end"]]) {
    const drawing = drawn([{ ...LATE, marks: [{ t: part * LATE.end, text, task: 0 }] }], {}, { width: 300 });
    const [, x, y, anchor] = /class="mark-text" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"/.exec(drawing);
    const [, line, top] = /class="mark" x1="([\d.]+)" x2="[\d.]+" y1="([\d.]+)"/.exec(drawing);
    const from = Number(x) - (anchor === "end" ? text.length * 6.4 : 0);
    assert(from >= 0 && from + text.length * 6.4 <= 300, `${part}`);
    const place = Number(top) > Number(y) ? "over" : Number(line) < from ? "start" : "end";
    assert.equal(place, wanted, `${part}`);
  }
});

test("what was guessed stands below its lane, on no block and on no number", () => {
  const question = questionOf("poll:heartbeat:3", [LATE]);
  for (const width of [380, 760]) {
    const text = drawn([LATE], { guess: 1_000_000 }, { question, width });
    const label = Number(/class="guess-label back" x="[\d.]+" y="([\d.]+)"/.exec(text)[1]);
    const blocks = [...text.matchAll(/class="(?:fill-\d|long|merged)[^"]*" d="([^"]*)"/g)].flatMap(([, path]) => [...path.matchAll(/M[\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y)));
    const height = 12;
    for (const top of blocks) assert(label <= top || label - height >= top + 22, `at ${width}: the label at ${label} covers the block at ${top}`);
    const axis = Number(/class="line" x1="[\d.]+" x2="[\d.]+" y1="([\d.]+)"/.exec(text)[1]);
    assert(label + 3 <= axis, `at ${width}: ${label} is on the axis at ${axis}`);
  }
});

test("on a narrow screen nothing is drawn over the lanes' names", () => {
  const text = drawn([LATE], { selected: { panel: 0, poll: 7 } }, { width: 380 });
  const last = (what) => text.lastIndexOf(what);
  const first = text.indexOf('class="lane-name');
  for (const what of ['class="cursor"', 'class="arrow"', 'class="wait-label']) assert(last(what) !== -1 && last(what) < first, what);
  assert.match(text, /class="lane-name back [^"]*"[^>]*>heartbeat</);
});

test("there are at most 2,000 nodes, however many polls", () => {
  const worst = [manyPolls(24_000, { tasks: 40, every: 100, length: 90 }), manyPolls(3_000, { tasks: 12, every: 5000, length: 4000 })];
  for (const view of ["task", "worker"]) {
    for (const timeline of worst) {
      const nodes = drawn([timeline, timeline], { view, selected: { panel: 0, poll: 17 } }).match(/<[a-z]/g).length;
      assert(nodes <= MOST_NODES, `${nodes} nodes by ${view}`);
    }
  }
});

test("polls that are too narrow to be told apart are one block, half filled", () => {
  assert.match(drawn([manyPolls(20_000)]), /class="fill-0 many"/);
});

test("lost events tear the picture", () => {
  const timeline = derive(traceOf([[0, "poll+", 0, 1, 0], [500_000, "poll-", 0, 1, 0], [900_000, "park", 0, 0, 0]], { dropped: 3, dropped_from_ns: 700_000 }));
  assert.match(drawn([timeline]), /class="torn"[^]*events lost/);
  assert.doesNotMatch(drawn([LATE]), /torn/);
});

test("wanted lanes come in their order, the others share one", () => {
  assert.deepEqual(lanesOf(LATE, "task", ["heartbeat", "E blocker"]).map(({ label }) => label), ["heartbeat", "E blocker", "M A"]);
  assert.equal(lanesOf(manyPolls(100, { tasks: 30 }), "task", []).length, 12);
});

test("the poll under the pointer is found, also just beside it", () => {
  const [lane] = lanesOf(LATE, "task", ["heartbeat"]);
  assert.equal(pollAt(lane, 5_050_000, 10).number, 3);
  assert.equal(pollAt(lane, 5_030_000, 20_000).number, 3);
  assert.equal(pollAt(lane, 4_000_000, 20_000), undefined);
});

test("queue events draw each queue's length, what moves, and who wakes whom", () => {
  const burst = derive(parseTrace(fileText("queues.json")));
  const text = drawn([burst], { view: "worker" }, { queues: true });
  assert.equal(text.match(/class="queue"/g).length, 3, "two workers' and the global one");
  for (const words of ["its queue", "global queue", 'class="carried"', 'class="notify"', ">2<"]) assert(text.includes(words), words);
  assert.doesNotMatch(drawn([burst], { view: "worker" }, { queues: false }), /class="(queue|carried|notify|searching)/);
  assert.doesNotMatch(drawn([burst], { view: "task" }, { queues: true }), /class="(queue|carried|notify)/);
  assert.doesNotMatch(drawn([LATE], { view: "worker" }, { queues: true }), /class="queue/);
});

test("nothing is written on polls of several threads that share a lane", () => {
  const polls = (/** @type {number} */ worker) => derive(traceOf([[0, "poll+", worker, 1, 0], [400_000, "poll+", worker, 2, 0], [3_000_000, "poll-", worker, 1, 1], [4_000_000, "poll-", worker, 2, 1]]));
  const letters = (/** @type {number} */ worker) => drawn([polls(worker)], { view: "worker" }).match(/class="(sign|long-label)/g) ?? [];
  assert.notEqual(letters(0).length, 0);
  assert.equal(letters(-1).length, 0);
});

test("a search is dotted where it is long enough to be seen", () => {
  const timeline = derive(traceOf([[0, "poll+", 0, 1, 0], [900, "poll-", 0, 1, 1], [100, "search+", 1, 0, 0], [600, "search-", 1, 0, 1], [700, "push", 0, 1, 0]]));
  assert.match(drawn([timeline], { view: "worker" }, { queues: true }), /class="searching" d="M[\d.]+ [\d.]+H/);
});

test("the legend has the signs of the picture, and no others", () => {
  const burst = derive(parseTrace(fileText("queues.json")));
  const told = (timeline, state) => signs([timeline], { view: "task", phase: "shown", ...state }, { longNs: 1_000_000, queues: true }).map(({ text }) => text).join("; ");
  assert.equal(told(LATE, {}), "is woken; waits: could run, is not polled yet; is polled: the task runs, for a moment or longer; ready: it has finished; keeps its worker for 1 ms or more");
  assert.match(told(LATE, { selected: { panel: 0, poll: 7 } }), /from what woke it/);
  assert.match(told(LATE, { view: "worker" }), /^wakes a task; .*parked: the thread sleeps/);
  const byTimer = derive(traceOf([[0, "poll+", 0, 1, 0], [1, "poll-", 0, 1, 0], [5, "wake", -1, 1, 0], [9, "poll+", 0, 1, 0], [10, "poll-", 0, 1, 1]]));
  assert.match(told(byTimer, {}), /is woken/);
  assert.doesNotMatch(told(byTimer, { view: "worker" }), /wakes a task/, "no lane has the sign");
  assert.doesNotMatch(told(burst, {}), /queue|keeps its worker|woken/);
  assert.match(told(burst, { view: "worker" }), /searches.*tasks in a queue; the same, at the cursor; tasks move: stolen, spilled over.*wakes a worker/);
});

test("whatever a trace says is text, never markup", () => {
  const timeline = derive(traceOf([[0, "poll+", 0, 1, 0], [9, "poll-", 0, 1, 1]], { names: { 1: '<img src=x onerror="alert(1)">' } }));
  assert.doesNotMatch(drawn([timeline]), /<img/);
});

test("a poll that goes on at the right of what is shown doesn't look as if it had ended", () => {
  const timeline = traceOf([[0, "poll+", 0, 1, 0], [10_000, "poll-", 0, 1, 1]]);
  const whole = drawn([derive(timeline)]);
  assert.match(whole, /class="tick"/);
  assert.doesNotMatch(drawn([derive(timeline)], { to: 5000 }), /class="tick"/);
});

test("chips are the tasks of each queue at the cursor, and those that were stolen are between two", () => {
  const queues = derive(parseTrace(fileText("queues.json")));
  const steal = queues.moves.find(({ kind }) => kind === "steal");
  const rows = (at) => {
    const [, path] = /class="queue-chips" d="([^"]*)"/.exec(drawn([queues], { view: "worker", at }, { queues: true }));
    return [...path.matchAll(/M[\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
  };
  const before = rows(steal.t - 1);
  const lengths = Object.fromEntries(queues.steps.filter(({ t }) => t < steal.t).map(({ owner, length }) => [owner, length]));
  assert.equal(before.length, Object.values(lengths).reduce((sum, length) => sum + length, 0));
  const halfway = rows(steal.t + queues.end / 50);
  assert.equal(halfway.filter((y) => !before.includes(y)).length, steal.count);
  assert.doesNotMatch(drawn([queues], { view: "worker", at: steal.t }, { queues: true, still: true }), /queue-chips/);
});

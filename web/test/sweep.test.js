import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { toText } from "../fallbacks/static-html.mjs";
import { firstState, choices, sweepPicture } from "../src/figures/sweep/first.js";
import { allowed, drawn, fit, knee, modelKnee, modelRate } from "../src/figures/sweep/model.js";
import { parseSweep, readSweep } from "../src/figures/sweep/read.js";
import { readTurns, turnsPanel, turnsPicture, turnsSentence } from "../src/figures/sweep/turns.js";
import { budgetSentence, kneeSentence, modelSentence, readout, throughput, verdict } from "../src/figures/sweep/words.js";
import { fileText } from "./figures.js";

const COSTS = { c: 14.6, y: 200 };
/** A machine that follows the model to the letter. */
const EXACT = readSweep({
  schema: "workshop.sweep/1",
  x: "N",
  points: [1, 4, 16, 64, 256, 1024, 4096].map((n) => ({ N: n, items_per_s: [modelRate(COSTS, n)], wake_ns: { p50: 100 + (n * COSTS.c) / 2, p90: 200 + n * COSTS.c } })),
});
const RECORDED = parseSweep(fileText("yield-sweep.json"));

test("the fit finds the costs that made the data", () => {
  const { c, y } = fit(EXACT);
  assert(Math.abs(c / COSTS.c - 1) < 1e-6 && Math.abs(y / COSTS.y - 1) < 1e-6);
  assert.match(modelSentence(EXACT, fit(EXACT)), /c = 14\.6 ns an item and y = 200 ns a yield puts the knee at N = 9·y\/c = 123; it is off by 0 %/);
});

test("the fit bears noise", () => {
  const { c, y } = fit(RECORDED);
  assert(Math.abs(c / COSTS.c - 1) < 0.1 && Math.abs(y / COSTS.y - 1) < 0.1, `${c}, ${y}`);
});

test("the knee is where the model says", () => {
  const at = modelKnee(COSTS);
  assert(Math.abs(modelRate(COSTS, at) / (1e9 / COSTS.c) - 0.9) < 1e-9);
  assert.equal(EXACT.points[knee(EXACT)].n, 256);
  assert.match(kneeSentence(EXACT, "numbers"), /at N = 256 throughput has reached 90 % of its peak of .* million numbers a second; there half of the waits are under 1\.97 µs/);
});

test("a budget permits what nine waits in ten keep", () => {
  assert.equal(EXACT.points[allowed(EXACT, 5000)].n, 256);
  assert.equal(allowed(EXACT, 10), undefined);
  assert.equal(allowed(EXACT, 1e9), EXACT.points.length - 1);
  assert.match(budgetSentence(EXACT, 5000), /within 5 µs, N may be at most 256, which gives \d+ % of the peak/);
  assert.match(budgetSentence(EXACT, 10), /Not even N = 1/);
});

test("a noisy point in the middle ends what is permitted", () => {
  const points = [1, 2, 4].map((n, index) => ({ N: n, items_per_s: [1], wake_ns: { p50: 1, p90: index === 1 ? 1000 : 10 } }));
  assert.equal(allowed(readSweep({ schema: "workshop.sweep/1", x: "N", points }), 100), 0);
});

test("one point is told with its time slice and its waits", () => {
  assert.equal(readout(EXACT, 3), "N = 64: 83 % of the peak; one time slice holds the worker for 1.13 µs. Half of the waits are under 567 ns, nine in ten under 1.13 µs.");
});

test("points without waits, in any order, are a sweep as well", () => {
  const sweep = readSweep({ schema: "workshop.sweep/1", x: "size", points: [{ size: 8, items_per_s: [5, 7, 6], wake_ns: null }, { size: 2, items_per_s: [1] }, { size: 4, items_per_s: [null] }] });
  assert.deepEqual(sweep.points.map(({ n, rate, low, high, p50 }) => [n, rate, low, high, p50]), [[2, 1, 1, 1, undefined], [8, 6, 5, 7, undefined]]);
});

test("what is no sweep is refused in words", () => {
  assert.throws(() => parseSweep("{}"), /no workshop\.sweep\/1 in it/);
  assert.throws(() => parseSweep('{"schema":"workshop.sweep/9"}'), /newer format/);
  assert.throws(() => parseSweep('{"schema":"workshop.sweep/1","points":[]}'), /fewer than two points/);
});

test("a pen that skips points draws them on its way", () => {
  const once = drawn([undefined, undefined, undefined, undefined], 0, 0.1, undefined);
  const twice = drawn(once, 3, 0.7, 0).map((value) => value && Math.round(value * 10) / 10);
  assert.deepEqual(twice, [0.1, 0.3, 0.5, 0.7]);
  assert.deepEqual(drawn([0.5, undefined, undefined], 0, 0.1, 2), [0.1, undefined, undefined]);
});

test("the verdict speaks of what was drawn only", () => {
  const half = EXACT.points.map(({ rate }, index) => (index === 0 ? rate / EXACT.peak + 0.25 : undefined));
  const waits = EXACT.points.map(({ p50 }) => p50 * 4);
  assert.equal(verdict(EXACT, half, waits), "Your throughput was off by 25 points of the peak on average, over 1 point. Your waits were off by a factor of 4.0 on average.");
});

test("rates have the unit that people would use", () => {
  assert.deepEqual([61_740_000, 4600, 12].map((rate) => throughput(rate, "jobs")), ["61.7 million jobs a second", "4.60 thousand jobs a second", "12.0 jobs a second"]);
});

test("the first frame stands at the knee, or where it is told to", () => {
  assert.equal(RECORDED.points[firstState([RECORDED], choices({})).at].n, RECORDED.points[knee(RECORDED)].n);
  assert.equal(RECORDED.points[firstState([RECORDED], choices({ at: "1000" })).at].n, 1024);
  assert.equal(firstState([RECORDED], choices({ model: "off" })).costs, undefined);
});

test("the still picture has the question, both panels, the model and the knee", () => {
  const text = toText(sweepPicture([{ name: "s", text: fileText("yield-sweep.json") }], { question: "How often?", items: "numbers", x: "numbers between two yields", budget: "50us" }, "fig-s", 680));
  for (const words of ["How often?", "million numbers a second", "wait of a victim", 'class="model"', "The knee: at N =", "at most 50 µs", "numbers between two yields"]) assert(text.includes(words), words);
  assert(text.match(/<[a-z]/g).length < 2000);
});

const STRIPES = [256, 4096].map((n) => ({ name: `yield-now-stripes-${n}`, text: readFileSync(new URL(`../../src/traces/yield-now-stripes-${n}.json`, import.meta.url), "utf8") }));

test("what the worker did is shown where it was recorded, in one stretch of time for all", () => {
  const turns = readTurns(STRIPES);
  assert.deepEqual([...turns.keys()], [256, 4096]);
  const told = (n) => /^A worker at N = ([\d,]+): (\d+) polls in ([\d.]+ µs), half of them longer than ([\d.]+ [nµ]s)/.exec(turnsSentence(n, "N", turns));
  const [few, many] = [told(4096), told(256)];
  assert.equal(few[3], many[3]);
  assert(Number(many[2]) > 4 * Number(few[2]), `${many[2]} and ${few[2]}`);
  assert.equal(turnsSentence(64, "N", turns), "");
  assert.match(toText(turnsPicture(256, "N", turns, { width: 700, id: "t" })), /W0[^]*aria-label="A worker at N = 256|aria-label="A worker at N = 256[^]*W0/);
  const panel = (n) => toText(turnsPanel(n, "N", turns, { width: 700, id: "t" }, () => {}));
  assert.match(panel(64), /The worker was not recorded at N = 64, only at 256 and 4,096\./);
  assert.doesNotMatch(panel(64), /<svg/);
  assert.match(panel(256), /<svg[^]*/);
  assert.equal(toText(turnsPanel(64, "N", new Map(), { width: 700, id: "t" }, () => {})), "");
});

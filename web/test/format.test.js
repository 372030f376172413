import assert from "node:assert/strict";
import { test } from "node:test";
import { axisUnit, count, grouped, listed, parseTime, tied, time } from "../src/figures/format.js";
import { formatLink, parseLink } from "../src/figures/link.js";

test("durations have three figures and a unit", () => {
  assert.deepEqual([0, 7, 850, 1500, 48_230, 999_700, 2_412_345, 120_000_000, 1_200_000_000].map(time), ["0 ns", "7 ns", "850 ns", "1.50 µs", "48.2 µs", "1.00 ms", "2.41 ms", "120 ms", "1.20 s"]);
  assert.equal(time(-2_000_000), "-2 ms");
});

test("durations are read as authors write them", () => {
  assert.deepEqual(["1ms", "500us", "2.5 µs", "30", "3s", "soon", undefined].map(parseTime), [1e6, 500e3, 2500, 30, 3e9, undefined, undefined]);
});

test("an axis keeps its numbers short", () => {
  assert.deepEqual([[900, "ns"], [5000, "µs"], [1_500_000, "µs"], [17e6, "ms"], [5e9, "s"]].map(([span, unit]) => axisUnit(span)[1] === unit), [true, true, true, true, true]);
});

test("counts and lists read like sentences", () => {
  assert.deepEqual([count(1, "poll"), count(12_400, "poll"), grouped(131_072), listed(["A"]), listed(["A", "B", "C"])], ["1 poll", "12,400 polls", "131,072", "A", "A, B and C"]);
});

test("a link leads back to its state, and only to its own figure", () => {
  const parts = { view: "worker", at: "2410000", range: "0-6230000", poll: "0.7" };
  const link = formatLink("fig-one", parts);
  assert.equal(link, "#fig-one?s=view:worker,at:2410000,range:0-6230000,poll:0.7");
  assert.deepEqual(parseLink(link, "fig-one"), parts);
  assert.equal(parseLink(link, "fig"), undefined);
  assert.equal(parseLink("#token=abc", "fig-one"), undefined);
  assert.equal(parseLink("#fig-one?s=%E0%A4%A", "fig-one"), undefined);
});

test("a number stays with its unit", () => {
  assert.equal(tied("N = 128: 84 % of 3 s, 4 sleepers"), "N\u00a0=\u00a0128: 84\u00a0% of 3\u00a0s, 4 sleepers");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { comparison, ownRows } from "../src/charts/own.js";
import { areClose, axisOf, conclusion, heat, readCell } from "../src/charts/read.js";

test("a cell is a figure, with its range if it has one", () => {
  assert.deepEqual(readCell("3,890 [3,791–4,082] (2.1)"), { value: 3890, low: 3791, high: 4082 });
  assert.deepEqual(readCell("0.55"), { value: 0.55 });
  assert.deepEqual(readCell("2.2 (0.46)"), { value: 2.2 });
  for (const text of ["–", "", "never sleeps", "4th"]) assert.equal(readCell(text), undefined, text);
});

test("equal ratios are equally far on the axis, which begins below the least", () => {
  const axis = axisOf([53, 5300]);
  assert.equal(axis.from, 50);
  assert.ok(Math.abs(axis.at(5000) - axis.at(500) - (axis.at(500) - axis.at(50))) < 1e-9);
  assert.ok(axis.at(53) > 0 && axis.at(5300) < 1);
  assert.deepEqual(axis.ticks, [50, 100, 1000]);
  assert.equal(axisOf([0.55, 12]).from, 0.5);
});

test("what overlaps with the lowest is not clearly different", () => {
  const rows = [
    { name: "ours", cell: { value: 10, low: 9, high: 12 } },
    { name: "theirs", cell: { value: 11, low: 10, high: 13 } },
    { name: "… without locks", cell: { value: 30, low: 29, high: 31 } },
  ];
  assert.equal(areClose(rows[0].cell, rows[1].cell), true);
  assert.equal(areClose(rows[0].cell, rows[2].cell), false);
  assert.equal(areClose({ value: 10 }, { value: 10 }), false, "without ranges nothing is said");
  assert.equal(
    conclusion("spawn", "µs", rows),
    "spawn: the lowest is ours at 10 µs, and the highest is the row “… without locks” at 30 µs. One other is not clearly different from the lowest.",
  );
});

test("noise has no color, and what is more has another sign than what is less", () => {
  for (const ratio of [1, 1.16, 0.86]) assert.equal(heat(ratio, 1 / 6), 0, String(ratio));
  assert.ok(heat(1.2, 1 / 6) > 0 && heat(0.8, 1 / 6) < 0);
  assert.equal(heat(39, 1 / 6), 1);
});

test("what was measured here are two rows in the chart's unit, and only they are compared", () => {
  const one = (contender, parameter, median, spread) => ({ contender, parameter, median, range: [median - spread, median + spread] });
  const measured = [one("exercise-4", "wake_many-2", 4_120_000, 50_000), one("solution-4", "wake_many-2", 3_900_000, 200_000), one("exercise-4", "wake_many-4", 1, 0)];
  const [yours, ours, ...others] = ownRows(measured, 4, ["ping_pong-2", "wake_many-2"], "µs");
  assert.deepEqual(yours, { name: "yours, on your machine", cells: [undefined, { value: 4120, low: 4070, high: 4170 }] });
  assert.deepEqual([ours.name, ours.cells[1].value, others], ["solution 4, on your machine", 3900, []]);
  assert.match(comparison(yours.cells[1], ours.cells[1], 4), /no clear difference between yours and solution 4/);
  const fast = { value: 2000, low: 1990, high: 2010 };
  assert.match(comparison(yours.cells[1], fast, 4), /yours takes 2\.06 times as long as solution 4/);
  assert.match(comparison(fast, yours.cells[1], 4), /solution 4 takes 2\.06 times as long as yours/);
  assert.deepEqual(ownRows([], 4, ["10"], "ns"), []);
});

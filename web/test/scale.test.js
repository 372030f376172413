import assert from "node:assert/strict";
import { test } from "node:test";
import { linear, logarithmic, quantile } from "../src/figures/scale.js";

test("a scale goes there and back", () => {
  const time = linear([2, 4], [100, 300]);
  assert.deepEqual([2, 3, 5].map(time), [100, 200, 400]);
  assert.equal(time.invert(250), 3.5);
  const upward = logarithmic([1, 1000], [300, 0]);
  assert.deepEqual([1, 10, 1000].map(upward).map(Math.round), [300, 200, 0]);
  assert.equal(Math.round(upward.invert(100)), 100);
});

test("ticks are round, within the domain, and about as many as wanted", () => {
  assert.deepEqual(linear([0, 6.23], [0, 1]).ticks(7), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(linear([0.12, 0.5], [0, 1]).ticks(4), [0.2, 0.3, 0.4, 0.5]);
  assert.deepEqual(linear([0, 17_000], [0, 1]).ticks(4), [0, 5000, 10_000, 15_000]);
  assert.deepEqual(linear([-3, 3], [0, 1]).ticks(3), [-2, 0, 2]);
  assert.deepEqual(linear([0.001, 0.0035], [0, 1]).ticks(5), [0.001, 0.0015, 0.002, 0.0025, 0.003, 0.0035]);
});

test("a quantile lies between its neighbors", () => {
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.equal(quantile([1, 2, 3, 4], 0), 1);
  assert.equal(quantile([7], 0.9), 7);
  assert.equal(quantile([], 0.5), undefined);
});

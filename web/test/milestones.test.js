import assert from "node:assert/strict";
import { test } from "node:test";
import { lastReached, milestoneOf, standing } from "../src/common/milestones.js";

const SHELL = { number: 1, name: "A shell", clauses: [1, 3] };
const END = { number: 2, name: "Its end", clauses: [2] };
const MILESTONES = [SHELL, END];

const passed = (/** @type {number} */ clause) => ({ clause, outcome: "passed" });
const unwritten = (/** @type {number} */ clause) => ({ clause, outcome: "unwritten" });

test("a clause belongs to one milestone, and a test without a clause to none", () => {
  assert.equal(milestoneOf(MILESTONES, 3), SHELL);
  assert.equal(milestoneOf(MILESTONES, 2), END);
  assert.equal(milestoneOf(MILESTONES, null), undefined);
});

test("a milestone is reached when all its clauses hold, whatever the others do", () => {
  const tests = [passed(1), unwritten(2), passed(3)];
  assert.equal(standing(SHELL, tests), "reached");
  assert.equal(standing(END, tests), "unwritten");
  assert.equal(lastReached(MILESTONES, tests), SHELL);
});

test("what fails is not taken for what isn't written yet", () => {
  assert.equal(standing(SHELL, [unwritten(1), { clause: 3, outcome: "failed" }]), "failed");
});

test("nothing is said of a milestone while its tests run", () => {
  assert.equal(standing(SHELL, [passed(1), { clause: 3, outcome: "running" }]), "open");
  assert.equal(standing(SHELL, []), "open");
});

test("a milestone is not reached before those in front of it", () => {
  assert.equal(lastReached(MILESTONES, [unwritten(1), passed(2)]), undefined);
  assert.equal(lastReached(MILESTONES, [passed(1), passed(2), passed(3)]), END);
  assert.equal(lastReached([], []), undefined);
});

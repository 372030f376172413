// What an order says, in sentences.

import { count, grouped, listed } from "../format.js";
import { shown } from "./derive.js";
import { fieldChanges } from "./fields.js";
import { keyOf } from "./machine.js";

/** @typedef {import("./derive.js").Run} Run */
/** @typedef {import("./derive.js").Row} Row */
/** @typedef {import("./machine.js").Solution} Solution */
/** @typedef {import("./machine.js").Node} Node */

/** `state: EMPTY → PARKED`, `flags: +NOTIFIED` @param {Run} run @param {Row} row */
export function changesOf({ steps }, { changes }) {
  return changes.map(({ cell, before, after }) => {
    const { name = "", fields = [], isHeap } = steps.cells[cell] ?? {};
    return `${name}: ${isHeap ? after : fieldChanges(fields, before, after) || `${shown(before)} → ${shown(after)}`}`;
  });
}

/** What comes of a step, in the words that stand in its block. @param {Row} row */
export function remarks({ says, stale, note }) {
  return [says, stale && `reads an OLD value: the newest is ${stale}`, note].filter(Boolean);
}

/** The same, where the operation's own words don't say it. @param {Run} run @param {Row} row */
export function untoldChanges(run, row) {
  return changesOf(run, row).filter((_, index) => {
    const { cell, before, after } = /** @type {Row["changes"][0]} */ (row.changes[index]);
    const { name = "", fields = [] } = run.steps.cells[cell] ?? {};
    return !(fields.length > 0 ? row.does.startsWith(`${name}.`) && row.does.includes(" → ") : row.does.includes(`${shown(before)} → ${shown(after)}`));
  });
}

/** Where a recorded order fails, in words; empty for a step that doesn't. @param {Run} run @param {number} index */
export function failure({ steps, rows, end }, index) {
  if (!end || end.kind === "done" || steps.programs.length > 0) return "";
  const thread = rows[index]?.thread ?? -1;
  if (end.kind === "race") return index === rows.length - 1 ? "the failing access" : "";
  const isLast = index === rows.findLastIndex((row) => row.thread === thread);
  if (end.kind === "deadlock") return isLast && end.threads.includes(thread) ? "waits here forever" : "";
  const isIt = end.threads.length > 0 ? isLast && end.threads[0] === thread : index === rows.length - 1;
  return isIt ? "fails after this step" : "";
}

/** Whom a step wakes, and why its thread stops. @param {Run} run @param {number} index */
export function effects({ steps, rows }, index) {
  const row = rows[index];
  if (!row) return [];
  const waits = row.then.waits[row.thread];
  return [
    ...(row.wakes.length > 0 ? [`${listed(row.wakes.map((thread) => steps.threads[thread] ?? ""))} can go on`] : []),
    ...(waits && waits !== row.does ? [`${steps.threads[row.thread]} ${waits}`] : []),
  ];
}

/** One step as a sentence. @param {Run} run @param {number} index */
export function stepSentence(run, index) {
  const row = run.rows[index];
  if (!row) return "";
  const does = [row.does.replace(/\s*[;{]$/, ""), row.ordering].filter(Boolean).join(" ");
  const what = [...remarks(row), ...untoldChanges(run, row), ...effects(run, index), failure(run, index)].filter(Boolean);
  return `Step ${index + 1}, ${run.steps.threads[row.thread]}: ${does}${what.length > 0 ? `; ${what.join("; ")}` : ""}.`;
}

/** @param {Run} run @param {number} at */
export function momentSentence(run, at) {
  if (at === 0) return `Before the first of ${count(run.rows.length, "step")}.`;
  return `${at} of ${run.rows.length}. ${stepSentence(run, at - 1)}`;
}

/** @param {"hang" | "failure"} kind @param {number} many */
function verb(kind, many) {
  return kind === "hang" ? (many === 1 ? "hangs" : "hang") : many === 1 ? "fails" : "fail";
}

/** Whether a failure can still happen. @param {Solution} solution @param {Node} node */
export function reachable({ kind }, node) {
  const { orders, failing } = node;
  if (node.distance === Infinity) return `A ${kind} is no longer reachable from here.`;
  const many = orders === undefined || failing === undefined ? "" : `: ${grouped(failing)} of ${count(orders, "order")} from here ${verb(kind, failing)}`;
  return `A ${kind} is still reachable from here${many}.`;
}

/** What all orders come to. @param {Solution} solution */
export function total({ kind, first, canFail, nodes }) {
  const { orders, failing } = first;
  const tried = `Every order was tried, through ${count(nodes.size, "state")}`;
  if (orders === undefined || failing === undefined) return `${tried}: ${canFail ? `some ${verb(kind, 2)}` : `none ${verb(kind, 1)}`}.`;
  if (!canFail) return `${tried}: none of the ${count(orders, "order")} ${verb(kind, 1)}.`;
  return `${tried}: ${grouped(failing)} of the ${count(orders, "order")} ${verb(kind, failing)}.`;
}

/** What the reader is told at a place of the order. @param {Run} run @param {number} at @param {Solution | undefined} solution @param {Node | undefined} node of that place */
export function told(run, at, solution, node) {
  const step = at > 0 ? stepSentence(run, at - 1) : "";
  const isLast = at === run.rows.length;
  if (isLast && run.end) return [step, verdict(run, solution)].filter(Boolean).join(" ");
  if (!solution || !node) return step || "Before the first step.";
  return [step, at === 0 ? total(solution) : node.distance === Infinity && !solution.canFail ? "" : reachable(solution, node)].filter(Boolean).join(" ");
}

/** How the order ended. @param {Run} run @param {Solution} [solution] */
export function verdict({ end, rows }, solution) {
  if (!end) return "";
  if (end.kind !== "done" || !solution?.canFail) return [end.text, solution && total(solution)].filter(Boolean).join(" ");
  const last = lastChance(rows, solution);
  return `${end.text} This order doesn't ${solution.kind === "hang" ? "hang" : "fail"}; up to ${last === 0 ? "the start" : `step ${last}`} a ${solution.kind} was still reachable.`;
}

/** After how many steps a failure was last reachable. @param {Row[]} rows @param {Solution} solution */
export function lastChance(rows, { nodes }) {
  for (let at = rows.length; at > 0; at -= 1) {
    const row = /** @type {Row} */ (rows[at - 1]);
    const key = keyOf({ at: row.then.lines, values: row.then.values, failed: "" });
    if ((nodes.get(key)?.distance ?? Infinity) < Infinity) return at;
  }
  return 0;
}

/** The figure in a few sentences. @param {Run} run @param {Solution | undefined} solution */
export function sentences(run, solution) {
  const { description, threads, cells } = run.steps;
  return [
    description,
    `Threads: ${listed(threads)}. Cells at first: ${cells.map(({ name, initial }) => `${name} = ${shown(initial)}`).join(", ") || "none"}.`,
    ...(solution ? [total(solution)] : []),
    ...(run.end ? [`After ${count(run.rows.length, "step")}: ${run.end.text}`] : []),
  ].filter(Boolean);
}

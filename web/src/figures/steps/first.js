// The first frame of steps, from nothing but their document.

import { still } from "../still.js";
import { orderedRun, recordedRun } from "./derive.js";
import { layout } from "./layout.js";
import { failingOrder, solve } from "./machine.js";
import { parseSteps } from "./read.js";
import { picture } from "./view.js";
import { sentences } from "./words.js";

/** @typedef {import("./read.js").Steps} Steps */
/** @typedef {import("./machine.js").Solution} Solution */

/** The order that is shown before the reader does anything. @param {Steps} steps @param {Solution} solution */
export function firstOrder(steps, solution) {
  return steps.show.length > 0 || !solution.canFail ? steps.show : failingOrder(solution, solution.first);
}

/** The values that each cell may take. @param {import("./derive.js").Run} run @param {Solution | undefined} solution @returns {import("./read.js").Value[][]} */
export function widestOf(run, solution) {
  if (solution) return solution.values.map((values) => [...values]);
  return run.steps.cells.map((_, cell) => [run.start, ...run.rows.map(({ then }) => then)].map(({ values }) => values[cell] ?? ""));
}

/** @param {import("./derive.js").Run} run */
export function conclusion(run) {
  return [run.steps.description, run.end?.text].filter(Boolean).join(" ");
}

/**
 * The picture for readers without JavaScript, with what it says in words.
 *
 * @param {{name: string, text: string}[]} documents
 * @param {DOMStringMap} data
 * @param {string} id
 * @param {number} width
 */
export function stepsPicture(documents, data, id, width) {
  const steps = parseSteps(documents[0]?.text ?? "");
  const solution = steps.programs.length > 0 ? solve(steps) : undefined;
  const run = solution ? orderedRun(steps, firstOrder(steps, solution), solution) : recordedRun(steps);
  const settings = { at: run.rows.length, width, widest: widestOf(run, solution), label: conclusion(run), id: `${id}-still` };
  return still(picture(run, settings), layout(run, settings).height, data.question ?? "", sentences(run, solution).filter((sentence) => !sentence.startsWith("Threads:")), width);
}

// The first frame, from nothing but the figure's attributes.

import { still } from "../still.js";
import { Unreadable } from "../unreadable.js";
import { outcomes } from "./model.js";
import { PRESETS, PROGRAMS, preset } from "./programs.js";
import { MODEL, conclusion, sentences } from "./words.js";
import { layout, picture } from "./view.js";

/** @typedef {{id: string, orders: number[], key: string}} Choice */

/** @param {string | undefined} id @param {string | undefined} orderings of a preset @returns {Choice} */
export function choose(id = "", orderings = "") {
  const known = Object.hasOwn(PROGRAMS, id) ? id : "mp";
  const program = programOf(known);
  return { id: known, orders: preset(program, orderings), key: program.bad };
}

/** @param {string} id */
export function programOf(id) {
  return /** @type {import("./programs.js").Program} */ (PROGRAMS[id]);
}

/** @param {Choice} choice */
export function shownOf({ id, orders, key }) {
  const program = programOf(id);
  const all = outcomes(program, orders);
  return { program, orders, all, chosen: all.find((outcome) => outcome.key === key) };
}

/**
 * The picture for readers without JavaScript, with what it says in words.
 *
 * @param {{name: string, text: string}[]} _documents
 * @param {DOMStringMap} data
 * @param {string} _id
 * @param {number} width
 */
export function litmusPicture(_documents, data, _id, width) {
  if (!Object.hasOwn(PROGRAMS, data.program ?? "") || !PRESETS.some(({ id }) => id === data.orderings)) throw new Unreadable("data-program or data-orderings is wrong: README.md has what they may be");
  const shown = { ...shownOf(choose(data.program, data.orderings)), isCovered: false };
  const { program, orders, all, chosen } = shown;
  const settings = { width, label: conclusion(program, orders, chosen), withProgram: true };
  return still(picture(shown, settings), layout(shown, settings).height, data.question ?? "", [...sentences(program, orders, all, chosen), MODEL], width);
}

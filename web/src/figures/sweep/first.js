// The first frame of a sweep, from nothing but its data and attributes.

import { parseTime } from "../format.js";
import { still } from "../still.js";
import { svg } from "lit/html.js";
import { fit, knee } from "./model.js";
import { parseSweep } from "./read.js";
import { readTurns, turnsPicture, turnsSentence } from "./turns.js";
import { picture, plan } from "./view.js";
import { budgetSentence, kneeSentence, modelSentence, readout } from "./words.js";

/** @typedef {import("./read.js").Sweep} Sweep */

/** Of the panel below the curves: one lane and its axis. */
const TURNS = 84;
const TURNS_GAP = 14;

/**
 * What the attributes of `<ws-sweep>` say, with what holds where they say nothing.
 *
 * @param {DOMStringMap} data
 */
export function choices(data) {
  return {
    items: data.items || "items",
    xLabel: data.x ?? "",
    at: data.at === undefined ? undefined : Number(data.at),
    budget: parseTime(data.budget),
    hasModel: data.model !== "off",
    predicts: data.predict !== undefined,
  };
}

/** @param {Sweep[]} sweeps @param {ReturnType<typeof choices>} chosen @returns {import("./model.js").State} */
export function firstState([first], { at, budget, hasModel }) {
  if (!first) return { at: 0, budget, costs: undefined, phase: "shown", shares: [], waits: [] };
  const index = at === undefined ? knee(first) : first.points.reduce((best, { n }, place) => (Math.abs(n - at) < Math.abs((first.points[best]?.n ?? 0) - at) ? place : best), 0);
  const blank = () => first.points.map(() => undefined);
  return { at: index, budget, costs: hasModel ? fit(first) : undefined, phase: "shown", shares: blank(), waits: blank() };
}

/**
 * What a sweep says, most important first.
 *
 * @param {Sweep} sweep
 * @param {import("./model.js").State} state
 * @param {string} items
 */
export function said(sweep, { costs, budget }, items) {
  return [kneeSentence(sweep, items), ...(costs ? [modelSentence(sweep, costs)] : []), ...(budget === undefined ? [] : [budgetSentence(sweep, budget)])];
}

/**
 * The picture for readers without JavaScript, with what it says in words.
 *
 * @param {{name: string, text: string}[]} documents
 * @param {DOMStringMap} data
 * @param {string} id
 * @param {number} width
 * @param {{name: string, text: string}[]} [traces] that `data-traces` names
 */
export function sweepPicture(documents, data, id, width, traces = []) {
  const sweeps = documents.map(({ text }) => parseSweep(text));
  const chosen = choices(data);
  const state = firstState(sweeps, chosen);
  const curves = sweeps.map((sweep) => ({ sweep, label: sweep.title, isOwn: false }));
  const [first] = sweeps;
  const words = first ? [readout(first, state.at), ...said(first, state, chosen.items)] : [];
  const settings = { width, xLabel: chosen.xLabel || (first?.x ?? ""), items: chosen.items, label: words[1] ?? "", still: true };
  const { height } = plan(curves, settings);
  const turns = readTurns(traces);
  const n = first?.points[state.at]?.n ?? 0;
  const told = turnsSentence(n, first?.x ?? "", turns);
  const drawn = told ? svg`${picture(curves, state, settings)}<g transform=${`translate(0 ${height + TURNS_GAP})`}>${turnsPicture(n, first?.x ?? "", turns, { width, id: `${id}-still` })}</g>` : picture(curves, state, settings);
  return still(drawn, height + (told ? TURNS_GAP + TURNS : 0), data.question ?? "", [...(told ? [told] : []), ...words.slice(1)], width);
}

// The first frame, from nothing but the figure's attributes.

import { still } from "../still.js";
import { Unreadable } from "../unreadable.js";
import { firstAt, firstChoice, panelsOf, runsOf } from "./choice.js";
import { LOADS } from "./loads.js";
import { PARTS } from "./model.js";
import { layout, picture, signs } from "./view.js";
import { MODEL, compared, sentences, summary } from "./words.js";

/** What the picture shows, in a sentence or two. @param {import("./choice.js").Runs} runs */
export function conclusion({ before, now }) {
  return before ? compared(before, now) : summary(now);
}

/**
 * The picture for readers without JavaScript, with what it says in words.
 *
 * @param {{name: string, text: string}[]} _documents
 * @param {DOMStringMap} data
 * @param {string} id
 * @param {number} width
 */
export function schedulerPicture(_documents, data, id, width) {
  const choice = firstChoice(data);
  const unknown = (data.without ?? "").split(/\s+/).filter((part) => part && !PARTS.some((one) => one === part));
  if (!LOADS.some((load) => load === data.load) || String(choice.workers) !== data.workers || unknown.length > 0) throw new Unreadable("data-load, data-workers or data-without is wrong: README.md has what they may be");
  const runs = runsOf(choice);
  const panels = panelsOf(runs);
  const settings = { at: firstAt(runs), width, id: `${id}-still`, label: conclusion(runs) };
  return still(picture(panels, settings), layout(panels, settings).height, data.question ?? "", [...sentences(runs.before, runs.now), MODEL], width, signs(panels));
}

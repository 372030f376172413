// The figure that a program's run redraws may be screens away: a small copy of it stands
// under the output.

import { element } from "../common/dom.js";

/**
 * Makes the copy, before the figures hear of the run: of the figure above the program that takes the document, or
 * else of one below.
 *
 * @param {HTMLElement} program
 * @param {string} snippet
 * @param {string} name of the document that has come
 * @returns {HTMLElement | undefined}
 */
export function copyFor(program, snippet, name) {
  const takes = (/** @type {any} */ figure) => (figure.dataset.snippet ?? "").split(/\s+/).includes(snippet) && figure.inlineNames?.().includes(name);
  const originals = [...document.querySelectorAll("main figure :is(ws-timeline, ws-sweep, ws-steps)")].filter(takes);
  const isAbove = (/** @type {Element} */ figure) => Boolean(figure.compareDocumentPosition(program) & Node.DOCUMENT_POSITION_FOLLOWING);
  const original = originals.filter(isAbove).at(-1) ?? originals[0];
  return original && copyOf(/** @type {any} */ (original));
}

/** @param {HTMLElement & {inline: {name: string, text: string}[], key: string}} original */
function copyOf(original) {
  const copy = document.createElement(original.localName);
  const { predict, predictText, select, range, latest, drawn, ...data } = original.dataset;
  Object.assign(copy.dataset, data, { copyOf: original.key });
  for (const { name, text } of original.inline) {
    const script = element("script", { type: "application/json", "data-name": name });
    script.textContent = text;
    copy.append(script);
  }
  const link = element("a", { href: `#${original.key}` }, "Up to this figure, with all its controls");
  return element("div", { class: "fig-copy" }, copy, element("p", {}, link));
}

import { element, keepArrowKeys } from "./dom.js";
import { blocks, pieces } from "./markdown.js";

/**
 * Text in Markdown, as elements.
 *
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function prose(text) {
  return blocks(text).map((block) => {
    switch (block.kind) {
      case "code":
        return codeBlock(block.text);
      case "list":
        return element(block.ordered ? "ol" : "ul", {}, ...block.items.map((item) => element("li", {}, ...inline(item))));
      default:
        return element("p", {}, ...inline(block.text));
    }
  });
}

/** @param {string} text */
function codeBlock(text) {
  const code = element("code", { class: "language-rust" }, text);
  window.hljs?.highlightBlock(code);
  const pre = element("pre", { tabIndex: 0 }, code);
  keepArrowKeys(pre);
  return pre;
}

/**
 * A line of Markdown, as what stands in a paragraph.
 *
 * @param {string} text
 */
export function inline(text) {
  return pieces(text).map(({ kind, text }) => (kind === "text" ? text : element(kind, {}, text)));
}

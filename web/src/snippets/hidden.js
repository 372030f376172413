import { button } from "../common/dom.js";

/**
 * Folds away the lines that the book hides at first. The page's head has noted
 * which they are, before the editor took the place of the block.
 *
 * @param {HTMLElement} code
 * @param {import("../common/editor.js").Editor} editor
 * @returns {HTMLElement[]} a button that shows and hides them, if there are any
 */
export function hiddenLines(code, editor) {
  const lines = window.workshopHidden?.get(code) ?? [];
  if (lines.length === 0) return [];
  let isFolded = true;
  const toggle = button("Show hidden lines", () => fold(!isFolded), { class: "ws-screen-only" });
  const fold = (/** @type {boolean} */ wanted) => {
    // Where the reader has changed the program, its lines are others.
    isFolded = wanted && editor.text() === editor.original;
    editor.fold(isFolded ? lines : []);
    toggle.textContent = isFolded ? "Show hidden lines" : "Hide them again";
    toggle.disabled = editor.text() !== editor.original;
  };
  fold(true);
  editor.onChange(() => {
    if (isFolded !== (editor.text() === editor.original)) fold(false);
    toggle.disabled = editor.text() !== editor.original;
  });
  return [toggle];
}
